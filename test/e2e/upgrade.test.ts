import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { EtcdCluster } from '../../manifests/api/etcd-cluster.ts';
import { condition, isReady, isStalledFor } from './support/conditions.ts';
import { assertForetold, foretell } from './support/foretold.ts';
import { longestGapAllowed } from './support/gaps.ts';
import { readKey, writeKey } from './support/keys.ts';
import { startKnowingWriter } from './support/knowing-writer.ts';
import { watchLeader } from './support/leader-last.ts';
import { scene } from './support/scene.ts';
import { until } from './support/until.ts';
import { startWriter } from './support/writer.ts';

const stage = scene({ clearedBetween: true });

function versionsOf({ status }: EtcdCluster): readonly string[] {
  return (status?.members ?? []).map(({ version = '' }) => version);
}

function runs(version: string): (cluster: EtcdCluster) => boolean {
  return (cluster) =>
    isReady(cluster) &&
    versionsOf(cluster).every((found) => found === version) &&
    cluster.status?.clusterVersion === version.replace(/\d+$/, '0');
}

/** Members that were started anew on another version, in their order. */
const upgraded = ({ status }: EtcdCluster) =>
  (status?.history ?? []).filter(({ reason, outcome }) => reason === 'UpgradingMember' && outcome === 'acted');

const reasonsOf = ({ status }: EtcdCluster) => (status?.history ?? []).map(({ reason }) => reason);

test('3.5 → 3.6 → 3.7 goes one member at a time, the leader last, and loses no write', async (t) => {
  const { tickUntil, kube, namespace } = stage();
  await stage().pushCluster('up', { version: '3.5.35' });
  await tickUntil('up', runs('3.5.35'));
  const writer = await startKnowingWriter(kube, { namespace, name: 'up' }, 'upgrading');
  await until('fifty writes', async () => writer.acknowledged >= 50);

  for (const version of ['3.6.16', '3.7.3']) {
    const before = await stage().cluster('up');
    await stage().pushCluster('up', { version });
    const foretold = await foretell(stage(), 'up');
    const restarts = (found: EtcdCluster) =>
      upgraded(found).filter(({ generation }) => generation === found.metadata.generation);
    const leaderLast = watchLeader((found) => restarts(found).map(({ target }) => target));
    const isDone = runs(version);
    const after = await tickUntil(
      'up',
      (found) => {
        leaderLast.look(found);
        return isDone(found);
      },
      180,
    );
    t.diagnostic(assertForetold(foretold, after));
    assert.equal(restarts(after).length, 3, 'each once');
    leaderLast.assert(3);
    assert.equal(after.status?.clusterID, before.status?.clusterID);
  }
  const { acknowledged, lost, longestGap } = await writer.finish();
  assert.equal(lost, 0, `of ${acknowledged} acknowledged writes`);
  assert.ok(longestGap < longestGapAllowed, `a gap of ${longestGap.toFixed(0)} ms`);
  t.diagnostic(`longest gap ${longestGap.toFixed(0)} ms over ${acknowledged} writes`);
});

test('a quiet cluster of one born on 3.5 reaches 3.7: it takes a snapshot under 3.6 first', async () => {
  const { tickUntil, access } = stage();
  await stage().pushCluster('quiet', { replicas: 1, version: '3.5.35' });
  await tickUntil('quiet', runs('3.5.35'));
  await writeKey(await access('quiet'), 'old', 'written by 3.5');
  await stage().pushCluster('quiet', { replicas: 1, version: '3.6.16' });
  await tickUntil('quiet', runs('3.6.16'));
  await stage().pushCluster('quiet', { replicas: 1, version: '3.7.3' });
  const done = await tickUntil('quiet', runs('3.7.3'), 120);
  assert.ok(reasonsOf(done).includes('PreparingUpgrade'));
  assert.equal(await readKey(await access('quiet'), 'old'), 'written by 3.5');
});

test('one that was born on 3.6 needs no such thing', async () => {
  const { tickUntil, access } = stage();
  await stage().pushCluster('young', { replicas: 1 });
  await tickUntil('young', runs('3.6.16'));
  await writeKey(await access('young'), 'key', 'value');
  await stage().pushCluster('young', { replicas: 1, version: '3.7.3' });
  const done = await tickUntil('young', runs('3.7.3'), 120);
  assert.ok(!reasonsOf(done).includes('PreparingUpgrade'));
  assert.equal(await readKey(await access('young'), 'key'), 'value');
});

test('5 → 3 with 3.6 → 3.7 in one commit starts only the members anew that stay', async (t) => {
  const { tickUntil, access } = stage();
  await stage().pushCluster('fewer', { replicas: 5 });
  await tickUntil('fewer', runs('3.6.16'), 120);
  const writer = startWriter(await access('fewer'), 'fewer');
  await until('fifty writes', async () => writer.acknowledged >= 50);
  await stage().pushCluster('fewer', { replicas: 3, version: '3.7.3' });
  const foretold = await foretell(stage(), 'fewer');
  const done = await tickUntil('fewer', (found) => runs('3.7.3')(found) && found.status?.members?.length === 3, 180);
  t.diagnostic(assertForetold(foretold, done));
  assert.deepEqual(
    upgraded(done)
      .map(({ target }) => target)
      .toSorted(),
    ['fewer-0', 'fewer-1', 'fewer-2'],
  );
  const { acknowledged, lost } = await writer.finish();
  assert.deepEqual(lost, [], `of ${acknowledged} acknowledged writes`);
});

test('a commit that is reverted midway takes the upgraded members back; later it is refused', async () => {
  const { tickUntil, access } = stage();
  await stage().pushCluster('back', { version: '3.5.35' });
  await tickUntil('back', runs('3.5.35'));
  const writer = startWriter(await access('back'), 'reverting');
  await stage().pushCluster('back', { version: '3.6.16' });
  const mixed = await tickUntil(
    'back',
    // The step that sees it starts the second one anew; the third stays behind.
    (cluster) => versionsOf(cluster).filter((version) => version === '3.6.16').length === 1,
    120,
  );
  assert.equal(mixed.status?.clusterVersion, '3.5.0');
  assert.equal(mixed.status?.version, '3.5.35..3.6.16');
  await stage().pushCluster('back', { version: '3.5.35' });
  const back = await tickUntil('back', (cluster) => runs('3.5.35')(cluster), 120);
  assert.ok(reasonsOf(back).includes('RollingBackVersion'));

  await stage().pushCluster('back', { version: '3.6.16' });
  await tickUntil('back', runs('3.6.16'), 120);
  await stage().pushCluster('back', { version: '3.5.35' });
  const refused = await tickUntil('back', isStalledFor('DowngradeRefused'));
  assert.deepEqual(versionsOf(refused), ['3.6.16', '3.6.16', '3.6.16']);
  const { acknowledged, lost } = await writer.finish();
  assert.ok(acknowledged > 50);
  assert.deepEqual(lost, [], `of ${acknowledged} acknowledged writes`);
});

test('what etcd does not survive is refused by name, and the rest of the commit is honoured', async () => {
  const { tickUntil } = stage();
  await stage().pushCluster('no', { replicas: 1, version: '3.5.35' });
  await tickUntil('no', runs('3.5.35'));
  await stage().pushCluster('no', { replicas: 1, version: '3.7.3', etcd: { snapshotCount: 5000 } });
  const skipped = await tickUntil('no', isStalledFor('MinorSkipped'), 120);
  assert.match(condition(skipped, 'Stalled')?.message ?? '', /To go on: set spec\.version to a 3\.6 first/);
  assert.ok(reasonsOf(skipped).includes('RollingConfiguration'), 'the other option was given to the member');
  assert.deepEqual(versionsOf(skipped), ['3.5.35']);
});

test('an image that does not exist stops a cluster of one, and reverting the commit starts it', async () => {
  const { tickUntil } = stage();
  await stage().pushCluster('typo', { replicas: 1, version: '3.5.35' });
  await tickUntil('typo', runs('3.5.35'));
  await stage().pushCluster('typo', { replicas: 1, version: '3.6.99' });
  await tickUntil('typo', isStalledFor('ImageUnavailable'));
  await stage().pushCluster('typo', { replicas: 1, version: '3.5.35' });
  await tickUntil('typo', runs('3.5.35'), 120);
});
