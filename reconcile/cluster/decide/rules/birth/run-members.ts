import { compareVersions, parseVersion } from '../../../../../manifests/api/version.ts';
import { inputsHash } from '../../../../../manifests/render/inputs-hash.ts';
import { act, type Decision } from '../../../know/decision.ts';
import { memberOf } from '../../../know/health/health.ts';
import { isBlockedByLeftovers } from '../../../know/leftovers.ts';
import { recordOf } from '../../../know/life.ts';
import type { Slot } from '../../../know/observation.ts';
import type { Ref } from '../../../know/ref.ts';
import type { Situation } from '../../../know/situation.ts';
import type { Inputs } from '../../../know/spec/inputs.ts';
import { isOnOtherDisk } from '../../../know/volumes/sealed-disk.ts';
import { configureBeforeStart } from '../../configure-before-start.ts';
import { isBehind } from '../volumes/keep-config-maps.ts';
import { adoptable } from './adopt.ts';

/**
 * Peers that have everything but a StatefulSet get one.
 *
 * It stands below `beBorn` and `adopt`, which act until every recorded member is prepared: no member starts before all
 * are recorded. No member starts without its volume (I5).
 */
export function runMembers({ slots, life, effective, certificates, membership }: Situation): Decision | undefined {
  if (life.stage !== 'birth' && life.stage !== 'born') return undefined;
  // The Secrets that the pods would mount were not read.
  if (life.stage === 'birth' && certificates.kind === 'unknown') return undefined;
  // No member starts with a ConfigMap that cannot match its volume, or on a stray volume of another birth that could
  // not be deleted (I5).
  const due = slots.filter((slot) => isDue(slot, membership) && !isBehind(slot) && !life.strays.includes(slot));
  const peers = due.map(({ name }) => name);
  if (peers.length === 0) return undefined;
  const outdated = life.stage === 'birth' ? outdatedBeforeTheFirstStart(slots, effective.inputs) : [];
  if (outdated.length > 0) return configureBeforeStart(outdated, effective.inputs, 'the first start');
  return act({ kind: 'start-members', peers }, 'StartingMembers', `starting ${peers.join(', ')}`);
}

/**
 * Without this, some members would become Ready with the outdated configuration before the change reaches them.
 *
 * Guards I6: never to a lower version. Pods that are gone may have run the recorded one.
 */
function outdatedBeforeTheFirstStart(slots: readonly Slot[], inputs: Inputs): readonly Ref[] {
  const wanted = inputsHash(inputs);
  const version = parseVersion(inputs.version);
  if (slots.some(({ statefulSet, pod, endpoint }) => statefulSet || pod || endpoint.kind === 'known')) return [];
  // etcdutl of the recorded version made its data: another minor is an upgrade.
  if (slots.some((slot) => recordOf(slot)?.state === 'restored')) return [];
  if (slots.some(({ peer }) => peer && compareVersions(parseVersion(peer.inputs.version), version) > 0)) return [];
  // A peer without a volume cannot record a version on it first: the others would wait for it.
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
  if (isBlockedByLeftovers(slot) || isOnOtherDisk(slot)) return false;
  return record.state !== 'joining' || isExpected(slot, membership);
}

/** A learner that starts before it is on the list exits, or needs an older list that named it. */
function isExpected(slot: Slot, membership: Situation['membership']): boolean {
  return membership.kind === 'known' && memberOf(slot, membership.members)?.isLearner === true;
}
