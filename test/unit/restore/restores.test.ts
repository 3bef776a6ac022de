import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import type { EtcdBackup } from '../../../manifests/api/etcd-backup.ts';
import type { EtcdCluster } from '../../../manifests/api/etcd-cluster.ts';
import type { EtcdRestore } from '../../../manifests/api/etcd-restore.ts';
import { isRestoredBy, restoredCluster, snapshotOf } from '../../../manifests/render/restored-cluster.ts';
import { resources } from '../../../reconcile/interfaces/kube.ts';
import { kinds } from '../../../reconcile/kinds.ts';
import { backupsAwaited } from '../../../reconcile/restore/awaited.ts';
import { decideRestore } from '../../../reconcile/restore/decide.ts';
import type { RestoreResult } from '../../../reconcile/restore/pass.ts';
import { restoreStatus } from '../../../reconcile/restore/report.ts';
import { firstSteps } from '../../../reconcile/stepping/loop.ts';
import { createFakeKube, type FakeKube } from '../../support/fakes/kube.ts';
import { kindContext } from '../../support/kind-context.ts';

const namespace = 'shop';
const snapshot = { object: 'gs://backups/orders/a.db', gcs: { keySecretName: 'key' } };
const restore: EtcdRestore = {
  apiVersion: 'etcd.ratchet.dev/v1alpha1',
  kind: 'EtcdRestore',
  metadata: { name: 'again', namespace, uid: 'restore-1', generation: 1 },
  spec: {
    from: snapshot,
    cluster: { name: 'orders-2', spec: { replicas: 3, version: '3.6.16', storage: { size: '1Gi' } } },
  },
};
const { from: _, ...withoutFrom } = restore.spec;
const ofBackup: EtcdRestore = { ...restore, spec: { ...withoutFrom, backupName: 'orders-1' } };

const made: EtcdCluster = {
  ...restoredCluster(restore, snapshot),
  metadata: { ...restoredCluster(restore, snapshot).metadata, uid: 'cluster-1', generation: 1 },
};
const ready: EtcdCluster = {
  ...made,
  status: {
    observedGeneration: 1,
    clusterID: 'c1c1',
    conditions: [
      { type: 'Ready', status: 'True', reason: 'Converged', message: 'x', lastTransitionTime: '2026-01-01T00:00:00Z' },
    ],
  },
};
const other: EtcdCluster = { ...made, metadata: { name: 'orders-2', namespace, uid: 'other' } };

const leaving: EtcdCluster = { ...other, metadata: { ...other.metadata, deletionTimestamp: '2026-01-01T00:00:00Z' } };

function backup(status: 'True' | 'False', etcdVersion = '3.6.16'): EtcdBackup {
  return {
    apiVersion: 'etcd.ratchet.dev/v1alpha1',
    kind: 'EtcdBackup',
    metadata: { name: 'orders-1', namespace },
    spec: {
      clusterName: 'orders',
      to: {
        object: 'gs://backups/{{timestamp}}.db',
        gcs: { keySecretName: 'key' },
        compression: 'Zstd',
        encryption: { recipientsSecretName: 'public', identitySecretName: 'private' },
      },
    },
    status: {
      observedGeneration: 1,
      object: 'gs://backups/1.db',
      clusterID: 'c1c1',
      sha256: 'a'.repeat(64),
      revision: 12,
      etcdVersion,
      conditions: [
        { type: 'Ready', status, reason: 'Taken', message: 'why', lastTransitionTime: '2026-01-01T00:00:00Z' },
      ],
    },
  };
}

const cases: readonly (readonly [string, Parameters<typeof decideRestore>[0], string])[] = [
  ['a cluster is made', { restore, cluster: undefined, backup: undefined }, 'make'],
  ['a cluster that exists is left alone', { restore, cluster: other, backup: undefined }, 'ClusterExists'],
  ['a cluster that is being deleted is waited for', { restore, cluster: leaving, backup: undefined }, 'ClusterLeaving'],
  ['its own cluster is followed', { restore, cluster: made, backup: undefined }, 'Restoring'],
  ['its own cluster is Ready', { restore, cluster: ready, backup: undefined }, 'Restored'],
  [
    'a cluster that was deleted is never made again',
    {
      restore: { ...restore, status: { observedGeneration: 1, clusterUID: 'cluster-1' } },
      cluster: undefined,
      backup: undefined,
    },
    'ClusterGone',
  ],
  [
    'nor is another one of its name taken for it',
    {
      restore: { ...restore, status: { observedGeneration: 1, clusterUID: 'cluster-1' } },
      cluster: other,
      backup: undefined,
    },
    'ClusterGone',
  ],
  [
    'what is finished rests',
    {
      restore: { ...restore, status: { observedGeneration: 1, finishedAt: '2026-01-01T00:00:00Z' } },
      cluster: undefined,
      backup: undefined,
    },
    'rest',
  ],
  ['a backup that is not there is told', { restore: ofBackup, cluster: undefined, backup: undefined }, 'BackupAbsent'],
  [
    'a backup that is not proven is told',
    { restore: ofBackup, cluster: undefined, backup: backup('False') },
    'BackupNotReady',
  ],
  [
    'a backup of a newer minor is told',
    { restore: ofBackup, cluster: undefined, backup: backup('True', '3.7.3') },
    'SnapshotTooNew',
  ],
  [
    'a backup of an older minor is restored',
    { restore: ofBackup, cluster: undefined, backup: backup('True', '3.5.35') },
    'make',
  ],
];

describe('of a restore', () => {
  for (const [what, observation, expected] of cases)
    test(what, () => {
      const decision = decideRestore(observation);
      assert.equal(decision.kind === 'tell' ? decision.reason : decision.kind, expected);
    });
});

test('a restore takes no backup that is being deleted, or does not say what it is', () => {
  const good = backup('True');
  const { clusterID: _, ...ofNone } = good.status ?? {};
  const told = (status: object, metadata: object = {}) => {
    const one = { ...good, metadata: { ...good.metadata, ...metadata }, status } as EtcdBackup;
    const decision = decideRestore({ restore: ofBackup, cluster: undefined, backup: one });
    return decision.kind === 'tell' ? `${decision.reason}: ${decision.message}` : decision.kind;
  };
  assert.equal(told({ ...good.status }), 'make');
  assert.match(told({ ...good.status }, { deletionTimestamp: '2026-01-02T00:00:00Z' }), /^BackupNotReady: .*deleted$/);
  assert.match(told({ ...good.status, sha256: 'x' }), /^BackupNotReady: .*which object/);
  assert.match(told({ ...good.status, object: 'file:///etc/passwd' }), /^BackupNotReady: .*which object/);
  assert.match(told(ofNone), /^BackupNotReady: .*of which etcd cluster$/);
  assert.match(told({ ...good.status, clusterID: 'c1; rm' }), /^BackupNotReady: .*of which etcd cluster$/);
});

test('a backup is read with its private key and its digest, and without what only writes', () => {
  assert.deepEqual(snapshotOf(backup('True')), {
    object: 'gs://backups/1.db',
    sha256: 'a'.repeat(64),
    revision: 12,
    gcs: { keySecretName: 'key' },
    encryption: { identitySecretName: 'private' },
  });
});

test('the status remembers its cluster when that is gone, and when it ended', () => {
  const now = new Date('2026-01-02T00:00:00Z');
  const begun = restoreStatus(restore, { reason: 'Restoring', message: 'x', cluster: made }, now);
  assert.partialDeepStrictEqual(begun, { clusterUID: 'cluster-1', object: snapshot.object });
  assert.equal(begun.finishedAt, undefined);
  const gone = restoreStatus({ ...restore, status: begun }, { reason: 'ClusterGone', message: 'y' }, now);
  assert.partialDeepStrictEqual(gone, { clusterUID: 'cluster-1', finishedAt: '2026-01-02T00:00:00Z' });
});

async function stepped(kube: FakeKube): Promise<readonly RestoreResult[]> {
  const context = kindContext({ kube, namespace });
  context.lists.keep('cluster', { items: kube.stored<EtcdCluster>(resources.clusters), resourceVersion: '1' });
  const { results = [] } = (await firstSteps('restore', kinds.restore, context)) ?? {};
  return results as readonly RestoreResult[];
}

async function step(kube: FakeKube): Promise<EtcdRestore | undefined> {
  await stepped(kube);
  return kube.stored<EtcdRestore>(resources.restores)[0];
}

test('a step that died after it made the cluster is finished by the next, which makes none', async () => {
  const kube = createFakeKube();
  kube.seed(resources.restores, restore);
  await step(kube);
  const [cluster] = kube.stored<EtcdCluster>(resources.clusters);
  assert.ok(cluster && isRestoredBy(cluster, 'restore-1'));
  assert.deepEqual(cluster.spec.bootstrap, { snapshot });
  // As if the status had never been written.
  kube.seed(resources.restores, restore);
  const told = await step(kube);
  assert.equal(kube.stored(resources.clusters).length, 1);
  assert.equal(told?.status?.clusterUID, cluster.metadata.uid);

  // Deleted by a person: it is told, and never made a second time, however often it is looked at.
  kube.remove(resources.clusters, namespace, 'orders-2');
  assert.equal((await step(kube))?.status?.conditions?.[0]?.reason, 'ClusterGone');
  await step(kube);
  assert.equal(kube.stored(resources.clusters).length, 0);
});

test('a restore of a name that is taken ends, says what to do, and is looked at no more', async () => {
  const kube = createFakeKube();
  kube.seed(resources.restores, restore);
  kube.seed(resources.clusters, other);
  const told = await step(kube);
  assert.deepEqual(
    told?.status?.conditions?.map(({ type, status, reason }) => `${type}=${status} ${reason}`),
    ['Ready=False ClusterExists', 'Stalled=True ClusterExists'],
  );
  assert.match(told?.status?.conditions?.[0]?.message ?? '', /To go on: create another EtcdRestore/);
  assert.match(told?.status?.conditions?.[1]?.message ?? '', /create another.*backup-fails\.md#a-restore\)$/s);
  assert.ok(told?.status?.finishedAt);
  const before = kube.journal().length;
  assert.deepEqual(await stepped(kube), []);
  assert.deepEqual(
    kube
      .journal()
      .slice(before)
      .map(({ key }) => key),
    ['LIST etcdrestores'],
  );
  // Not even when the name is free: it would surprise by then.
  kube.remove(resources.clusters, namespace, 'orders-2');
  await step(kube);
  assert.deepEqual(kube.stored(resources.clusters), []);
  // The same one, created again, goes on.
  kube.remove(resources.restores, namespace, 'again');
  kube.seed(resources.restores, { ...restore, metadata: { ...restore.metadata, uid: 'restore-2' } });
  await step(kube);
  assert.equal(kube.stored(resources.clusters).length, 1);
});

test('a restore waits while a cluster of its name is being deleted, and then begins', async () => {
  const kube = createFakeKube();
  kube.seed(resources.restores, restore);
  kube.seed(resources.clusters, leaving);
  const told = await step(kube);
  assert.deepEqual(
    told?.status?.conditions?.map(({ reason }) => reason),
    ['ClusterLeaving'],
  );
  assert.equal(told?.status?.finishedAt, undefined);
  kube.remove(resources.clusters, namespace, 'orders-2');
  await step(kube);
  assert.ok(isRestoredBy(kube.stored<EtcdCluster>(resources.clusters)[0] ?? leaving, 'restore-1'));
});

describe('restores that wait for a backup', () => {
  const waitingFor = (backupName: string, number: number): EtcdRestore => ({
    ...ofBackup,
    metadata: { ...ofBackup.metadata, name: `r-${number}`, uid: `restore-${number}` },
    spec: { ...ofBackup.spec, backupName, cluster: { ...ofBackup.spec.cluster, name: `c-${number}` } },
  });
  const named = (name: string, more: Partial<EtcdBackup['status']>, status: 'True' | 'False' = 'False') => {
    const { metadata, status: was, ...rest } = backup(status);
    return { ...rest, metadata: { ...metadata, name }, status: { observedGeneration: 1, ...was, ...more } };
  };
  const over = { finishedAt: '2026-01-01T00:00:00Z', settled: true };

  async function costOf(kube: FakeKube): Promise<Readonly<Record<string, number>>> {
    const before = kube.journal().length;
    await stepped(kube);
    const keys = kube.journal().slice(before);
    return Object.fromEntries([...Map.groupBy(keys, ({ key }) => key)].map(([key, all]) => [key, all.length]));
  }

  test('cost two lists, however many they are, while their backups are under way', async () => {
    const kube = createFakeKube();
    for (let number = 0; number < 200; number += 1) {
      kube.seed(resources.backups, named(`b-${number}`, {}));
      kube.seed(resources.restores, waitingFor(`b-${number}`, number));
    }
    await stepped(kube);
    assert.deepEqual(await costOf(kube), { 'LIST etcdrestores': 1, 'LIST etcdbackups': 1 });
  });

  test('cost one look a backup, and 32 a tick, where theirs have failed or are not there', async () => {
    let now = Date.parse('2026-01-02T00:00:00Z');
    const kube = createFakeKube({ clock: () => new Date(now) });
    for (let number = 0; number < 200; number += 1) {
      if (number < 50) kube.seed(resources.backups, named(`b-${number}`, over));
      // Two of each backup.
      kube.seed(resources.restores, waitingFor(`b-${number % 100}`, number));
    }
    await stepped(kube);
    const asked = new Set<string>();
    // At most two rounds of four turns, whenever the first began.
    for (let ticks = 0; ticks < 7; ticks += 1) {
      now += 60_000;
      const before = kube.journal().length;
      const { 'GET etcdbackups': gets = 0, ...rest } = await costOf(kube);
      assert.ok(gets > 0 && gets <= 32, String(gets));
      assert.deepEqual(rest, { 'LIST etcdrestores': 1, 'LIST etcdbackups': 1 });
      for (const { key, name } of kube.journal().slice(before)) if (key === 'GET etcdbackups') asked.add(name ?? '');
    }
    assert.equal(asked.size, 100, 'each has its turn');

    // A person made one of them anew, and it is Ready.
    kube.seed(resources.backups, named('b-7', over, 'True'));
    for (let ticks = 0; ticks < 7; ticks += 1) {
      now += 60_000;
      await stepped(kube);
    }
    const names = kube.stored<EtcdCluster>(resources.clusters).map(({ metadata }) => metadata.name);
    assert.deepEqual(names.toSorted(), ['c-107', 'c-7']);
  });

  test('are all asked for, with ticks of any period', async () => {
    const asked = new Set<string>();
    const none = { items: [], resourceVersion: '' };
    const asking = { listBackups: async () => none, signal: AbortSignal.timeout(60_000), log: () => undefined };
    const periods = fc.oneof(fc.constantFrom(60, 120, 180, 240, 300, 900, 3_600), fc.integer({ min: 20, max: 7_200 }));
    const property = fc.asyncProperty(
      fc.integer({ min: 33, max: 200 }),
      periods,
      fc.date({ min: new Date('2026-01-01'), max: new Date('2030-01-01'), noInvalidDate: true }),
      async (count, period, from) => {
        asked.clear();
        const waiting = Array.from({ length: count }, (_, number) => waitingFor(`b-${number}`, number));
        const turns = Math.ceil(count / 32);
        // Drawn at random, a turn is missed in all of these ticks less often than once in a thousand million.
        const ticks = Math.ceil(turns * 25 * Math.max(1, 60 / period));
        for (let tick = 0; tick < ticks && asked.size < count; tick += 1) {
          let gets = 0;
          const kube = {
            now: () => new Date(from.getTime() + tick * period * 1_000),
            get: async (_: unknown, __: unknown, name: string) => {
              gets += 1;
              asked.add(name);
            },
          };
          await backupsAwaited(waiting, { ...asking, kube: kube as never });
          assert.ok(gets <= 32);
        }
        assert.equal(asked.size, count, `${count} every ${period} s`);
      },
    );
    await fc.assert(property, { numRuns: 100 });
  });

  test('are all asked for in two rounds, with a tick a minute', async () => {
    for (const count of [40, 64, 65, 200]) {
      const waiting = Array.from({ length: count }, (_, number) => waitingFor(`b-${number}`, number));
      for (let start = 0; start < 30; start += 1) {
        const asked = new Set<string>();
        for (let tick = 0; tick < 2 * Math.ceil(count / 32); tick += 1) {
          const now = () => new Date(Date.parse('2026-01-02T00:00:00Z') + (start + tick) * 60_000);
          const get = async (_: unknown, __: unknown, name: string) => void asked.add(name);
          const list = async () => ({ items: [], resourceVersion: '' });
          const asking = { listBackups: list, signal: AbortSignal.timeout(60_000), log: () => undefined };
          await backupsAwaited(waiting, { ...asking, kube: { now, get } as never });
        }
        assert.equal(asked.size, count);
      }
    }
  });

  test('are looked at again in a pass only while a backup of theirs is being taken', async () => {
    for (const [more, awaits] of [
      [{}, true],
      [over, false],
      [{ finishedAt: over.finishedAt }, false],
    ] as const) {
      const kube = createFakeKube();
      kube.seed(resources.backups, named('b', more), named('other', {}));
      kube.seed(resources.restores, waitingFor('b', 1));
      await stepped(kube);
      const [result] = await stepped(kube);
      assert.deepEqual(
        [result?.outcome, result?.isOpen, result?.awaitsBackup],
        ['none', false, awaits],
        JSON.stringify(more),
      );
    }
  });

  test('begin when theirs is Ready, also before it is settled', async () => {
    const kube = createFakeKube();
    kube.seed(resources.backups, named('b', {}));
    kube.seed(resources.restores, waitingFor('b', 1));
    await stepped(kube);
    kube.seed(resources.backups, named('b', {}, 'True'));
    await stepped(kube);
    assert.equal(kube.stored(resources.clusters).length, 1);
  });

  test('end where a cluster of their name has come to be meanwhile', async () => {
    const kube = createFakeKube();
    kube.seed(resources.backups, named('b', {}));
    kube.seed(resources.restores, waitingFor('b', 1));
    await stepped(kube);
    kube.seed(resources.clusters, { ...other, metadata: { ...other.metadata, name: 'c-1' } });
    await stepped(kube);
    const [told] = kube.stored<EtcdRestore>(resources.restores);
    assert.equal(told?.status?.conditions?.[0]?.reason, 'ClusterExists');
  });

  test('that can’t be read hold up no other restore', async () => {
    const kube = createFakeKube({ authorize: ({ resource }) => resource.plural !== 'etcdbackups' });
    const waits = restoreStatus(ofBackup, { reason: 'BackupAbsent', message: 'x' }, new Date());
    kube.seed(resources.restores, { ...waitingFor('b', 1), status: waits }, restore);
    await stepped(kube);
    const names = kube.stored<EtcdCluster>(resources.clusters).map(({ metadata }) => metadata.name);
    assert.deepEqual(names, ['orders-2']);
  });
});
