import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { EtcdFleet } from '../../../manifests/api/etcd-fleet.ts';
import { waitForStage } from '../../../reconcile/cluster/decide/wait-for-stage.ts';
import type { ClusterObjects } from '../../../reconcile/cluster/observe/snapshot.ts';
import { heldByStages } from '../../../reconcile/cluster/observe/stages.ts';
import { behind } from './counted-objects.ts';
import { canary, eu, fleetOf, now, one, rest, resumed, stages } from './staged-objects.ts';

describe('a commit status of others', () => {
  const judged = (clusters: readonly ClusterObjects[], read: object | undefined, contexts = ['ci/smoke']) => {
    const { spec, status, ...others } = fleetOf(clusters);
    const told = { ...status, ...(read && { othersStatuses: read }) } as EtcdFleet['status'];
    const rollout = { stages, haltOnStatuses: contexts };
    return heldByStages(clusters, [{ ...others, spec: { ...spec, rollout }, status: told } as EtcdFleet], now);
  };
  const applied = 'a'.repeat(40);
  const clusters = [canary(), eu(behind), rest(behind)];

  test('halts all that have not begun when it fails on the commit that was applied', () => {
    const held = judged([canary(behind), eu(behind)], { sha: applied, failed: 'ci/smoke' });
    assert.deepEqual([...held.keys()], ['a', 'b']);
    const found = waitForStage({ stage: held.get('a') ?? assert.fail(), at: now });
    assert.deepEqual([found?.kind, found?.reason], ['refuse', 'RolloutHalted']);
    assert.match(found?.message ?? '', /^halted: commit status ci\/smoke failed \(spec\.rollout\.haltOnStatuses of/);
  });

  test('halts nothing while it has not failed', () => {
    assert.deepEqual([...judged(clusters, { sha: applied }).keys()], ['c']);
  });

  test('holds later stages until it was read for that commit, and not the first one', () => {
    for (const read of [undefined, { sha: 'b'.repeat(40) }, { sha: 'b'.repeat(40), failed: 'ci/smoke' }]) {
      const held = judged([canary(behind), ...clusters.slice(1)], read);
      assert.deepEqual([...held.keys()], ['b', 'c']);
      assert.match(held.get('b')?.why ?? '', /commit statuses ci\/smoke were not read yet/);
    }
  });

  test('halts no commit that is being applied, and may be the revert', () => {
    const { spec, status, ...others } = fleetOf(clusters);
    const revision = { applied: `main@sha1:${applied}`, attempted: `main@sha1:${'b'.repeat(40)}` };
    const told = { ...status, revision, othersStatuses: { sha: applied, failed: 'ci/smoke' } };
    const rollout = { stages, haltOnStatuses: ['ci/smoke'] };
    const of = { ...others, spec: { ...spec, rollout }, status: told } as EtcdFleet;
    const held = heldByStages([canary(behind), eu(behind)], [of], now);
    assert.deepEqual([...held.keys()], ['b']);
    assert.equal(held.get('b')?.halt, undefined);
  });

  test('that is asked for no more halts nothing', () => {
    assert.deepEqual([...judged(clusters, { sha: applied, failed: 'ci/smoke' }, ['ci/other']).keys()], ['c']);
  });

  test('halts nothing, read or not, where a person approved that this commit goes on', () => {
    for (const read of [undefined, { sha: applied, failed: 'ci/smoke' }]) {
      const of = { ...fleetOf(clusters), status: { ...fleetOf(clusters).status, othersStatuses: read } } as EtcdFleet;
      const fleet = resumed(of, { stages, haltOnStatuses: ['ci/smoke'] });
      assert.deepEqual([...heldByStages(clusters, [fleet], now).keys()], ['c']);
      const other = resumed(of, { stages, haltOnStatuses: ['ci/smoke'] }, 'b'.repeat(40));
      assert.ok(heldByStages(clusters, [other], now).has('b'));
    }
  });

  test('is not told to a label alone', () => {
    const stranger = one('x', { region: 'eu' }, behind);
    const { spec, ...others } = fleetOf(clusters);
    const rollout = { stages, haltOnStatuses: ['ci/smoke'] };
    const status = { ...others.status, othersStatuses: { sha: applied, failed: 'ci/smoke' } } as EtcdFleet['status'];
    const held = heldByStages(
      [...clusters, stranger],
      [{ ...others, spec: { ...spec, rollout }, status } as EtcdFleet],
      now,
    );
    assert.deepEqual(held.get('x'), { why: 'it is not known yet whether the cluster is one of that fleet' });
  });
});
