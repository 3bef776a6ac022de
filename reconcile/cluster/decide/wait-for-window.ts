import { formatVersion, parseVersion } from '../../../manifests/api/version.ts';
import { inputsHash } from '../../../manifests/render/inputs-hash.ts';
import type { Reason } from '../../reasons/reasons.ts';
import { openingOf } from '../../time/due.ts';
import { timestamp } from '../../time/timestamp.ts';
import { type Decision, refuse, wait } from '../know/decision.ts';
import { hasDeparted, recordOf } from '../know/life.ts';
import type { Situation } from '../know/situation.ts';
import type { Inputs } from '../know/spec/inputs.ts';
import { hasBegun } from '../know/versions/begun.ts';
import { waitForRoom } from './wait-for-room.ts';
import { waitForStage } from './wait-for-stage.ts';

/**
 * For changes that applications may notice and that can wait: a restart, an upgrade and the backup before it, a
 * defragmentation, a removal. They begin within a window of `spec.maintenance`, and while there is room in the fleet.
 * What has begun goes on.
 *
 * @param hasRoom it takes the room of its fleet already
 * @returns `undefined`: it may begin.
 */
export function waitToBegin(situation: Situation, hasRoom = false): Decision | undefined {
  return waitForWindow(situation) ?? (hasRoom ? undefined : waitForRoom(situation));
}

/** The same for what a commit changed in members: it waits for the stages of its fleet, too. */
export function waitToRoll(situation: Situation, hasRoom = false): Decision | undefined {
  return waitForTurn(situation) ?? waitForWindow(situation) ?? waitForRoomToRoll(situation, hasRoom);
}

/**
 * The same for an upgrade. The backup before it is its beginning: else one that takes longer than the window would be
 * too old in the next one, and be taken again in each.
 */
export function waitToUpgrade(situation: Situation, hasRoom = false): Decision | undefined {
  const { awaitedBackup: view } = situation;
  const isBackedUp = view?.before === 'upgrade' && view.kind === 'known' && !view.tooOld;
  if (!isBackedUp) return waitToRoll(situation, hasRoom);
  return waitForTurn(situation) ?? waitForRoomToRoll(situation, hasRoom);
}

/** After the window: what waits for that must keep no room from what may begin. */
function waitForRoomToRoll(situation: Situation, hasRoom: boolean): Decision | undefined {
  return waitUntilMeasured(situation) ?? (hasRoom ? undefined : waitForRoom(situation));
}

/** After a soak of days the rest of an upgrade waits as if it began. */
export function waitToGoOn(situation: Situation): Decision | undefined {
  return untilOpen(situation) ?? waitForRoom(situation);
}

/** What gives members what the spec asks for: as a roll of all, or of some that are down, or new. */
const rolls: readonly string[] = ['RollingConfiguration', 'UpgradingMember', 'RollingBackVersion'] satisfies Reason[];
const byTheWay: readonly string[] = [
  ...(['CuringConfiguration', 'CorrectingTemplates', 'ReplacingMember'] satisfies Reason[]),
  ...(['PreparingMember', 'PreparingMembers', 'UpdatingPeers', 'WakingMembers'] satisfies Reason[]),
];
/** The same, where the step is a `change-template`: other steps with these reasons change no template. */
const cures: readonly string[] = ['NoSpace', 'ReloadingAuthorities'] satisfies Reason[];

/**
 * Whether a roll is half done: members differ, and the last step that made them differ was one of a roll. One that was
 * cured or made anew on the new configuration, because it was down, or that got a larger quota in an outage, begins no
 * roll of the others. Without a history the answer is no: then it waits, which costs time only.
 */
function isHalfDone({ slots, cluster, effective }: Situation): boolean {
  if (hasBegun(effective.inputs.version, slots)) return true;
  const given = slots.flatMap(({ peer, statefulSet }) =>
    peer?.current ? [inputsHash(peer.inputs), ...(statefulSet ? [statefulSet.inputsHash] : [])] : [],
  );
  if (new Set(given).size < 2) return false;
  const made = cluster.status?.history?.findLast(
    ({ reason, action }) =>
      [...rolls, ...byTheWay].includes(reason) || (action === 'change-template' && cures.includes(reason)),
  );
  return made !== undefined && rolls.includes(made.reason);
}

/** For the stages of its fleet, and what halts it. */
function waitForTurn(situation: Situation): Decision | undefined {
  return situation.stage?.isRoom ? undefined : heldByFleet(situation);
}

/** For clusters that have begun, of which it is not known yet what they count. */
function waitUntilMeasured(situation: Situation): Decision | undefined {
  return situation.stage?.isRoom ? heldByFleet(situation) : undefined;
}

/**
 * For either. It has begun where a member has exactly what is wanted, or was told that version: so a next commit waits
 * in the middle of a roll, and a revert of what is half done does not. New CAs are no commit's.
 */
export function heldByFleet(situation: Situation): Decision | undefined {
  const held = waitForStage(situation);
  if (!held) return undefined;
  const { slots, effective } = situation;
  const { inputs } = effective;
  const [wanted, version] = [inputsHash(inputs), formatVersion(parseVersion(inputs.version))];
  const given = slots.flatMap(({ peer }) => (peer?.current ? [peer.inputs] : []));
  const isTold = slots.some((slot) => recordOf(slot)?.rollsTo === version && !hasDeparted(slot));
  if (isTold || given.some((one) => inputsHash(one) === wanted)) return undefined;
  const trusting = ({ tls: { trust } }: Inputs) =>
    inputsHash({ ...inputs, tls: { ...inputs.tls, ...(trust && { trust }) } });
  return given.every((one) => inputsHash(one) === trusting(one)) ? undefined : held;
}

function waitForWindow(situation: Situation): Decision | undefined {
  return isHalfDone(situation) ? undefined : untilOpen(situation);
}

function untilOpen({ cluster, at }: Situation): Decision | undefined {
  const opening = openingOf(cluster.spec.maintenance?.windows, at);
  switch (opening.kind) {
    case 'open':
      return undefined;
    case 'unreadable':
      return refuse(
        'InvalidWindow',
        `spec.maintenance.${opening.problem}: a change that can wait does not begin`,
        'correct that window of spec.maintenance.windows, or remove it',
      );
    case 'shut': {
      const { opensAt } = opening;
      const opens = opensAt ? `the next opens at ${timestamp(opensAt)}` : 'none ever opens';
      const afterSeconds = opensAt ? Math.ceil((opensAt.getTime() - at.getTime()) / 1000) : 3600;
      return wait(
        'OutsideWindows',
        `a change that applications may notice begins within a window of spec.maintenance.windows: ${opens}`,
        { on: 'time', afterSeconds },
      );
    }
  }
}
