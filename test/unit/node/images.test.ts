import assert from 'node:assert/strict';
import { test } from 'node:test';
import { lookUpImage } from '../../support/cluster/node/images.ts';

const digest = `sha256:${'a'.repeat(64)}`;
const source = {
  binaries: { etcd: { '3.6.16': '/bin/etcd-3.6.16' }, etcdutl: { '3.6.16': '/bin/etcdutl-3.6.16' } },
  checkout: '/checkout',
  nodeBinary: '/bin/node',
  images: { [`quay.io/coreos/etcd@${digest}`]: 'quay.io/coreos/etcd:v3.6.16' },
  programs: { 'example.org/tool/cmd/serve': '/bin/serve' },
};

const known = [
  'quay.io/coreos/etcd:v3.6.16',
  'gcr.io/etcd-development/etcd:v3.6.16',
  'registry.k8s.io/etcd:3.6.16-0',
  `quay.io/coreos/etcd@${digest}`,
];
for (const name of known) {
  test(`${name} has the etcd of that version`, () => {
    const found = lookUpImage(source, name);
    assert.ok(found.found && found.image.kind === 'etcd');
    assert.equal(found.image.files['/usr/local/bin/etcd'], '/bin/etcd-3.6.16');
    assert.match(found.id, /@sha256:[0-9a-f]{64}$/);
  });
}

test('our own image exists under every tag', () => {
  const found = lookUpImage(source, 'ghcr.io/etcd-ratchet/etcd-ratchet:v0.1.0');
  assert.ok(found.found && found.image.kind === 'node');
  assert.equal(found.image.files['/app'], '/checkout/dist');
  assert.deepEqual(found.image.entrypoint, ['node', '/app/tick.js']);
});

test('a program that was named is its own image, and no root', () => {
  const found = lookUpImage(source, 'example.org/tool/cmd/serve');
  assert.ok(found.found && found.image.kind === 'program' && !found.image.runsAsRoot);
  assert.deepEqual(
    found.image.entrypoint.map((path) => found.image.files[path]),
    ['/bin/serve'],
  );
});

const unknown = [
  { name: 'quay.io/coreos/etcd:v9.9.9', reason: 'ErrImagePull' },
  { name: 'quay.io/coreos/etcd:3.6.16', reason: 'ErrImagePull' },
  { name: 'registry.k8s.io/etcd:v3.6.16', reason: 'ErrImagePull' },
  { name: 'quay.io/coreos/etcd', reason: 'ErrImagePull' },
  { name: `quay.io/coreos/etcd:v3.6.16@${digest}`, reason: 'ErrImagePull' },
  { name: 'etcd', reason: 'ErrImagePull' },
  { name: 'Not An Image', reason: 'InvalidImageName' },
  { name: '', reason: 'InvalidImageName' },
];
for (const { name, reason } of unknown) {
  test(`"${name}" is ${reason}`, () => {
    const found = lookUpImage(source, name);
    assert.ok(!found.found);
    assert.equal(found.reason, reason);
  });
}
