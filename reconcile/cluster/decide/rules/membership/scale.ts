import type { VolumeRecord } from '../../../../../manifests/render/volume-record.ts';
import { inheritedIn } from '../../../know/adoption/inherited.ts';
import { sourceOfBirth } from '../../../know/backups/restore.ts';
import { floorOf } from '../../../know/backups/revisions.ts';
import { tokenOfAuthorities } from '../../../know/certificates/token.ts';
import { act, type Decision, wait } from '../../../know/decision.ts';
import { minAvailableFor, votersToProtect } from '../../../know/health/drains.ts';
import { memberOf } from '../../../know/health/health.ts';
import { recordOf, tlsForLife } from '../../../know/life.ts';
import { connectedIn } from '../../../know/membership/connecting.ts';
import { gaveUpBy, outvotedBy } from '../../../know/recovery/outvoted.ts';
import type { Situation } from '../../../know/situation.ts';
import { isOutOfSpace } from '../../../know/space/databases.ts';
import { learnersFail } from '../../failed-joins.ts';
import { firstStartOfLearner } from '../../first-start.ts';
import { freeName } from '../../free-name.ts';
import { startingInputs } from '../../held-version.ts';
import { removalOf } from '../../removal.ts';
import { waitForRoom } from '../../wait-for-room.ts';
import { waitToBegin } from '../../wait-for-window.ts';

/** More members than there are: the volume and the peer of one more are recorded, and `join` makes it a member. */
export function grow(situation: Situation): Decision | undefined {
  const { membership, effective } = situation;
  const ours = membership.kind === 'unknown' ? 0 : membership.members.length - inheritedIn(situation).length;
  if (membership.kind === 'unknown' || ours >= effective.replicas) return undefined;
  const member = joiner(situation);
  if (!member) return undefined;
  const failing = learnersFail(situation);
  if (failing) return failing;
  const crowded = waitForRoom(situation);
  if (crowded) return crowded;
  const connecting = untilConnected(situation);
  if (connecting) return connecting;
  const { clusterId } = membership;
  const { name, record } = member;
  const url = record.initialCluster.find((one) => one.name === name)?.url ?? '';
  const starts = firstStartOfLearner(situation, name, tokenOfAuthorities(situation.slots, record.token));
  const minAvailable = budgetWithOneMore(situation);
  return act(
    {
      kind: 'prepare-members',
      members: [member],
      inputs: { ...startingInputs(situation), storage: effective.newStorage },
      ...(minAvailable !== undefined && { shared: { objects: ['disruption-budget'], minAvailable } }),
      ...(starts && { starts: { ...starts, joins: { url, clusterId } } }),
    },
    'PreparingMember',
    starts
      ? `recording ${name}, adding it to the member list as a learner, which has no vote yet, and starting it`
      : `recording the volume and the peer of ${name}, a new member`,
  );
}

/** A learner that was promoted has often just started. To wait costs nothing; to be refused costs a step. */
function untilConnected(situation: Situation): Decision | undefined {
  const milliseconds = connectedIn(situation);
  if (milliseconds <= 0) return undefined;
  return wait('MembersConnecting', 'a member has just started: etcd adds another one when it is connected for 5 s', {
    on: 'time',
    afterSeconds: milliseconds / 1000,
  });
}

/** The disruption budget's number with one more member; `undefined`: it is right, or not ours to write. */
function budgetWithOneMore(situation: Situation): number | undefined {
  const { disruptionBudget } = situation.shared;
  if (disruptionBudget.state !== 'present' && disruptionBudget.state !== 'missing') return undefined;
  const wanted = minAvailableFor(votersToProtect(situation) + 1, situation);
  return wanted === (disruptionBudget.minAvailable ?? 0) ? undefined : wanted;
}

/** The next member, as its volume records it. */
export function joiner(
  situation: Situation,
  { version } = startingInputs(situation),
): { readonly name: string; readonly record: VolumeRecord } | undefined {
  const { membership, effective, life, slots } = situation;
  if (membership.kind === 'unknown' || life.stage !== 'born') return undefined;
  const { members, clusterId } = membership;
  const outvoted = outvotedBy(slots);
  const gaveUp = gaveUpBy(slots);
  const revisionFloor = floorOf(situation, life);
  const authoritiesOf = tokenOfAuthorities(slots, life.token);
  const restoredFrom = sourceOfBirth(slots, life.token);
  const { name, url } = freeName(situation, members);
  const others = members.map((member) => ({ name: member.name, url: member.peerURLs[0] ?? '' }));
  const record: VolumeRecord = {
    token: life.token,
    initialCluster: [...others, { name, url }],
    clusterId,
    version,
    ...tlsForLife(effective.inputs),
    state: 'joining',
    ...(outvoted.length > 0 && { outvoted }),
    ...(restoredFrom !== undefined && { restoredFrom }),
    ...(revisionFloor !== undefined && { revisionFloor }),
    ...(gaveUp.length > 0 && { gaveUp }),
    ...(authoritiesOf !== life.token && { authoritiesOf }),
  };
  return { name, record };
}

/**
 * The same as `shrink`, before members that are to be removed are restarted for another version or configuration. Steps
 * that other rules have begun come first: between two versions the removed member may be the last that never ran the
 * higher one, and so the only way back (I6); and a cluster that is out of space first gets its quota.
 */
export function shrinkFirst(situation: Situation): Decision | undefined {
  const isSettled = runOneVersion(situation) && !isOutOfSpace(situation.slots);
  return isSettled ? shrink(situation) : undefined;
}

/** Every member was given one version, runs it, and its volume has recorded that. */
function runOneVersion({ slots }: Situation): boolean {
  const ours = slots.filter(({ peer }) => peer?.current);
  const versions = ours.flatMap((slot) => {
    const { version, nextVersion = version } = recordOf(slot) ?? {};
    const runs = slot.endpoint.kind === 'known' ? slot.endpoint.status.version : undefined;
    return [slot.peer?.inputs.version, version, nextVersion, runs];
  });
  return new Set(versions).size === 1;
}

/**
 * Fewer members than there are: the one with the highest ordinal is removed, compared as numbers; a leader hands
 * leadership over first.
 *
 * Guards I1: all are healthy, and it is one at a time.
 */
export function shrink(situation: Situation): Decision | undefined {
  const { membership, effective, life, slots } = situation;
  if (membership.kind === 'unknown' || life.stage !== 'born') return undefined;
  const { members } = membership;
  // No members asked for means hibernation, not removal.
  if (effective.replicas === 0 || members.length <= effective.replicas) return undefined;
  const [last] = slots
    .filter((slot) => memberOf(slot, members) && recordOf(slot))
    .toSorted((a, b) => b.ordinal - a.ordinal);
  const member = last && memberOf(last, members);
  if (!last || !member) return undefined;
  const held = waitToBegin(situation);
  if (held) return held;
  return act(
    removalOf(last, member, membership.clusterId, situation),
    'RemovingMember',
    `removing ${last.name} from the member list: the spec asks for fewer members`,
  );
}
