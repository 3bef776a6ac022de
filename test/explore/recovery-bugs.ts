import { annotations } from '../../manifests/render/names.ts';
import type { VolumeRecord } from '../../manifests/render/volume-record.ts';
import type { Remains } from '../../reconcile/cluster/act/requests/before-recovery.ts';
import { readVolume, writeRecord } from '../../reconcile/cluster/act/requests/volumes.ts';
import { awaitQuorum } from '../../reconcile/cluster/decide/rules/recovery/await-quorum.ts';
import { recoverQuorum } from '../../reconcile/cluster/decide/rules/recovery/recover-quorum.ts';
import type { Action, ActionOf } from '../../reconcile/cluster/know/action.ts';
import { type Decision, wait } from '../../reconcile/cluster/know/decision.ts';
import { isBeingRecovered, recordOf } from '../../reconcile/cluster/know/life.ts';
import type { Slot } from '../../reconcile/cluster/know/observation.ts';
import { approvalGiven } from '../../reconcile/cluster/know/recovery/lost.ts';
import type { Situation } from '../../reconcile/cluster/know/situation.ts';
import type { Request, Program as Requests } from '../../reconcile/requests/program.ts';
import type { Code } from './model/code.ts';
import { lacking } from './model/state.ts';
import { type Bug, edited, instead, unchecked } from './seeding.ts';

/** Bugs in how a recovery is done: each takes one of its guards away. */
export const recoveryBugs: readonly Bug[] = [
  {
    name: 'approves-anything',
    what: 'an approval is taken for any loss, whatever it was given for',
    violates: 'I9',
    scenario: 'quorum of 3 comes back, and goes',
    faults: { returns: 1, cut: 1 },
    seed: (code) => comparingNothing(instead(code, 'awaitQuorum', withAnyApproval)),
  },
  {
    name: 'prefers-less',
    what: 'of two survivors that were started anew, the one with less data is gone on from',
    violates: 'I9',
    scenario: 'quorum of 4 lost, started anew',
    faults: {},
    seed: (code) =>
      unchecked(
        instead(code, 'awaitQuorum', (situation) => awaitQuorum(withLessFirst(situation))),
        'begin-recovery',
        { askRemains: (remains: Remains, { raftIndex }: BeginRecovery) => allAt(remains, raftIndex) },
      ),
  },
  {
    name: 'outvotes-nobody',
    what: 'a recovery does not write down whom it leaves behind',
    violates: 'I10',
    scenario: 'forced in place, a node comes back',
    faults: { returns: 2 },
    seed: (code) => ({
      ...edited(instead(code, 'recoverQuorum', withoutOutvoting), 'begin-recovery', leavingNobodyBehind),
      readsAtOnce: true,
    }),
  },
  {
    name: 'forgets-outvoted',
    what: 'a volume that was left behind is believed, whatever the others remember of it',
    violates: 'I10',
    scenario: 'forced in place, lost volumes come back',
    faults: { restore: 2, crash: 1 },
    seed: (code) => ({ ...code, remembersOutvoted: false }),
  },
  {
    name: 'forces-unfenced',
    what: 'the cluster is forced although its members may still run on nodes that are not heard',
    violates: 'I10',
    scenario: 'forced in place, cut off, and comes back',
    faults: { returns: 2 },
    seed: (code) => ({ ...instead(code, 'recoverQuorum', withoutFences), readsAtOnce: true }),
  },
  {
    name: 'begins-unfenced',
    what: 'a new life begins although members of the one before may still run on nodes that are not heard',
    violates: 'I11',
    scenario: 'quorum of 3 cut off, and comes back',
    faults: { force: 2 },
    seed: (code) => ({ ...instead(code, 'recoverQuorum', withoutFences), readsAtOnce: true }),
  },
  {
    name: 'begins-too-low',
    what: 'a new life goes on with the revisions of the one before',
    violates: 'I17',
    scenario: 'revisions, quorum of 3 lost',
    faults: { writes: 1 },
    seed: (code) => instead(code, 'recoverQuorum', withoutBump),
  },
  {
    name: 'forces-twice',
    what: 'a Job does not ask the disk whether its attempt, or a later one, has run',
    violates: 'I10',
    scenario: 'recovery, and its Job is lost',
    faults: { late: 1 },
    seed: (code) => ({ ...code, countsAttempts: false }),
  },
  {
    name: 'never-repeats',
    what: 'a Job that was lost is waited for',
    violates: 'convergence',
    scenario: 'recovery, and its Job is lost',
    faults: { kill: 1 },
    seed: (code) =>
      instead(code, 'recoverQuorum', (situation) => {
        const decision = recoverQuorum(situation);
        return decision?.reason === 'RepeatingRecovery' ? wait('RecoveringData', decision.message) : decision;
      }),
  },
];

/** Whatever it says, it is read as what is asked for now. */
function withAnyApproval(situation: Situation): Decision | undefined {
  const decision = awaitQuorum(situation);
  if (decision?.kind !== 'refuse' || approvalGiven(situation) === undefined) return decision;
  const [, text] = new RegExp(`${annotations.recoverQuorum}=(\\S+)$`).exec(decision.cure) ?? [];
  if (text === undefined) return decision;
  const { cluster } = situation;
  const metadata = { ...cluster.metadata, annotations: { [annotations.recoverQuorum]: text } };
  return awaitQuorum({ ...situation, cluster: { ...cluster, metadata } });
}

/** Nor does the action look at what was approved. */
function comparingNothing(code: Code): Code {
  return {
    ...code,
    run: (action, claimed) => {
      if (action.kind !== 'begin-recovery') return code.run(action, claimed);
      return code.run(action, { ...claimed, annotations: { [annotations.recoverQuorum]: action.approval } });
    },
  };
}

type BeginRecovery = ActionOf<'begin-recovery'>;

/** As if the metrics of each were those of the other. */
function withLessFirst(situation: Situation): Situation {
  const applied = situation.slots.flatMap(({ endpoint }) =>
    endpoint.kind === 'unknown' && endpoint.metrics ? [endpoint.metrics.applied] : [],
  );
  const slots = situation.slots.map((slot): Slot => {
    const { endpoint } = slot;
    if (endpoint.kind === 'known' || !endpoint.metrics) return slot;
    const other = applied.find((index) => index !== endpoint.metrics?.applied) ?? endpoint.metrics.applied;
    return { ...slot, endpoint: { ...endpoint, metrics: { ...endpoint.metrics, applied: other } } };
  });
  return { ...situation, slots };
}

function allAt({ quorum, logs }: Remains, raftIndex: string): Remains {
  return { quorum, logs: logs.map((log) => ({ ...log, raftIndex })) };
}

/** As if everybody had been told already. */
function withoutOutvoting(situation: Situation): Decision | undefined {
  const chosen = situation.slots.find(isBeingRecovered);
  if (!chosen || recordOf(chosen)?.state !== 'recovering') return recoverQuorum(situation);
  const slots = situation.slots.map((slot) => (slot === chosen ? slot : withState(slot, 'superseded')));
  return recoverQuorum({ ...situation, slots });
}

function withState(slot: Slot, state: VolumeRecord['state']): Slot {
  const record = recordOf(slot);
  if (!slot.volume || !record) return slot;
  return { ...slot, volume: { ...slot.volume, record: { kind: 'valid', record: { ...record, state } } } };
}

/** Only the volume that the cluster goes on from is marked, and it names nobody; the others are not even looked at. */
function leavingNobodyBehind({ kind, ask }: Request, action: Action): Requests<unknown> | undefined {
  if (action.kind !== 'begin-recovery') return undefined;
  if (kind === readVolume.kind) {
    const { name } = ask as Parameters<typeof readVolume>[0];
    return name === action.volume.name ? undefined : nothing();
  }
  if (kind !== writeRecord.kind) return undefined;
  const { readAt, record } = ask as Parameters<typeof writeRecord>[0];
  return writeRecord({ readAt, record: lacking(record, 'outvoted') });
}

function* nothing(): Requests {}

function withoutBump(situation: Situation): Decision | undefined {
  const decision = recoverQuorum(situation);
  if (decision?.kind !== 'act' || decision.action.kind !== 'force-new-cluster') return decision;
  const { begins } = decision.action;
  return begins ? { ...decision, action: { ...decision.action, begins: { ...begins, bump: 0 } } } : decision;
}

/** As if nothing were seen of anybody. */
function withoutFences(situation: Situation): Decision | undefined {
  const decision = recoverQuorum(situation);
  if (decision?.reason !== 'MemberNotFenced' && decision?.reason !== 'FencingMembers') return decision;
  const { recovery } = situation;
  const slots = situation.slots.map((slot) => lacking(slot, 'pod', 'statefulSet'));
  return recoverQuorum({
    ...situation,
    slots,
    ...(recovery?.kind === 'known' && { recovery: { ...recovery, nodes: {} } }),
  });
}
