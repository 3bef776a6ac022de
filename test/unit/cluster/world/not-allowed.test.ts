import assert from 'node:assert/strict';
import { test } from 'node:test';
import { egressFrom } from '../../../../functions/environment.ts';
import type { EtcdClusterSpec } from '../../../../manifests/api/etcd-cluster.ts';
import type { Service, StatefulSet } from '../../../../manifests/kube-types.ts';
import { resources } from '../../../../reconcile/interfaces/kube.ts';
import { createWorld, type World } from '../../../support/world/world.ts';

/** An author who names what the admin of the installation has not listed. */

const settings = {
  RATCHET_IMAGES: 'quay.io/coreos/etcd registry.example.com/{namespace}',
  RATCHET_SERVICE_TYPES: 'NodePort',
  RATCHET_SERVICE_ANNOTATIONS: 'external-dns.alpha.kubernetes.io',
};
const sidecar = (image: string) => ({
  spec: { containers: [{ name: 'beside', image }] },
});

const hostile: Readonly<Record<string, readonly [spec: Partial<EtcdClusterSpec>, field: string, variable: string]>> = {
  'an image of etcd': [{ image: { repository: 'evil.example/etcd' } }, 'spec.image.repository', 'RATCHET_IMAGES'],
  'an image beside it': [
    { podTemplate: sidecar('evil.example/beside:v1') },
    'spec.podTemplate.spec.containers[0].image',
    'RATCHET_IMAGES',
  ],
  'an image before it': [
    { podTemplate: { spec: { initContainers: [{ name: 'first', image: 'evil.example/first' }] } } },
    'spec.podTemplate.spec.initContainers[0].image',
    'RATCHET_IMAGES',
  ],
  'an image as a volume': [
    { podTemplate: { spec: { volumes: [{ name: 'files', image: { reference: 'evil.example/files' } }] } } },
    'spec.podTemplate.spec.volumes[0].image.reference',
    'RATCHET_IMAGES',
  ],
  'a load balancer': [{ service: { type: 'LoadBalancer' } }, 'spec.service.type', 'RATCHET_SERVICE_TYPES'],
  'an annotation of a cloud': [
    { service: { type: 'ClusterIP', annotations: { 'service.beta.kubernetes.io/internal': 'false' } } },
    'spec.service.annotations',
    'RATCHET_SERVICE_ANNOTATIONS',
  ],
};

async function ticks(world: World, count = 12, env: Readonly<Record<string, string>> = settings) {
  for (let tick = 0; tick < count; tick++) {
    world.settle();
    await world.tick({}, { egress: egressFrom(env) });
    world.advance(2);
  }
  return world.cluster()?.status;
}

const made = ({ kube }: World) => ({
  sets: kube.stored<StatefulSet>(resources.statefulSets).map(({ spec }) => spec),
  services: kube.stored<Service>(resources.services).filter(({ metadata }) => metadata.name.endsWith('-external')),
});

for (const [what, [spec, field, variable]] of Object.entries(hostile)) {
  test(`a cluster with ${what} that is not listed is not born, and says what would let it`, async () => {
    const world = createWorld();
    await world.apply(spec);
    const status = await ticks(world, 4);
    assert.deepEqual(made(world), { sets: [], services: [] });
    const stalled = status?.conditions?.find(({ type }) => type === 'Stalled');
    assert.equal(stalled?.reason, 'NotAllowed');
    assert.ok(stalled.message?.includes(field) && stalled.message.includes(variable), stalled.message);
  });

  test(`a cluster that runs takes no ${what.replace(/^an? /, '')} that is not listed, and goes on`, async () => {
    const world = createWorld();
    await world.apply({});
    await ticks(world);
    const before = made(world);
    assert.ok(before.sets.length > 0);
    await world.apply({ ...spec, etcd: { quotaBackendBytes: '500Mi' } });
    const status = await ticks(world, 30);
    assert.deepEqual(
      status?.refusals?.map((one) => [one.reason, one.field]),
      [['NotAllowed', field]],
    );
    assert.ok(!JSON.stringify(made(world)).includes('evil.example'));
    assert.deepEqual(made(world).services, before.services);
    assert.match(JSON.stringify(made(world).sets), /quota-backend-bytes=524288000/, 'the rest of the commit counts');
  });
}

test('what is listed is taken, and what a cluster has stays when the list no longer has it', async () => {
  const world = createWorld();
  const spec: Partial<EtcdClusterSpec> = {
    podTemplate: sidecar('registry.example.com/shop/beside:v1'),
    service: { type: 'NodePort', annotations: { 'external-dns.alpha.kubernetes.io/hostname': 'etcd.example.com' } },
  };
  await world.apply(spec);
  await ticks(world);
  const before = made(world);
  assert.equal(before.services.length, 1);
  const strict = { RATCHET_STRICT: 'Enabled' };
  const status = await ticks(world, 6, strict);
  assert.deepEqual(made(world), before);
  assert.deepEqual([...new Set(status?.refusals?.map(({ reason }) => reason))], ['NotAllowed']);
  const { service: _, ...closed } = spec;
  await world.apply(closed);
  await ticks(world, 4, strict);
  assert.deepEqual(made(world).services, [], 'it is closed as the author says');
});

const images = ({ kube }: World) =>
  kube
    .stored<StatefulSet>(resources.statefulSets)
    .map(({ spec }) => spec?.template.spec?.containers.find(({ name }) => name === 'etcd')?.image);
const evil = { image: { repository: 'evil.example/etcd' } };

test('a cluster that is applied again with an image that is not listed does not start', async () => {
  const world = createWorld();
  await world.apply({});
  await ticks(world);
  await world.remove();
  await ticks(world);
  assert.deepEqual([images(world), world.claims().length], [[], 3]);
  await world.apply(evil);
  const status = await ticks(world);
  assert.deepEqual(images(world), []);
  assert.deepEqual(world.kube.stored(resources.peers), []);
  assert.equal(status?.conditions?.find(({ type }) => type === 'Stalled')?.reason, 'NotAllowed');
  await world.apply({});
  await ticks(world);
  assert.deepEqual(images(world), Array(3).fill('quay.io/coreos/etcd:v3.6.16'), 'it goes on with its data');
});

test('a birth whose peers are lost is not finished with an image that is not listed', async () => {
  const world = createWorld();
  await world.apply({});
  while (world.kube.stored(resources.peers).length < 3) await world.tick({}, { egress: egressFrom(settings) });
  for (const resource of [resources.statefulSets, resources.peers, resources.configMaps])
    for (const { metadata } of world.kube.stored<StatefulSet>(resource))
      world.kube.remove(resource, metadata.namespace ?? '', metadata.name);
  await world.apply(evil);
  const status = await ticks(world, 6);
  assert.deepEqual([images(world), world.kube.stored(resources.peers)], [[], []]);
  assert.equal(status?.conditions?.find(({ type }) => type === 'Stalled')?.reason, 'NotAllowed');
});

const pinned = (version: string, digit: string) => ({
  version,
  image: { repository: 'quay.io/coreos/etcd', digest: `sha256:${digit.repeat(64)}` },
});
const named = ({ version, image }: ReturnType<typeof pinned>) => `${image.repository}:v${version}@${image.digest}`;
const shortened = { RATCHET_IMAGES: 'registry.example.com/etcd' };

async function bornOn(spec: ReturnType<typeof pinned>): Promise<World> {
  const world = createWorld();
  world.state.images.has = () => true;
  await world.apply(spec);
  await ticks(world, 14);
  return world;
}

test('a version does not change without the digest that names its bytes', async () => {
  for (const version of ['3.6.17', '3.7.3']) {
    const before = pinned('3.6.16', 'a');
    const world = await bornOn(before);
    assert.deepEqual(images(world), Array(3).fill(named(before)));
    await world.apply({ ...pinned(version, 'b'), etcd: { quotaBackendBytes: '500Mi' } });
    const status = await ticks(world, 40, shortened);
    assert.deepEqual(images(world), Array(3).fill(named(before)));
    assert.match(JSON.stringify(made(world).sets), /quota-backend-bytes=524288000/, 'the rest of the commit counts');
    assert.deepEqual([...new Set(status?.refusals?.map(({ reason }) => reason))], ['NotAllowed']);
  }
});

test('a roll to another digest that the list no longer has is finished', async () => {
  const world = await bornOn(pinned('3.6.16', 'a'));
  const after = pinned('3.6.17', 'b');
  await world.apply(after);
  for (let count = 0; !images(world).includes(named(after)) && count < 40; count++) await ticks(world, 1);
  assert.equal(new Set(images(world)).size, 2);
  await ticks(world, 40, shortened);
  assert.deepEqual(images(world), Array(3).fill(named(after)));
  assert.equal(world.processes.size, 3);
});
