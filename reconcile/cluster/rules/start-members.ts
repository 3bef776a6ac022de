import { compareVersions, parseVersion } from '../../../manifests/api/version.ts';
import { inputsHash } from '../../../manifests/build/inputs-hash.ts';
import type { Ref } from '../actions.ts';
import type { Situation } from '../decide.ts';
import { act, type Decision } from '../decision.ts';
import type { Inputs } from '../effective.ts';
import { memberOf } from '../health.ts';
import { isHeldBack } from '../leftovers.ts';
import { recordOf } from '../life.ts';
import type { Slot } from '../observation.ts';
import { isOnOtherDisk } from '../sealed-disk.ts';
import { adoptable } from './adopt.ts';
import { isBehind } from './follow-volumes.ts';

/**
 * Peers that have everything but a StatefulSet get one.
 *
 * It comes after `beBorn` and `adopt`, which speak until every recorded member is prepared: none starts before all are
 * recorded. Without its volume nothing starts (I5).
 */
export function startMembers({ slots, life, effective, certificates, membership }: Situation): Decision | undefined {
  if (life.stage !== 'birth' && life.stage !== 'born') return undefined;
  // Nobody has looked at what they would mount.
  if (life.stage === 'birth' && certificates.kind === 'unknown') return undefined;
  // Nobody starts on settings that could not follow its volume, or on a volume of another birth that could not be discarded (I5).
  const due = slots.filter((slot) => isDue(slot, membership) && !isBehind(slot) && !life.strays.includes(slot));
  const peers = due.map(({ name }) => name);
  if (peers.length === 0) return undefined;
  const outdated = life.stage === 'birth' ? outdatedBeforeTheFirstStart(slots, effective.inputs) : [];
  if (outdated.length > 0) {
    return act(
      { kind: 'reconfigure-members', peers: outdated, inputs: effective.inputs },
      'UpdatingPeers',
      `giving ${outdated.map(({ name }) => name).join(', ')} the configuration that the spec now asks for, before the first start`,
    );
  }
  return act({ kind: 'start-members', peers }, 'StartingMembers', `starting ${peers.join(', ')}`);
}

/**
 * Started on what the spec once asked for, some would be Ready before they are told otherwise, and others not.
 *
 * Guards I6: never to a lower version. Pods that are gone may have run on the one that is recorded.
 */
function outdatedBeforeTheFirstStart(slots: readonly Slot[], inputs: Inputs): readonly Ref[] {
  const wanted = inputsHash(inputs);
  const version = parseVersion(inputs.version);
  if (slots.some(({ statefulSet, pod, endpoint }) => statefulSet || pod || endpoint.kind === 'known')) return [];
  if (slots.some(({ peer }) => peer && compareVersions(parseVersion(peer.inputs.version), version) > 0)) return [];
  // Who has lost the volume that is told of a version first is not told: the others would wait for it.
  return slots.flatMap(({ name, peer, volume }) =>
    peer?.current && volume && !volume.leaving && inputsHash(peer.inputs) !== wanted ? [{ name, uid: peer.uid }] : [],
  );
}

function isDue(slot: Slot, membership: Situation['membership']): boolean {
  const { peer, configMap, statefulSet } = slot;
  return peer !== undefined && configMap !== undefined && !statefulSet && mayStart(slot, membership);
}

function mayStart(slot: Slot, membership: Situation['membership']): boolean {
  const record = recordOf(slot);
  if (record === undefined || !adoptable[record.state] || slot.volume?.leaving) return false;
  if (isHeldBack(slot) || isOnOtherDisk(slot)) return false;
  return record.state !== 'joining' || isExpected(slot, membership);
}

/** Who joins before it is on the list exits, or, worse, would have to be told by whom it was once expected. */
function isExpected(slot: Slot, membership: Situation['membership']): boolean {
  return membership.kind === 'known' && memberOf(slot, membership.members)?.isLearner === true;
}
