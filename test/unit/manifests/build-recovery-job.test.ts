import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { parse } from 'yaml';
import { publishedImage } from '../../../manifests/release.ts';
import { labels, podSelector } from '../../../manifests/render/names.ts';
import { recoveryJob } from '../../../manifests/render/recovery-job.ts';
import { statefulSet } from '../../../manifests/render/stateful-set.ts';
import { peerOf } from './build-fixtures.ts';

const order = { image: 'registry.example/us:v1', id: '0123456789ab', attempt: 2, withoutCopy: false };
const job = recoveryJob(peerOf(), order);
const { spec, metadata } = job.spec.template;

test('it is run once, and belongs to its peer', () => {
  assert.equal(job.spec.backoffLimit, 0);
  assert.equal(spec.restartPolicy, 'Never');
  assert.equal(job.metadata.ownerReferences?.[0]?.uid, 'peer-uid');
});

test('its pod is found by no Service and no budget, and no StatefulSet adopts it', () => {
  const found = metadata?.labels ?? {};
  assert.ok(Object.entries(podSelector('orders')).some(([key, value]) => found[key] !== value));
  const { matchLabels } = statefulSet(peerOf()).spec.selector;
  assert.ok(Object.entries(matchLabels).some(([key, value]) => found[key] !== value));
  assert.equal(found[labels.cluster], 'orders');
});

test('etcd listens on loopback only, and advertises the same addresses as before', () => {
  const [etcd] = spec.containers;
  const args = etcd?.args ?? [];
  for (const flag of ['listen-peer-urls', 'listen-client-urls'])
    assert.match(args.find((arg) => arg.startsWith(`--${flag}=`)) ?? '', /\/\/127\.0\.0\.1:\d+$/);
  assert.ok(args.includes('--force-new-cluster=true'));
  const usual = statefulSet(peerOf()).spec.template.spec.containers[0]?.args ?? [];
  for (const flag of ['name', 'data-dir', 'initial-advertise-peer-urls', 'advertise-client-urls']) {
    const of = (list: readonly string[]) => list.find((arg) => arg.startsWith(`--${flag}=`));
    assert.equal(of(args), of(usual));
  }
  assert.ok(!usual.some((arg) => arg.includes('force-new-cluster')));
  assert.ok(etcd?.readinessProbe);
  assert.equal(etcd?.livenessProbe, undefined);
});

test('the copy is made before, by our own image, as the user whose data they are', () => {
  const copy = spec.initContainers?.at(-1);
  assert.equal(copy?.image, 'registry.example/us:v1');
  assert.deepEqual(copy?.args, ['--data=/var/lib/etcd/data', '--recovery=0123456789ab', '--attempt=2']);
  assert.ok(
    recoveryJob(peerOf(), { ...order, withoutCopy: true })
      .spec.template.spec.initContainers?.at(-1)
      ?.args?.includes('--without-copy'),
  );
});

test('a step that runs by hand uses the image that the installation names', () => {
  const component = readFileSync(join(import.meta.dirname, '../../../manifests/image/kustomization.yaml'), 'utf8');
  const { images } = parse(component) as { readonly images: readonly Record<string, string>[] };
  assert.deepEqual(
    images.map(({ name, newTag }) => `${name}:${newTag}`),
    [publishedImage],
  );
});
