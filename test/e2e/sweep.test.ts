import assert from 'node:assert/strict';
import { once } from 'node:events';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import type { EtcdCluster } from '../../manifests/api/etcd-cluster.ts';
import { annotations } from '../../manifests/build/names.ts';
import type { PersistentVolumeClaim } from '../../manifests/kube-types.ts';
import { resources } from '../../reconcile/kube.ts';
import { type Fate, startApiProxy } from './support/api-proxy.ts';
import { isReady } from './support/conditions.ts';
import { stepOnce } from './support/in-process.ts';
import { scene } from './support/scene.ts';
import { clusterYaml } from './support/specs.ts';
import { startTick } from './support/tick.ts';
import { until } from './support/until.ts';

const stage = scene({ fleet: false });

/** Clusters that are born at the same time: their members are mostly waiting. */
const together = 6;

async function apply(name: string, fields: Readonly<Record<string, unknown>>): Promise<void> {
  const { kubectl, namespace } = stage();
  await kubectl(['apply', '--server-side', '-f', '-'], { stdin: clusterYaml(name, namespace, fields) });
}

interface Killing {
  readonly name: string;
  /** The write, counted over the whole birth, at which the process dies. */
  readonly at: number;
  readonly when: 'before' | 'after';
}

/**
 * Ticks, each a process of its own, until the birth has made its n-th write; there the process is killed (SIGKILL), before
 * the API server gets the request or after it was carried out.
 *
 * @returns false when the birth was over before that write came.
 */
async function killAt({ name, at, when }: Killing): Promise<boolean> {
  const { namespace, get } = stage();
  let victim: ReturnType<typeof startTick> | undefined;
  let killed = false;
  const kill = () => {
    killed = true;
    victim?.kill('SIGKILL');
  };
  const file = join(tmpdir(), `${namespace}-${name}.kubeconfig`);
  await using proxy = await startApiProxy(process.env.KUBECONFIG ?? '', file, ({ write }): Fate => {
    // The dead send nothing: what was already on the wire behind the fatal write is lost with it.
    if (killed) return { kind: 'drop', act: () => {} };
    if (write !== at) return { kind: 'pass' };
    return when === 'before' ? { kind: 'drop', act: kill } : { kind: 'swallow-answer', act: kill };
  });
  for (;;) {
    victim = startTick({ args: ['--cluster', `${namespace}/${name}`], env: { KUBECONFIG: proxy.kubeconfig } });
    await once(victim, 'exit');
    if (killed) return true;
    const cluster = await get<EtcdCluster>(resources.clusters, name);
    if (cluster && isReady(cluster)) return false;
  }
}

async function converge(name: string): Promise<EtcdCluster> {
  const { kube, get } = stage();
  let seen = '';
  return until(
    `${name} Ready`,
    async () => {
      const cluster = await get<EtcdCluster>(resources.clusters, name);
      if (!cluster) return undefined;
      if (isReady(cluster)) return cluster;
      const [result] = await stepOnce(kube, [cluster]);
      seen = `${result?.decision.reason} ${result?.outcome} ${result?.problem ?? ''}`;
      return undefined;
    },
    { within: 120, every: 300, last: () => seen },
  );
}

/** One token, one cluster ID, everything sealed. */
async function assertOneCluster(name: string, cluster: EtcdCluster, members: number): Promise<void> {
  const claims = (await stage().list<PersistentVolumeClaim>(resources.volumeClaims)).filter(({ metadata }) =>
    metadata.name.startsWith(`${name}-`),
  );
  const said = (key: string) => [...new Set(claims.map(({ metadata }) => metadata.annotations?.[key]))];
  assert.equal(claims.length, members, name);
  assert.equal(said(annotations.token).length, 1, `${name}: one token`);
  assert.deepEqual(said(annotations.clusterId), [cluster.status?.clusterID], `${name}: one cluster ID`);
  assert.deepEqual(said(annotations.volumeState), ['sealed'], name);
}

async function sweep(
  prefix: string,
  when: Killing['when'],
  after: (name: string) => Promise<void>,
  members: number,
): Promise<number> {
  const { kubectl, namespace } = stage();
  let kills = 0;
  for (let next = 1, over = false; !over; ) {
    const batch = Array.from({ length: together }, () => ({ name: `${prefix}-${next}`, at: next++, when }));
    const struck = await Promise.all(
      batch.map(async (killing) => {
        await apply(killing.name, { replicas: 3 });
        const died = await killAt(killing);
        if (died) await after(killing.name);
        const cluster = await converge(killing.name);
        await assertOneCluster(killing.name, cluster, died ? members : 3);
        return died;
      }),
    );
    await kubectl(['-n', namespace, 'delete', 'etcdcluster', ...batch.map(({ name }) => name), '--wait=false']);
    kills += struck.filter(Boolean).length;
    over = struck.some((died) => !died);
  }
  return kills;
}

for (const when of ['before', 'after'] as const) {
  test(`killed ${when} each write of a birth in turn, it always becomes one cluster with one cluster ID`, async (t) => {
    const kills = await sweep(`dies-${when}`, when, async () => {}, 3);
    t.diagnostic(`${kills} kills`);
    assert.ok(kills >= 15, `a birth makes more writes than ${kills}`);
  });
}

test('killed at a write, the resource deleted and applied again with another size and version: the birth is finished as recorded', async (t) => {
  const { kubectl, namespace, list } = stage();
  const outcomes = await Promise.all(
    [3, 5, 7, 9, 12, 15].map(async (at) => {
      const name = `again-${at}`;
      await apply(name, { replicas: 3 });
      await killAt({ name, at, when: 'after' });
      await kubectl(['-n', namespace, 'delete', 'etcdcluster', name]);
      await apply(name, { replicas: 1, version: '3.7.3' });
      const recorded = (await list<PersistentVolumeClaim>(resources.volumeClaims)).some(({ metadata }) =>
        metadata.name.startsWith(`${name}-`),
      );
      const { kube, get } = stage();
      // Refusing the other size is where it ends when three are recorded; one member is Ready when nothing was.
      const cluster = await until(
        `${name} at rest`,
        async () => {
          const found = await get<EtcdCluster>(resources.clusters, name);
          if (!found) return undefined;
          const [result] = await stepOnce(kube, [found]);
          const resting = result?.decision.kind === 'done' || result?.decision.kind === 'refuse';
          return resting && (found.status?.readyReplicas ?? 0) > 0 ? found : undefined;
        },
        { within: 120, every: 300 },
      );
      await assertOneCluster(name, cluster, recorded ? 3 : 1);
      return recorded;
    }),
  );
  t.diagnostic(`recorded before the kill: ${outcomes.filter(Boolean).length} of ${outcomes.length}`);
  assert.ok(outcomes.includes(true));
});
