import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { EtcdBackup } from '../../../../manifests/api/etcd-backup.ts';
import type { EtcdCluster } from '../../../../manifests/api/etcd-cluster.ts';
import { validateDocument } from '../../../../manifests/api/validate.ts';
import { annotations } from '../../../../manifests/render/names.ts';
import { readVolumeRecord } from '../../../../manifests/render/volume-record.ts';
import { resources } from '../../../../reconcile/interfaces/kube.ts';
import { offerNamed } from '../../../support/fakes/offered.ts';
import { tickUntilConverged } from '../../../support/world/converge.ts';
import { approvalIn } from '../../../support/world/recovery.ts';
import { createWorld, namespace, type World } from '../../../support/world/world.ts';

const healing = { podGracePeriod: '20s', memberGracePeriod: '40s' };

interface Taken {
  readonly name: string;
  readonly takenAt: string;
  readonly verified?: true;
  readonly clusterID?: string;
  readonly ready?: 'False';
  /** What was stored before is only looked for. */
  readonly existing?: true;
}

async function backUp(world: World, { name, takenAt, verified, clusterID, ready, existing }: Taken): Promise<void> {
  const object = `gs://backups/${name}.db`;
  const to = { object: 'gs://backups/{{name}}.db', compression: 'Zstd', gcs: { keySecretName: 'key' } } as const;
  offerNamed(world.kube, namespace, to);
  const made = await world.kube.create<EtcdBackup>(resources.backups, {
    apiVersion: 'etcd.ratchet.dev/v1alpha1',
    kind: 'EtcdBackup',
    metadata: { name, namespace },
    spec: {
      clusterName: 'orders',
      to,
      verify: verified ? 'Restore' : 'Trailer',
      ...(existing && { existing: { sha256: 'ab'.repeat(32) } }),
    },
  });
  const condition = {
    type: 'Ready',
    status: ready ?? ('True' as const),
    reason: 'Taken',
    message: '',
    lastTransitionTime: takenAt,
  };
  await world.kube.updateStatus<EtcdBackup>(resources.backups, {
    ...made,
    status: {
      observedGeneration: 1,
      object,
      sha256: 'ab'.repeat(32),
      takenAt,
      revision: 7,
      clusterID: clusterID ?? world.cluster()?.status?.clusterID ?? assert.fail('no cluster ID'),
      finishedAt: takenAt,
      ...(verified && { verified: { at: takenAt, revision: 7, etcdVersion: '3.6.16', took: '1s' } }),
      conditions: [condition],
    },
  });
}

/** So many members, whose volumes are lost but for the first ones that stay. */
async function bereft(replicas: number, stay: number, backups: readonly Taken[]): Promise<string> {
  const world = createWorld();
  await world.apply({ replicas, healing });
  await tickUntilConverged(world, { limit: 300 });
  for (const one of backups) {
    await backUp(world, one);
    world.advance(60);
  }
  for (let ordinal = stay; ordinal < replicas; ordinal += 1) world.loseVolume(`orders-${ordinal}`);
  await tickUntilConverged(world, { limit: 300 });
  world.advance(60);
  await tickUntilConverged(world, { limit: 300 });
  const stalled = world.cluster()?.status?.conditions?.find(({ type }) => type === 'Stalled');
  return stalled?.message ?? assert.fail('nothing is asked of a person');
}

const older = { name: 'older', takenAt: '2026-01-01T00:00:00Z', verified: true } as const;
const newer = { name: 'newer', takenAt: '2026-01-02T00:00:00Z', verified: true } as const;
const unproven = { name: 'unproven', takenAt: '2026-01-02T03:00:00Z' } as const;

describe('when data are lost, a person is told of the newest backup', () => {
  test('a verified one before a newer one that was not, with the document that restores it', async () => {
    const message = await bereft(1, 0, [older, newer, unproven]);
    assert.match(message, /the newest verified backup is EtcdBackup newer of 2026-01-02T00:00:00Z, up to revision 7/);
    const document = JSON.parse(/\{"apiVersion".*\}/.exec(message)?.[0] ?? assert.fail(message)) as EtcdCluster;
    assert.deepEqual(validateDocument(document), []);
    assert.deepEqual(document.spec.bootstrap?.snapshot, {
      object: 'gs://backups/newer.db',
      sha256: 'ab'.repeat(32),
      revision: 7,
      gcs: { keySecretName: 'key' },
    });
    assert.notEqual(document.metadata.name, 'orders', 'beside what is left');
  });

  test('at the first look, while members still answer whose volumes are gone', async () => {
    const world = createWorld();
    await world.apply({ replicas: 3, healing });
    await tickUntilConverged(world, { limit: 300 });
    await backUp(world, newer);
    for (const { metadata } of world.claims()) world.kube.remove(resources.volumeClaims, namespace, metadata.name);
    assert.equal(world.processes.size, 3);
    await world.tick();
    const stalled = world.cluster()?.status?.conditions?.find(({ type }) => type === 'Stalled');
    assert.equal(stalled?.reason, 'AllVolumesGone');
    assert.match(stalled?.message ?? '', /the newest verified backup is EtcdBackup newer/);
  });

  test('not an old one that was looked for since', async () => {
    const again = { ...older, name: 'again', takenAt: '2025-01-01T00:00:00Z', existing: true } as const;
    assert.match(await bereft(1, 0, [newer, again]), /the newest verified backup is EtcdBackup newer/);
  });

  test('one that was not restored is called that', async () => {
    assert.match(
      await bereft(1, 0, [unproven]),
      /the newest backup, which was not restored yet, is EtcdBackup unproven/,
    );
  });

  test('one of an earlier cluster of that name, or one that failed, is none', async () => {
    const message = await bereft(1, 0, [
      { ...newer, clusterID: 'c0ffee' },
      { ...older, ready: 'False' },
    ]);
    assert.doesNotMatch(message, /EtcdBackup (newer|older)/);
  });

  test('beside the approval, which stays the last word of the message', async () => {
    const message = await bereft(3, 1, [newer]);
    assert.match(message, /restore a backup beside it: the newest verified backup is EtcdBackup newer/);
    assert.ok(approvalIn(message), message);
  });
});

describe('when a cluster that was rolled back loses its data', () => {
  const origin = { name: 'origin', takenAt: '2026-01-01T00:00:00Z', verified: true } as const;
  /** Taken of what was rolled back. */
  const wrong = { name: 'wrong', takenAt: '2026-01-02T02:00:00Z', verified: true } as const;

  /** It went back to `origin`; its own backups since then; then so many of its volumes are lost. */
  async function rolledBack(lose: readonly string[], since: readonly Taken[] = []) {
    const world = createWorld();
    await world.apply({ replicas: 3, healing });
    await tickUntilConverged(world, { limit: 300 });
    for (const one of [origin, wrong]) await backUp(world, one);
    const former = world.cluster()?.status?.clusterID ?? assert.fail('no cluster ID');
    await world.apply({ replicas: 3, healing, rollback: { clusterID: former, backupName: origin.name } });
    await tickUntilConverged(world);
    await annotate(world, /roll-back=([^\s;]+)/.exec(stalledOf(world))?.[1] ?? assert.fail(stalledOf(world)));
    await tickUntilConverged(world, { limit: 300 });
    const present = world.cluster()?.status?.clusterID;
    assert.notEqual(present, former);
    await world.apply({ replicas: 3, healing });
    for (const one of since) await backUp(world, one);
    const volumes = lose.length > 0 ? lose : world.claims().map(({ metadata }) => metadata.name);
    for (const name of volumes) world.loseVolume(name);
    await tickUntilConverged(world, { limit: 300 });
    world.advance(60);
    await tickUntilConverged(world, { limit: 300 });
    return { world, message: stalledOf(world), former, present };
  }

  test('the backup that it went back to is named, and that it is of an earlier life', async () => {
    const { message, former, present } = await rolledBack(['orders-3', 'orders-4']);
    assert.match(message, new RegExp(`no backup of the present etcd cluster ${present} is Ready`));
    assert.match(message, new RegExp(`Of etcd cluster ${former}, which was given up .* is what this one went back to`));
    assert.match(message, /the newest verified backup is EtcdBackup origin/);
    assert.doesNotMatch(message, /EtcdBackup wrong/);
    assert.ok(message.includes(JSON.stringify({ clusterID: present, backupName: 'origin' })), message);
  });

  test('a backup of its present life is named alone, also one that was not restored yet', async () => {
    const { message } = await rolledBack(['orders-3', 'orders-4'], [{ ...unproven, name: 'since' }]);
    assert.match(message, /the newest backup, which was not restored yet, is EtcdBackup since/);
    assert.doesNotMatch(message, /EtcdBackup (origin|wrong)|given up/);
  });

  test('where no volume is left to remember, it says that the newest may hold what was rolled back', async () => {
    const { message, former } = await rolledBack([]);
    assert.match(message, new RegExp(`Of etcd cluster ${former}, which was given up .* may hold what was rolled back`));
    assert.match(message, /EtcdBackup wrong/);
  });

  test('where no volume is left, the next rollback remembers what earlier ones gave up', async () => {
    const { world, former, present = assert.fail('no cluster ID') } = await rolledBack([]);
    await world.apply({ replicas: 3, healing, rollback: { clusterID: present, backupName: origin.name } });
    await tickUntilConverged(world);
    await annotate(world, /roll-back=([^\s;]+)/.exec(stalledOf(world))?.[1] ?? assert.fail(stalledOf(world)));
    const { trail } = await tickUntilConverged(world, { limit: 300 });
    assert.deepEqual(world.cluster()?.status?.gaveUp, [former, present], trail.join('\n'));
    const records = world.claims().map(({ metadata }) => readVolumeRecord(metadata.annotations));
    for (const read of records) assert.deepEqual(read.kind === 'valid' && read.record.gaveUp, [former, present]);
    await world.apply({ replicas: 3, healing });
    for (const { metadata } of world.claims()) world.loseVolume(metadata.name);
    world.advance(60);
    await tickUntilConverged(world, { limit: 300 });
    assert.match(stalledOf(world), new RegExp(`Of etcd cluster ${former}, which was given up`));
  });

  test('what a status says that is no ID of an etcd cluster is not remembered', async () => {
    const { world, former, present = assert.fail('no cluster ID') } = await rolledBack([]);
    const cluster = world.cluster() ?? assert.fail('no cluster');
    const gaveUp = ['', 'a,b', 'x'.repeat(5000), former, present];
    await world.kube.updateStatus(resources.clusters, {
      ...cluster,
      status: { ...(cluster.status ?? assert.fail('no status')), gaveUp },
    });
    await world.apply({ replicas: 3, healing, rollback: { clusterID: present, backupName: origin.name } });
    await tickUntilConverged(world);
    await annotate(world, /roll-back=([^\s;]+)/.exec(stalledOf(world))?.[1] ?? assert.fail(stalledOf(world)));
    const { trail } = await tickUntilConverged(world, { limit: 300 });
    assert.deepEqual(world.cluster()?.status?.gaveUp, [former, present], trail.join('\n'));
  });
});

function stalledOf(world: World): string {
  return world.cluster()?.status?.conditions?.find(({ type }) => type === 'Stalled')?.message ?? '';
}

async function annotate(world: World, text: string): Promise<void> {
  const cluster = world.cluster() ?? assert.fail('no cluster');
  const given = { ...cluster.metadata.annotations, [annotations.rollBack]: text };
  await world.kube.update(resources.clusters, { ...cluster, metadata: { ...cluster.metadata, annotations: given } });
}
