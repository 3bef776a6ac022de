import assert from 'node:assert/strict';
import { test } from 'node:test';
import { pageUrlFrom } from '../../../functions/environment.ts';

for (const [given, expected] of [
  [undefined, {}],
  ['', {}],
  ['https://ops.example.com', { url: 'https://ops.example.com' }],
  ['https://ops.example.com/etcd/', { url: 'https://ops.example.com/etcd' }],
  ['http://10.0.0.1:8080', { url: 'http://10.0.0.1:8080' }],
] as const) {
  test(`the page's address ${given} is taken as ${JSON.stringify(expected)}`, () => {
    assert.deepEqual(pageUrlFrom({ RATCHET_PAGE_URL: given }), expected);
  });
}

for (const given of [
  'ops.example.com',
  'javascript:alert(1)',
  'ftp://ops.example.com',
  'https://me:hunter2@ops.example.com',
  'https://ops.example.com/?token=hunter2',
  'https://ops.example.com/#top',
  `https://ops.example.com/${'x'.repeat(200)}`,
]) {
  test(`${given.slice(0, 60)} is no address of a page, and the problem does not repeat it`, () => {
    const { url, problem } = pageUrlFrom({ RATCHET_PAGE_URL: given });
    assert.equal(url, undefined);
    assert.match(problem ?? '', /^RATCHET_PAGE_URL /);
    assert.doesNotMatch(problem ?? '', /hunter2/);
  });
}
