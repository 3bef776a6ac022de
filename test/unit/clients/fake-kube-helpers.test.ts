/** What the fake has beside the contract: for tests that want other controllers, faults and rights. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isReason, type KubeObject, resources } from '../../../reconcile/interfaces/kube.ts';
import { createFakeKube } from '../../support/fakes/kube.ts';

type Loose = KubeObject & Record<string, unknown>;

const pod: Loose = {
  metadata: { name: 'a', namespace: 'n', labels: { app: 'a' } },
  spec: {},
  status: { phase: 'Running' },
};

test('seeded objects keep the status that they are given', async () => {
  const kube = createFakeKube();
  kube.seed(resources.pods, pod);
  assert.partialDeepStrictEqual(await kube.get(resources.pods, 'n', 'a'), {
    kind: 'Pod',
    status: { phase: 'Running' },
  });
  assert.deepEqual(
    kube.journal().map(({ key }) => key),
    ['GET pods'],
    'seeding is not a request',
  );
});

test('each eviction uses up one of the disruptions that the budget allows', async () => {
  const kube = createFakeKube();
  const other = { ...pod, metadata: { ...pod.metadata, name: 'b' } };
  kube.seed(resources.pods, pod, other);
  const spec = { minAvailable: 1, selector: { matchLabels: { app: 'a' } } };
  const budget: Loose = { metadata: { name: 'a', namespace: 'n' }, spec, status: { disruptionsAllowed: 1 } };
  kube.seed(resources.disruptionBudgets, budget);
  await kube.evict('n', 'a', { preconditions: {} });
  await assert.rejects(kube.evict('n', 'b', { preconditions: {} }), (error) => isReason(error, 'TooManyRequests'));
  assert.deepEqual(
    kube.stored(resources.pods).map(({ metadata }) => metadata.name),
    ['b'],
  );
});

test('a throw before a request keeps it from any effect, and one after only loses the answer', async () => {
  let lose: 'before' | 'after' | undefined = 'before';
  const lost = (moment: string) => () => {
    if (lose === moment) throw new Error(`lost ${moment}`);
  };
  const kube = createFakeKube({ before: lost('before'), after: lost('after') });
  const map = { metadata: { name: 'a', namespace: 'n' } };
  await assert.rejects(kube.create(resources.configMaps, map), /lost before/);
  assert.equal(kube.stored(resources.configMaps).length, 0);
  lose = 'after';
  await assert.rejects(kube.create(resources.configMaps, map), /lost after/);
  assert.equal(kube.stored(resources.configMaps).length, 1);
});

test('what has lost all its owners is collected, and what they owned in turn', async () => {
  const kube = createFakeKube();
  const owner = await kube.create<KubeObject>(resources.clusters, { metadata: { name: 'o', namespace: 'n' } });
  const child = await kube.create<KubeObject>(resources.peers, owned('c', owner));
  await kube.create(resources.configMaps, owned('g', child));
  await kube.create(resources.volumeClaims, { metadata: { name: 'v', namespace: 'n' } });
  kube.collectGarbage();
  assert.equal(kube.stored(resources.configMaps).length, 1);
  await kube.delete(resources.clusters, 'n', 'o', { preconditions: { uid: owner.metadata.uid ?? '' } });
  assert.equal(kube.stored(resources.peers).length, 1, 'nothing is collected by itself');
  kube.collectGarbage();
  assert.equal(kube.stored(resources.peers).length + kube.stored(resources.configMaps).length, 0);
  assert.equal(kube.stored(resources.volumeClaims).length, 1);
});

test('a watch from before the compaction is told to list again', async () => {
  const kube = createFakeKube();
  const { resourceVersion } = await kube.list(resources.pods, {});
  kube.seed(resources.pods, pod);
  kube.compact();
  const watch = kube.watch(resources.pods, { resourceVersion, signal: AbortSignal.timeout(1_000) });
  await assert.rejects(watch[Symbol.asyncIterator]().next(), (error) => isReason(error, 'Expired'));
});

test('what one caller holds changes nothing of what is stored', async () => {
  const kube = createFakeKube();
  const mine: Loose = { metadata: { name: 'a', namespace: 'n' }, data: { a: '1' } };
  const created = await kube.create(resources.configMaps, mine);
  assert.throws(() => Object.assign(created.data as Record<string, string>, { a: '2' }), TypeError);
  (mine.data as Record<string, string>).a = '3';
  assert.partialDeepStrictEqual(await kube.get(resources.configMaps, 'n', 'a'), { data: { a: '1' } });
});

function owned(name: string, { kind = '', apiVersion = '', metadata }: KubeObject): KubeObject {
  const reference = { apiVersion, kind, name: metadata.name, uid: metadata.uid ?? '' };
  return { metadata: { name, namespace: 'n', ownerReferences: [reference] } };
}
