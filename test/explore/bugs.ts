import type { MemberSeen } from '../../reconcile/cluster/act/requests/host.ts';
import { deleteVolume, readVolume, writeRecord } from '../../reconcile/cluster/act/requests/volumes.ts';
import { rules } from '../../reconcile/cluster/decide/decide.ts';
import { removalOf } from '../../reconcile/cluster/decide/removal.ts';
import type { Action, ActionOf } from '../../reconcile/cluster/know/action.ts';
import { act, type Decision } from '../../reconcile/cluster/know/decision.ts';
import { memberOf } from '../../reconcile/cluster/know/health/health.ts';
import { recordOf } from '../../reconcile/cluster/know/life.ts';
import { type Rule, situate } from '../../reconcile/cluster/know/situation.ts';
import type { Request, Program as Requests } from '../../reconcile/requests/program.ts';
import { adoptionBugs } from './adoption-bugs.ts';
import { authBugs } from './auth-bugs.ts';
import { backupBugs } from './backup-bugs.ts';
import { handBugs } from './hand-bugs.ts';
import { healingBugs } from './healing-bugs.ts';
import { namesBugs } from './names-bugs.ts';
import { outageBugs } from './outage-bugs.ts';
import { recoveryBugs } from './recovery-bugs.ts';
import { restoreBugs } from './restore-bugs.ts';
import { revisionBugs } from './revision-bugs.ts';
import type { Scenario } from './scenario.ts';
import { scenarios } from './scenarios.ts';
import { type Bug, edited, first, instead, passedOn, unchecked, undone } from './seeding.ts';

/**
 * Bugs that are put in on purpose, one or more for each invariant: a search that does not find them searches nothing.
 * What must never happen is guarded more than once (a rule, a look just before, what etcd or the API server refuse), so
 * that some of these take several of the guards away.
 */
export const bugs: readonly Bug[] = [
  {
    name: 'restarts-at-once',
    what: 'an outdated pod is deleted, whoever else is ill, without another look',
    violates: 'I1',
    scenario: 'configuration',
    faults: { crash: 1 },
    seed: (code) =>
      unchecked(instead(code, 'finishRolling', restartAtOnce), 'restart-member', {
        readOtherPods: () => ({ notReady: [], leaving: [] }),
      }),
  },
  {
    name: 'goes-on-removing',
    what: 'the next member is removed while the removal of another is unfinished, without another look',
    violates: 'I2',
    scenario: 'shrink 5 to 3',
    faults: { death: 1 },
    seed: (code) =>
      unchecked(instead(code, 'finishRemoval', removeNext), 'remove-member', { listOtherVolumes: () => [] }),
  },
  {
    name: 'adds-voters',
    what: 'a member is added as a voter',
    violates: 'I3',
    scenario: 'grow 1 to 3',
    faults: {},
    seed: (code) => ({ ...code, addsVoters: true }),
  },
  {
    name: 'deletes-first',
    what: 'the volume of a member that leaves is deleted before the member is removed',
    violates: 'I4',
    scenario: 'shrink 3 to 1',
    faults: {},
    seed: (code) => edited(code, 'remove-member', deletedFirst),
  },
  {
    name: 'seals-halfway',
    what: 'sealing a volume leaves its ConfigMap as it is, and nobody looks',
    violates: 'I5',
    scenario: '1 to 3, and back',
    faults: { wipe: 1 },
    seed: (code) => {
      const halfway = edited(code, 'seal-members', ({ kind }) => (kind === 'writeConfigMap' ? undone() : undefined));
      return unchecked(
        instead(halfway, 'keepConfigMaps', () => undefined),
        'promote-learner',
        { readConfigMap: (found: object) => ({ ...found, immutable: true }) },
      );
    },
  },
  {
    name: 'overlooks-the-service',
    what: 'a cluster without a status is born anew, whose Service for clients is open',
    violates: 'I5',
    scenario: 'all of 1 by hand',
    faults: { claim: 1, peer: 1, status: 1 },
    seed: (code) => ({
      ...code,
      decide: (observation) => {
        const { shared, slots } = observation;
        if (slots.length > 0) return code.decide(observation);
        return code.decide({ ...observation, shared: { ...shared, clientService: { state: 'missing' } } });
      },
    }),
  },
  {
    name: 'skips-minors',
    what: 'the version is taken as the spec says it',
    violates: 'I6',
    scenario: '3.5 to 3.7 by way of 3.6',
    faults: {},
    seed: (code) => ({
      ...code,
      decide: (observation) => {
        const { effective, ...situation } = situate(observation);
        const { version } = observation.cluster.spec;
        const { pending: _, ...rest } = effective;
        return first(rules, { ...situation, effective: { ...rest, inputs: { ...effective.inputs, version } } });
      },
    }),
  },
  {
    name: 'claims-blindly',
    what: 'a claim does not carry the resourceVersion that was looked at',
    violates: 'I7',
    scenario: 'birth of 1',
    faults: { second: 1 },
    seed: (code) => ({ ...code, comparesClaims: false }),
  },
  {
    name: 'writes-blindly',
    what: 'updates and deletes do not carry what was read',
    violates: 'I7',
    scenario: 'upgrade, and back',
    faults: { late: 1 },
    seed: (code) => ({ ...code, fencesWrites: false }),
  },
  {
    name: 'removes-blindly',
    what: 'a member is removed without asking the others, and etcd is told not to check either',
    violates: 'I9',
    scenario: 'heal while it shrinks',
    faults: { wipe: 1 },
    seed: (code) => {
      const unasked = unchecked(instead(code, 'heal', removeNext), 'remove-member', {
        askMembers: followedBy,
        listOtherVolumes: () => [],
      });
      return { ...unasked, letsAnythingGo: true };
    },
  },
  ...recoveryBugs,
  ...restoreBugs,
  ...revisionBugs,
  ...backupBugs,
  ...adoptionBugs,
  ...healingBugs,
  ...handBugs,
  ...outageBugs,
  ...namesBugs,
  ...authBugs,
  {
    name: 'leaves-removals',
    what: 'a removal that was begun is not finished',
    violates: 'convergence',
    scenario: 'shrink 3 to 1',
    faults: { death: 1 },
    seed: (code) => instead(code, 'finishRemoval', () => undefined),
  },
];

/** As small as it may be to find it. @throws when there is none of that name. */
export function scenarioOf({ scenario: name, faults }: Bug): Scenario {
  const scenario = scenarios.find((one) => one.name === name);
  if (!scenario) throw new Error(`there is no scenario "${name}"`);
  const atMost = Object.values(faults).reduce((sum, times) => sum + times, 0);
  return { ...scenario, faults, atMost };
}

function restartAtOnce({ slots, membership }: Parameters<Rule>[0]): Decision | undefined {
  const old = slots.find(({ pod }) => pod?.upToDate === 'no' && pod.ready && !pod.leaving);
  if (!old?.pod || membership.kind === 'unknown') return undefined;
  const pod = { name: old.name, uid: old.pod.uid };
  return act({ kind: 'restart-member', pod, by: 'deletion' }, 'FinishingRolling', `starting ${old.name} anew`);
}

function removeNext(situation: Parameters<Rule>[0]): Decision | undefined {
  const { slots, membership, effective } = situation;
  if (membership.kind === 'unknown' || membership.members.length <= effective.replicas) return undefined;
  const next = slots.findLast((slot) => recordOf(slot)?.state === 'sealed' && memberOf(slot, membership.members));
  const member = next && memberOf(next, membership.members);
  if (!next || !member) return undefined;
  return act(removalOf(next, member, membership.clusterId, situation), 'RemovingMember', `removing ${next.name}`);
}

/** Whatever they say, all that could be asked follow a leader. */
function followedBy(answers: readonly MemberSeen[], { clusterId }: ActionOf<'remove-member'>): readonly MemberSeen[] {
  const leader = answers.find((one) => one.leader !== '0')?.leader ?? '1';
  return Array.from({ length: 9 }, (_, index) => ({
    ...{ name: '', memberId: '', clusterId, leader, revision: '0' },
    ...answers[index % Math.max(1, answers.length)],
  }));
}

function deletedFirst(request: Request, action: Action): Requests<unknown> | undefined {
  if (action.kind !== 'remove-member' || request.kind !== 'removeFromList') return undefined;
  return (function* () {
    const found = yield* readVolume({ name: action.name });
    if (found) {
      const readAt = yield* writeRecord({ readAt: found.readAt, record: { ...found.record, state: 'released' } });
      yield* deleteVolume({ uid: found.uid, readAt });
    }
    return yield* passedOn(request);
  })();
}
