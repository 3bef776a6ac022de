import assert from 'node:assert/strict';
import { once } from 'node:events';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import type { EtcdCluster } from '../../manifests/api/etcd-cluster.ts';
import type { PersistentVolumeClaim } from '../../manifests/kube-types.ts';
import { annotations } from '../../manifests/render/names.ts';
import { resources } from '../../reconcile/interfaces/kube.ts';
import { type Fate, startApiProxy } from './support/api-proxy.ts';
import { isReady } from './support/conditions.ts';
import { createHolderPod } from './support/holder-pod.ts';
import { stepOnce } from './support/in-process.ts';
import { scene } from './support/scene.ts';
import { clusterYaml } from './support/specs.ts';
import { startTick } from './support/tick.ts';
import { until } from './support/until.ts';

const stage = scene({ fleet: false });

/** Clusters that are born at the same time: their members are mostly waiting. */
const together = 6;

/** Where an invocation dies: at this write of the one that takes the birth's n-th acting step. */
interface Death {
  readonly step: number;
  readonly write: number;
  /** `before`: the API server never gets the request. `after`: it is carried out, and the answer is lost. */
  readonly when: 'before' | 'after';
}

async function apply(name: string, fields: Readonly<Record<string, unknown>>): Promise<void> {
  const { kubectl, namespace } = stage();
  await kubectl(['apply', '--server-side', '-f', '-'], { stdin: clusterYaml(name, namespace, fields) });
}

function find(name: string): Promise<EtcdCluster | undefined> {
  return stage().get<EtcdCluster>(resources.clusters, name);
}

/** Steps until `enough` says so. @returns the resource as it was then. */
async function stepUntil(name: string, enough: (cluster: EtcdCluster) => boolean, within = 150): Promise<EtcdCluster> {
  let seen = '';
  return until(
    `${name} as far as wanted`,
    async () => {
      const cluster = await find(name);
      if (!cluster) return undefined;
      if (enough(cluster)) return cluster;
      const [result] = await stepOnce(stage().kube, [cluster]);
      seen = `${result?.decision.reason} ${result?.outcome} ${result?.problem ?? ''}`;
      return undefined;
    },
    { within, every: 200, last: () => seen },
  );
}

/**
 * Takes the birth to the step before, then lets one invocation, a process of its own, die at a write (SIGKILL). Its pod
 * is then seen terminated, so that its lease ends at once.
 *
 * @returns false when that step makes fewer writes, or the birth has fewer steps.
 */
async function die(name: string, { step, write: fatal, when }: Death): Promise<boolean> {
  const { namespace, kube } = stage();
  const before = await stepUntil(
    name,
    (cluster) => isReady(cluster) || (cluster.status?.history?.length ?? 0) >= step - 1,
  );
  if (isReady(before)) return false;

  const holder = await createHolderPod(kube, namespace, `holder-${name}`);
  let killed = false;
  let victim: ReturnType<typeof startTick> | undefined;
  const kill = () => {
    killed = true;
    victim?.kill('SIGKILL');
  };
  const file = join(tmpdir(), `${namespace}-${name}.kubeconfig`);
  await using proxy = await startApiProxy(process.env.KUBECONFIG ?? '', file, ({ write }): Fate => {
    // The dead send nothing: what was on the wire behind the fatal write is lost with it.
    if (killed) return { kind: 'drop', act: () => {} };
    if (write !== fatal) return { kind: 'pass' };
    return when === 'before' ? { kind: 'drop', act: kill } : { kind: 'swallow-answer', act: kill };
  });
  victim = startTick({
    args: ['--cluster', `${namespace}/${name}`],
    env: { KUBECONFIG: proxy.kubeconfig, ...holder.env },
  });
  await once(victim, 'exit');
  await holder.terminate();
  return killed;
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

/** Its volumes too: fifty births' disks would fill the run's memory. */
async function forget(name: string): Promise<void> {
  const { kubectl, namespace } = stage();
  await kubectl(['-n', namespace, 'delete', 'etcdcluster', name, '--wait=false']);
  await kubectl(['-n', namespace, 'delete', 'pvc', '-l', `etcd.ratchet.dev/cluster=${name}`, '--wait=false']);
}

/** The writes of every step, a few births at a time; a step is over when one of its writes never comes. */
async function sweep(prefix: string, when: Death['when'], replicas: number): Promise<number> {
  let deaths = 0;
  for (let step = 1; ; step++) {
    let here = 0;
    for (let write = 1, more = true; more; write += together) {
      const batch = Array.from({ length: together }, (_, index) => ({ step, write: write + index, when }));
      const died = await Promise.all(
        batch.map(async (death) => {
          const name = `${prefix}-${death.step}-${death.write}`;
          await apply(name, { replicas });
          const struck = await die(name, death);
          await assertOneCluster(name, await stepUntil(name, isReady), replicas);
          await forget(name);
          return struck;
        }),
      );
      here += died.filter(Boolean).length;
      more = died.every(Boolean);
    }
    deaths += here;
    if (here === 0) return deaths;
  }
}

// Minutes, for births of their own; `deaths` meets the same places in one.
if (process.env.EXHAUSTIVE) {
  for (const when of ['before', 'after'] as const) {
    test(`killed ${when} each write of the birth of three, it always becomes one cluster`, async (t) => {
      const deaths = await sweep(when, when, 3);
      t.diagnostic(`${deaths} deaths`);
      assert.ok(deaths >= 40, `the birth of three makes more writes than ${deaths}`);
    });
  }
}

test('killed in a birth, deleted and applied again with another size: finished as recorded', async (t) => {
  const { kubectl, namespace, list } = stage();
  const places = [
    { step: 1, write: 2 },
    { step: 1, write: 9 },
    { step: 2, write: 3 },
  ];
  const recorded = await Promise.all(
    places.map(async ({ step, write }) => {
      const name = `again-${step}-${write}`;
      await apply(name, { replicas: 3 });
      assert.equal(await die(name, { step, write, when: 'after' }), true, name);
      await kubectl(['-n', namespace, 'delete', 'etcdcluster', name]);
      await apply(name, { replicas: 1, version: '3.7.3' });
      const volumes = (await list<PersistentVolumeClaim>(resources.volumeClaims)).filter(({ metadata }) =>
        metadata.name.startsWith(`${name}-`),
      );
      const members = volumes.length > 0 ? 3 : 1;
      // Three that were recorded are born as three; version and size follow.
      let most = 0;
      const cluster = await stepUntil(
        name,
        ({ status }) => {
          most = Math.max(most, status?.readyReplicas ?? 0);
          return status?.readyReplicas === 1 && status.lastDecision?.reason === 'Converged';
        },
        300,
      );
      assert.equal(most, members, `${name}: born as it was recorded`);
      await until('the volumes of those that left are gone', async () => {
        const left = (await list<PersistentVolumeClaim>(resources.volumeClaims)).filter(({ metadata }) =>
          metadata.name.startsWith(`${name}-`),
        );
        return left.length === 1;
      });
      await assertOneCluster(name, cluster, 1);
      assert.deepEqual(
        cluster.status?.members?.map(({ version }) => version),
        ['3.7.3'],
      );
      return members === 3;
    }),
  );
  t.diagnostic(`recorded before the death: ${recorded.filter(Boolean).length} of ${recorded.length}`);
  assert.deepEqual([...new Set(recorded)].toSorted(), [false, true], 'both kinds were met');
});
