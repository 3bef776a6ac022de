import assert from 'node:assert/strict';
import { test } from 'node:test';
import { pass } from '../../../functions/pass/pass.ts';
import type { PassContext } from '../../../functions/pass/pass-context.ts';
import type { EtcdBackup } from '../../../manifests/api/etcd-backup.ts';
import type { EtcdBackupSchedule } from '../../../manifests/api/etcd-backup-schedule.ts';
import type { EtcdCluster } from '../../../manifests/api/etcd-cluster.ts';
import type { EtcdNodePolicy } from '../../../manifests/api/etcd-node-policy.ts';
import type { EtcdRestore } from '../../../manifests/api/etcd-restore.ts';
import { KubeError, resources } from '../../../reconcile/interfaces/kube.ts';
import { kinds } from '../../../reconcile/kinds.ts';
import type { Kind, Kinds } from '../../../reconcile/stepping/kind.ts';
import { offerNamed } from '../../support/fakes/offered.ts';
import { bornWith } from '../../support/world/born.ts';
import { etcdOf } from '../../support/world/etcd.ts';
import { asInvocation } from '../../support/world/invocation.ts';
import { passIn } from '../../support/world/passing.ts';
import { namespace, type World } from '../../support/world/world.ts';
import { endJobs } from './ended-jobs.ts';

/** Invocations that die between the steps of two kinds, at every pass of a life in which every kind has work. */

interface Death {
  readonly kind: string;
  readonly when: 'before' | 'after';
}

const api = 'etcd.ratchet.dev/v1alpha1' as const;
const to = { object: 'gs://backups/{{namespace}}/{{timestamp}}.db', gcs: { keySecretName: 'key' } };
const cluster = { replicas: 1, version: '3.6.16', storage: { size: '1Gi' }, tls: { mode: 'Disabled' } } as const;

/** A cluster that serves, a schedule that is due, a backup, a restore that waits for it, and a policy for nodes. */
async function begun(): Promise<World> {
  const world = await bornWith({ replicas: 1 });
  const { kube } = world;
  offerNamed(kube, namespace, to);
  await kube.create<EtcdBackup>(resources.backups, {
    apiVersion: api,
    kind: 'EtcdBackup',
    metadata: { name: 'last', namespace },
    spec: { clusterName: 'orders', to },
  });
  await kube.create<EtcdBackupSchedule>(resources.schedules, {
    apiVersion: api,
    kind: 'EtcdBackupSchedule',
    metadata: { name: 'often', namespace },
    spec: { schedule: '*/10 * * * *', template: { clusterName: 'orders', to } },
  });
  await kube.create<EtcdRestore>(resources.restores, {
    apiVersion: api,
    kind: 'EtcdRestore',
    metadata: { name: 'again', namespace },
    spec: { backupName: 'last', cluster: { name: 'again', spec: cluster } },
  });
  await kube.create<EtcdNodePolicy>(resources.nodePolicies, {
    apiVersion: api,
    kind: 'EtcdNodePolicy',
    metadata: { name: 'all' },
    spec: { nodeSelector: {} },
  });
  world.advance(600);
  return world;
}

/** One whole pass, and what others do after it. @returns whether it died as it was told to */
async function passed(world: World, number: number, death?: Death): Promise<boolean> {
  let isDead = false;
  const dies = () => {
    isDead = true;
    throw new KubeError('this invocation is dead', { class: 'terminal', reason: 'Dead' });
  };
  const table: Kinds = Object.fromEntries(
    Object.entries<Kind>(kinds).map(([name, kind]): [string, Kind] => {
      if (name !== death?.kind) return [name, kind];
      const step: Kind['step'] = async (...all) => {
        if (death.when === 'before') dies();
        await kind.step(...all);
        return dies();
      };
      return [name, { ...kind, step }];
    }),
  );
  // What goes on beside it dies with it.
  const still = { before: () => (isDead ? dies() : undefined) };
  const kube = asInvocation(world.kube, still);
  const mortal: Partial<PassContext> = {
    kube: { ...kube, list: (...all) => (isDead ? dies() : kube.list(...all)) },
    etcd: async (tls) => kube.etcd(etcdOf(world.state, tls)),
  };
  await pass(passIn(world, mortal, `pass-${number}`), table).catch((error: unknown) => {
    if (!(isDead && error instanceof KubeError)) throw error;
  });
  world.settle();
  endJobs(world.kube, true);
  world.advance(31);
  return isDead;
}

function isAtRest({ kube }: World): boolean {
  const clusters = kube.stored<EtcdCluster>(resources.clusters);
  return (
    clusters.length === 2 &&
    clusters.every(({ status }) => status?.lastDecision?.reason === 'Converged') &&
    kube.stored<EtcdBackup>(resources.backups).every(({ status }) => status?.settled === true) &&
    kube.stored<EtcdRestore>(resources.restores).every(({ status }) => status?.finishedAt !== undefined)
  );
}

const most = 30;

/** @returns how many passes it took */
async function livedToRest(world: World, from: number, story: string): Promise<number> {
  for (let number = from; number < most; number += 1) {
    if (isAtRest(world)) return number - from;
    await passed(world, number);
    assert.deepEqual(world.violations, [], story);
  }
  return assert.fail(`${story}: no rest after ${most} passes`);
}

/** No attempt was lost with the invocation, and the restore has its one cluster. */
function assertOnce({ kube }: World, story: string): void {
  const jobs = kube.journal().flatMap(({ key, body }) => (key === 'POST jobs' ? [body?.metadata.name ?? ''] : []));
  assert.deepEqual(
    jobs.filter((name) => /-(take|verify)-[2-9]$/.test(name)),
    [],
    story,
  );
  const [restore] = kube.stored<EtcdRestore>(resources.restores);
  const made = kube.stored<EtcdCluster>(resources.clusters).find(({ metadata }) => metadata.name === 'again');
  assert.equal(restore?.status?.clusterUID, made?.metadata.uid, story);
  assert.equal(restore?.status?.conditions?.[0]?.reason, 'Restored', story);
}

const deaths: readonly Death[] = Object.keys(kinds).flatMap((kind) => [
  { kind, when: 'before' as const },
  { kind, when: 'after' as const },
]);

for (const death of deaths) {
  test(`an invocation that dies ${death.when} the steps of kind ${death.kind} is made up for`, async () => {
    const life = await begun();
    let struck = 0;
    for (let number = 0; !isAtRest(life); number += 1) {
      assert.ok(number < most);
      const fork = life.fork();
      const story = `${death.when} ${death.kind} of pass ${number}`;
      if (await passed(fork, number, death)) {
        struck += 1;
        await livedToRest(fork, number + 1, story);
        assertOnce(fork, story);
      }
      await passed(life, number);
    }
    assert.ok(struck > 2, `${struck} deaths`);
  });
}
