import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { EtcdCluster } from '../../manifests/api/etcd-cluster.ts';
import type { Pod } from '../../manifests/kube-types.ts';
import { resources } from '../../reconcile/interfaces/kube.ts';
import { typedIn } from '../support/docs/typed-by.ts';
import { isReady, isStalledFor } from './support/conditions.ts';
import { asOf, type } from './support/runbooks/typing.ts';
import { scene } from './support/scene.ts';
import { clusterYaml } from './support/specs.ts';

/** As many at once as there are: what holds them back are the stages. */
const stage = scene({
  fleet: {
    maxClustersInProgress: '100%',
    rollout: {
      stages: [{ name: 'canary', matchLabels: { stage: 'canary' }, soak: '1m' }],
      haltOnStatuses: ['ci/smoke'],
    },
  },
});

const names = ['z-canary', 'a-shop', 'b-shop'];

/** All three, with this; the SHA. */
async function push(fields: Readonly<Record<string, unknown>>): Promise<string> {
  const { namespace } = stage();
  const documentOf = (name: string) => {
    const yaml = clusterYaml(name, namespace, { replicas: 1, ...fields });
    return name === 'z-canary' ? yaml.replace(/^metadata: \{/m, 'metadata: {labels: {stage: canary}, ') : yaml;
  };
  return stage().push(Object.fromEntries(names.map((name) => [`clusters/${name}.yaml`, documentOf(name)])));
}

interface Seen {
  readonly canary: EtcdCluster;
  readonly shops: readonly EtcdCluster[];
}

/** Ticks until it is so. */
async function ticksUntil(what: string, isSo: (seen: Seen) => boolean, within = 150): Promise<Seen> {
  let last = '';
  return stage().ticksUntil(
    what,
    async () => {
      const clusters = await stage().list<EtcdCluster>(resources.clusters);
      last = clusters.map(({ metadata, status }) => `${metadata.name} ${status?.lastDecision?.reason}`).join(', ');
      const [canary, ...shops] = names.flatMap((name) => clusters.find(({ metadata }) => metadata.name === name) ?? []);
      return canary && shops.length === 2 && isSo({ canary, shops }) && { canary, shops };
    },
    { within, last: () => last },
  );
}

const isWaiting = ({ status }: EtcdCluster) => status?.lastDecision?.reason === 'WaitingForStage';

async function podsOfShops(): Promise<readonly string[]> {
  const pods = await stage().list<Pod>(resources.pods);
  return pods.flatMap(({ metadata }) => (metadata.name.includes('-shop-') ? [metadata.uid ?? ''] : [])).toSorted();
}

test('a bad commit stops at the first stage, and its revert leaves the others as they were', async () => {
  await push({});
  await ticksUntil('all are born', ({ canary, shops }) => [canary, ...shops].every(isReady));
  const before = await podsOfShops();
  assert.equal(before.length, 2);

  await push({ etcd: { extraArgs: { 'no-such-flag': 'true' } } });
  const { shops } = await ticksUntil(
    'the first stage stops',
    ({ canary, shops }) => isStalledFor('MemberKeepsExiting')(canary) && shops.every(isWaiting),
  );
  for (const { status } of shops)
    assert.match(status?.lastDecision?.message ?? '', /stage canary is not over: [^ ]+\/z-canary is not well/);
  assert.deepEqual(await podsOfShops(), before, 'no member of them was restarted');

  await push({});
  await ticksUntil('all are well', ({ canary, shops }) => [canary, ...shops].every(isReady));
  assert.deepEqual(await podsOfShops(), before);
});

/** As the job does that looks at the canary from outside. */
function fail(sha: string): void {
  stage().forge.statuses.push({
    owner: 'ada',
    repository: 'etcd',
    sha,
    context: 'ci/smoke',
    state: 'failure',
    description: 'by others',
  });
}

test('a commit reaches the others after its soak, and past a failed status by an approval', async () => {
  const before = await podsOfShops();
  const sha = await push({ etcd: { snapshotCount: 5000 } });
  const soaking = await ticksUntil(
    'the first stage soaks',
    ({ canary, shops }) =>
      isReady(canary) && shops.every((shop) => /soaks until/.test(shop.status?.lastDecision?.message ?? '')),
  );
  assert.deepEqual(await podsOfShops(), before);
  const [until = ''] = /(?<=soaks until )\S+/.exec(soaking.shops[0]?.status?.lastDecision?.message ?? '') ?? [];
  fail(sha);
  const halted = await ticksUntil('the others are halted', (seen) => seen.shops.every(isStalledFor('RolloutHalted')));
  for (const { status } of halted.shops)
    assert.match(status?.lastDecision?.message ?? '', /^halted: commit status ci\/smoke failed/);
  assert.deepEqual(await podsOfShops(), before);
  const asks = await stage().ticksUntil('the fleet asks', async () => (await stage().fleet()).status?.approvals?.[0]);
  assert.deepEqual([asks.reason, asks.value], ['RolloutHalted', sha]);
  const goesOn = typedIn('e2e/stages')('docs/how-to/stages.md#go-on-all-the-same');
  await type(stage(), '', {}, asOf({ 'n etcd': `n ${stage().namespace}`, production: 'fleet' }, goesOn));
  const { shops } = await ticksUntil('all have it', (seen) => [seen.canary, ...seen.shops].every(isReady));
  for (const { status } of shops) {
    const roll = status?.history?.findLast(({ reason }) => reason === 'RollingConfiguration');
    assert.ok(roll && roll.at >= until, `${roll?.at} is not before ${until}`);
  }
  assert.equal((await stage().fleet()).status?.approvals, undefined);
});
