import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { EtcdCluster } from '../../manifests/api/etcd-cluster.ts';
import type { Pod } from '../../manifests/kube-types.ts';
import { resources } from '../../reconcile/interfaces/kube.ts';
import { typedIn } from '../support/docs/typed-by.ts';
import { isConverged, isReady, isStalledFor } from './support/conditions.ts';
import { makeLeader } from './support/lead.ts';
import { asOf, type } from './support/runbooks/typing.ts';
import { scene } from './support/scene.ts';
import { clusterYaml } from './support/specs.ts';

const stage = scene({
  fleet: {
    maxClustersInProgress: '100%',
    rollout: {
      stages: [{ name: 'canary', matchLabels: { stage: 'canary' }, soak: '1m' }],
      haltAbove: { leaderChanges: 2 },
    },
  },
});

/** Both, with this; the SHA. */
async function push(fields: Readonly<Record<string, unknown>>): Promise<string> {
  const { namespace } = stage();
  const canary = clusterYaml('canary', namespace, fields);
  return stage().push({
    'clusters/canary.yaml': canary.replace(/^metadata: \{/m, 'metadata: {labels: {stage: canary}, '),
    'clusters/shop.yaml': clusterYaml('shop', namespace, { ...fields, replicas: 1 }),
  });
}

interface Seen {
  readonly canary: EtcdCluster;
  readonly shop: EtcdCluster;
}

/** Ticks until it is so. */
async function ticksUntil(what: string, isSo: (seen: Seen) => boolean): Promise<Seen> {
  let last = '';
  return stage().ticksUntil(
    what,
    async () => {
      const [canary, shop] = [await stage().cluster('canary'), await stage().cluster('shop')];
      last = [canary, shop]
        .map(({ metadata, status }) => `${metadata.name}: ${status?.lastDecision?.message}`)
        .join('; ');
      return isSo({ canary, shop }) && { canary, shop };
    },
    { within: 240, last: () => last },
  );
}

async function podOfShop(): Promise<string | undefined> {
  const pods = await stage().list<Pod>(resources.pods);
  return pods.find(({ metadata }) => metadata.name === 'shop-0-0')?.metadata.uid;
}

test('a commit under which leaders change halts before the next stage, until its revert', async () => {
  await push({});
  await ticksUntil('both are born', ({ canary, shop }) => [canary, shop].every(isReady));
  const before = await podOfShop();
  assert.ok(before);

  const pushed = new Date().toISOString();
  const sha = await push({ etcd: { snapshotCount: 5000 } });
  await ticksUntil(
    'the canary has it, and is measured',
    ({ canary: { spec, status } }) =>
      spec.etcd?.snapshotCount === 5000 && (status?.counters?.samples[0]?.at ?? '') > pushed,
  );
  await stage().tickUntil('canary', isConverged);
  // As a disk that is too slow for its heartbeats would have it.
  for (const ordinal of [0, 1, 2, 0, 1]) await makeLeader(stage(), 'canary', `canary-${ordinal}`);
  await stage().stepUntil('canary', ({ status }) => status?.counters?.exceeded !== undefined);
  const { shop, canary } = await ticksUntil('it halts', (seen) => isStalledFor('RolloutHalted')(seen.shop));
  assert.match(
    shop.status?.lastDecision?.message ?? '',
    /^halted: the leader of .*canary changed more than 2 times in ten minutes/,
  );
  assert.equal(canary.status?.counters?.exceeded?.limit, 'leaderChanges');
  assert.ok(isReady(canary), 'all the same');
  assert.equal(await podOfShop(), before);
  const looks = typedIn('e2e/halts')('docs/how-to/stages.md#when-a-rollout-halts');
  await type(stage(), 'canary', {}, asOf({ 'n shop': `n ${stage().namespace}`, orders: 'canary' }, looks));
  const told = await stage().ticksUntil('the commit fails', async () =>
    [...stage().forge.statusesOf(sha).values()].find(({ state }) => state === 'failure'),
  );
  assert.match(told.description ?? '', /halted: the leader of .*canary/);

  await push({});
  await ticksUntil('all is as before', (seen) =>
    [seen.canary, seen.shop].every((one) => isConverged(one) && one.spec.etcd?.snapshotCount === undefined),
  );
  assert.equal(await podOfShop(), before);
});
