import assert from 'node:assert/strict';
import { test } from 'node:test';
import { hostsText, readHosts } from '../../../manifests/render/listed-hosts.ts';

test('what is no host is named, and matches nothing', () => {
  const { patterns, wrong } = readHosts('git.example.com. . .. a.. a..b *... [::1]:70000 :80 10.0.0.7:8443');
  assert.deepEqual(patterns, [
    { host: 'git.example.com', below: false },
    { host: '10.0.0.7', below: false, port: 8443 },
  ]);
  assert.deepEqual(wrong, ['.', '..', 'a..', 'a..b', '*...', '[::1]:70000', ':80']);
});

test('a list that is told on is read as the same', () => {
  const { patterns } = readHosts('git.example.com., *.forge.example:8443 [2001:db8::1] 10.0.0.7');
  assert.equal(patterns.length, 4);
  assert.deepEqual(readHosts(hostsText(patterns)).patterns, patterns);
});
