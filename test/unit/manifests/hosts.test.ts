import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { isIPv6 } from 'node:net';
import { join } from 'node:path';
import { test } from 'node:test';
import fc from 'fast-check';
import { bracketed, hostPort, leadsTo, unbracketed, urlOf } from '../../../manifests/render/hosts.ts';
import { podAccess } from '../../../reconcile/clients/kube-access.ts';

const port = fc.integer({ min: 1, max: 65_535 });

test('a URL that is made of any address and a port leads there', () => {
  fc.assert(
    fc.property(fc.oneof(fc.ipV4(), fc.ipV6(), fc.domain()), port, (host, number) => {
      const url = new URL(urlOf('etcd', host, number));
      assert.equal(url.port, String(number));
      assert.equal(isIPv6(unbracketed(url.hostname)), isIPv6(host));
      assert.ok(leadsTo(urlOf('http', host, number), host));
      assert.equal(hostPort(host, number), `${bracketed(host)}:${number}`);
    }),
  );
});

test('an IPv6 address is the same however it is spelled, and is no other', () => {
  assert.ok(leadsTo('http://[fd00::1]:2379', 'FD00:0:0::0001'));
  assert.ok(leadsTo('https://[::ffff:10.0.0.1]:2379', '::ffff:a00:1'));
  assert.ok(!leadsTo('http://[fd00::1]:2379', 'fd00::11'));
  assert.ok(!leadsTo('http://10.0.0.1:2379', '10.0.0.11'));
});

test('the API server is reached at an IPv6 address as the kubelet gives it', () => {
  assert.equal(podAccess({ host: 'fd00:96::1', port: '443' }).server.href, 'https://[fd00:96::1]/');
});

/** Fixed addresses, and what has no host. */
const allowed = [
  'manifests/render/hosts.ts',
  // A variable's own text gets the scheme that it lacks; `scheme://0.0.0.0` is a constant.
  'gitops/net/proxy.ts',
  // A bucket is no host.
  'manifests/api/backup-settings.ts',
  'manifests/api/object-template.ts',
  'reconcile/backup/stores/azure/azure.ts',
  'reconcile/backup/stores/azure/opener.ts',
  'reconcile/backup/stores/gcs/gcs.ts',
  'reconcile/backup/stores/pvc/opener.ts',
  'reconcile/backup/stores/s3/s3.ts',
];

test('no file but one puts a host before a port, or after a scheme', () => {
  const checkout = join(import.meta.dirname, '../../..');
  for (const file of globSync('{functions,gitops,reconcile,manifests}/**/*.ts', { cwd: checkout })) {
    if (allowed.includes(file)) continue;
    const source = readFileSync(join(checkout, file), 'utf8');
    assert.doesNotMatch(
      source,
      /:\/\/\$\{|(host|hostname|address|podIP|podIPs)\b[^}`]*\}:\$\{|\}:\$\{[^}]*port/i,
      file,
    );
  }
});
