import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { EtcdFleet } from '../../../manifests/api/etcd-fleet.ts';
import { annotations, approverOf } from '../../../manifests/render/names.ts';
import type { FleetOutcome } from '../../../reconcile/fleet/outcome.ts';
import { verdictsOf } from '../../../reconcile/fleet/roll-up.ts';
import { isResumed } from '../../../reconcile/fleet/rollout-approval.ts';
import { fleetStatus } from '../../../reconcile/fleet/status.ts';
import { clusterOf, conditions } from './objects.ts';

const url = 'https://git.example.com/etcd.git';
const sha = 'a'.repeat(40);
const revision = `main@sha1:${sha}`;
const annotation = annotations.resumeRollout;
const notByAuthor = {
  people: [
    { usernames: ['ada'], signers: ['ada@example.com'] },
    { usernames: ['grace'], signers: ['grace@example.com'] },
  ],
};

const confirm = {
  ...{ reason: 'PruneNeedsConfirmation', annotation: annotations.confirmPrune },
  ...{ value: 'b/0', approves: 'these 2', loses: 'their data' },
};

function fleet(given: Readonly<Record<string, string>> = {}, spec: Partial<EtcdFleet['spec']> = {}): EtcdFleet {
  return {
    ...{ apiVersion: 'etcd.ratchet.dev/v1alpha1', kind: 'EtcdFleet' },
    metadata: { namespace: 'platform', name: 'production', uid: 'f', generation: 1, annotations: given },
    spec: { git: { url, ref: 'main', verify: { configMapName: 'signers' } }, ...spec },
    status: {
      observedGeneration: 1,
      revision: { attempted: revision, applied: revision },
      verification: { revision, url, mode: 'Head', signedBy: 'ada@example.com', key: 'K' },
      approvals: [confirm],
    },
  } as EtcdFleet;
}

const approved = (by?: string, value = sha) => ({
  [annotation]: value,
  ...(by !== undefined && { [approverOf(annotation)]: by }),
});

const halted = clusterOf(
  'orders',
  {},
  {
    observedGeneration: 1,
    conditions: conditions(['Ready', 'False'], ['Stalled', 'True', 'halted: the leader of shop/a changed']),
    lastDecision: { kind: 'Refuse', reason: 'RolloutHalted', message: 'halted: the leader of shop/a changed' },
  },
);

/** As a follow-up asks, which does not look at Git, or as this outcome says. */
function asked(of: EtcdFleet, clusters = [halted], outcome: Partial<FleetOutcome> = {}) {
  const reading = { kind: 'skipped', because: 'follow-up' };
  const report = { fleet: of, outcome: { reading, retries: [], ...outcome }, clusters: verdictsOf(clusters) };
  const { approvals } = fleetStatus({ ...report, now: new Date() } as never);
  return (approvals ?? []).filter((one) => one.annotation === annotation);
}

describe('a halted rollout', () => {
  test('asks for an approval of the commit that was applied, and says what halts it', () => {
    assert.deepEqual(asked(fleet()), [
      {
        ...{ reason: 'RolloutHalted', annotation, value: sha },
        approves: `clusters that have not begun take commit ${sha} all the same; ${halted.metadata.namespace}/orders: halted: the leader of shop/a changed`,
        loses: 'nothing by itself: what hurts where the commit is may hurt each cluster that takes it',
      },
    ]);
    assert.equal(isResumed(fleet(), []), false);
  });

  test('goes on once it is given, and asks no more', () => {
    assert.equal(isResumed(fleet(approved()), []), true);
    assert.deepEqual(asked(fleet(approved())), []);
  });

  test('does not go on by an approval of another commit', () => {
    const other = fleet(approved(undefined, 'b'.repeat(40)));
    assert.equal(isResumed(other, []), false);
    assert.equal(asked(other)[0]?.value, sha);
  });

  test('does not go on by an approval of its author, where the fleet asks for four eyes', () => {
    const own = fleet(approved('ada'), { approvals: { notByAuthor } });
    assert.equal(isResumed(own, []), false);
    assert.match(asked(own)[0]?.refused ?? '', /^ada gave it, and signed/);
    assert.equal(isResumed(fleet(approved('grace'), { approvals: { notByAuthor } }), []), true);
  });

  test('neither goes on nor asks while another commit is being applied, which may be the revert', () => {
    const other = fleet(approved());
    const applying = { ...other.status, revision: { applied: revision, attempted: `main@sha1:${'b'.repeat(40)}` } };
    const of = { ...other, status: applying } as EtcdFleet;
    assert.equal(isResumed(of, []), false);
    assert.deepEqual(asked(of), []);
  });

  test('does not go on by an approval of whom signed an earlier commit that clusters do not do yet', () => {
    const by = (who: string, signers: readonly string[]) => {
      const of = fleet(approved(who), { approvals: { notByAuthor } });
      const signedBy = { ...(of.status?.verification ?? assert.fail()), signedBy: 'grace@example.com' };
      const status = { ...of.status, verification: signedBy } as EtcdFleet['status'];
      const clusters = [clusterOf('orders', {}, { observedGeneration: 1, ...halted.status, signers })] as const;
      return isResumed({ ...of, ...(status && { status }) }, clusters);
    };
    assert.equal(by('ada', []), true);
    assert.equal(by('ada', ['ada@example.com']), false);
  });

  test('asks nothing for what was halted of an earlier spec', () => {
    const before = clusterOf('orders', { generation: 2 }, halted.status);
    assert.deepEqual(asked(fleet(), [before]), []);
  });

  test('cuts what an earlier release asked in longer words', () => {
    const { status, ...rest } = fleet();
    const long = { ...confirm, approves: 'x'.repeat(2000) };
    const of = { ...rest, status: { ...status, approvals: [long] } } as EtcdFleet;
    const report = { fleet: of, outcome: { reading: { kind: 'skipped' }, retries: [] }, now: new Date(), clusters: [] };
    const { approvals } = fleetStatus(report as never);
    assert.equal(approvals?.[0]?.approves.length, 850);
  });

  test('asks nothing where no cluster is halted, or nothing was applied', () => {
    assert.deepEqual(asked(fleet(), []), []);
    const { revision: _, ...status } = fleet().status ?? assert.fail();
    assert.deepEqual(asked({ ...fleet(), status }), []);
    assert.equal(isResumed({ ...fleet(approved()), status }, []), false);
  });

  test('asks beside a prune, which is asked for by another annotation', () => {
    const report = { fleet: fleet(), outcome: { reading: { kind: 'skipped' }, retries: [] }, now: new Date() };
    const { approvals } = fleetStatus({ ...report, clusters: verdictsOf([halted]) } as never);
    assert.deepEqual(
      approvals?.map((one) => one.annotation),
      [annotations.confirmPrune, annotation],
    );
  });
});
