import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import type { EtcdCluster } from '../../manifests/api/etcd-cluster.ts';
import type { Pod } from '../../manifests/kube-types.ts';
import { resources } from '../../reconcile/interfaces/kube.ts';
import { slowEtcd } from '../support/cluster/binaries/catalogue.ts';
import { tools } from '../support/cluster/tools.ts';
import { isConverged, isReady, isStalledFor } from './support/conditions.ts';
import { inOwnSandbox, startOwnCluster } from './support/own-cluster.ts';
import { scene } from './support/scene.ts';
import { clusterYaml } from './support/specs.ts';
import { startWriter } from './support/writer.ts';

const binaries = await inOwnSandbox();
/** Every pull of this version finds it. */
const etcd = { ...binaries.etcd, [slowEtcd.version]: await tools.slowEtcd.provide() };
const own = await startOwnCluster({ binaries: { ...binaries, etcd }, nodes: 1 });

const stage = scene({
  fleet: {
    maxClustersInProgress: 2,
    rollout: {
      stages: [{ name: 'canary', matchLabels: { stage: 'canary' }, soak: '1m' }],
      haltAbove: { walFsyncP99: '128ms' },
    },
  },
});

after(() => own.stop());

const canaries = ['a-canary', 'b-canary', 'c-canary'];
const shops = ['a-shop', 'b-shop'];

/** All of them, with this version; the SHA. */
async function push(version: string): Promise<string> {
  const { namespace } = stage();
  const documentOf = (name: string) => {
    const yaml = clusterYaml(name, namespace, { replicas: 1, version });
    return canaries.includes(name) ? yaml.replace(/^metadata: \{/m, 'metadata: {labels: {stage: canary}, ') : yaml;
  };
  const files = [...canaries, ...shops].map((name) => [`clusters/${name}.yaml`, documentOf(name)]);
  return stage().push(Object.fromEntries(files));
}

type Seen = Readonly<Record<string, EtcdCluster>>;

/** Ticks until it is so. */
async function ticksUntil(what: string, isSo: (seen: Seen) => boolean): Promise<Seen> {
  let last = '';
  return stage().ticksUntil(
    what,
    async () => {
      const seen = Object.fromEntries(
        (await stage().list<EtcdCluster>(resources.clusters)).map((one) => [one.metadata.name, one]),
      );
      last = Object.entries(seen)
        .map(([name, { status }]) => `${name}: ${status?.lastDecision?.reason} ${status?.lastDecision?.message}`)
        .join('; ');
      return Object.keys(seen).length === canaries.length + shops.length && isSo(seen) && seen;
    },
    { within: 240, last: () => last },
  );
}

/** Names of the clusters with a member that runs this version, and of those that any member was started in since. */
async function pods(): Promise<Readonly<Record<string, string>>> {
  const found = await stage().list<Pod>(resources.pods);
  return Object.fromEntries(found.map(({ metadata }) => [metadata.name, metadata.uid ?? '']));
}

const isSlow = ({ status }: EtcdCluster) => status?.version === slowEtcd.version;

test('a version with a slow fsync halts before more clusters have it than may change at once', async () => {
  const [first] = Object.keys(binaries.etcd).filter((version) => version.startsWith('3.6.'));
  assert.ok(first);
  await push(first);
  await ticksUntil('all are born', (seen) => Object.values(seen).every(isReady));
  const before = await pods();

  const sha = await push(slowEtcd.version);
  await ticksUntil(
    'two canaries have it',
    (seen) => canaries.filter((name) => isSlow(seen[name] ?? assert.fail())).length === 2,
  );
  const writers = await Promise.all(
    canaries.slice(0, 2).map(async (name) => startWriter(await stage().access(name), 'load')),
  );
  await stage().stepUntil('a-canary', ({ status }) => status?.counters?.exceeded !== undefined, 240);
  const halted = await ticksUntil('all others are halted', (seen) =>
    [...canaries.slice(2), ...shops].every((name) => isStalledFor('RolloutHalted')(seen[name] ?? assert.fail())),
  );
  for (const writer of writers) assert.deepEqual((await writer.finish()).lost, []);
  assert.equal(halted['a-canary']?.status?.counters?.exceeded?.limit, 'walFsyncP99');
  assert.ok(isReady(halted['a-canary'] ?? assert.fail()), 'all the same');
  const now = await pods();
  for (const name of [...canaries.slice(2), ...shops]) assert.equal(now[`${name}-0-0`], before[`${name}-0-0`], name);
  const told = await stage().ticksUntil('the commit fails', async () =>
    [...stage().forge.statusesOf(sha).values()].find(({ state }) => state === 'failure'),
  );
  assert.match(told.description ?? '', /halted/);

  await push(first);
  await ticksUntil('all is as before', (seen) => Object.values(seen).every((one) => isConverged(one) && !isSlow(one)));
  const end = await pods();
  for (const name of [...canaries.slice(2), ...shops]) assert.equal(end[`${name}-0-0`], before[`${name}-0-0`], name);
});
