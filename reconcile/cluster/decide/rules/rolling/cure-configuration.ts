import { isDeepStrictEqual } from 'node:util';
import { isHigher, isMinorBelow, isVersion } from '../../../../../manifests/api/version.ts';
import { inputsHash } from '../../../../../manifests/render/inputs-hash.ts';
import { act, type Decision } from '../../../know/decision.ts';
import { isDownOnItsConfiguration, serves } from '../../../know/health/health.ts';
import { recordOf } from '../../../know/life.ts';
import type { PeerView, Slot, StatefulSetView } from '../../../know/observation.ts';
import { endingBeside } from '../../../know/pods/endings.ts';
import type { Situation } from '../../../know/situation.ts';
import type { Inputs } from '../../../know/spec/inputs.ts';
import { hasRunHigher, isTemplateBehind, mayGoBackTo } from '../../../know/versions/versions-run.ts';
import { keptBack, startingInputs, withVersionOf } from '../../held-version.ts';

/**
 * A member whose pod is not Ready, and whose configuration is not the effective one, gets that: it has nothing to lose.
 * So a commit that cures a cluster of which nothing runs reaches every member, although the member list is unknown.
 *
 * Unless a member is already down *on* that configuration, and none answers on it: a bad commit stops at the first
 * member that it broke. Reverting it cures that member, also beside one whose disk is lost. No Ready pod is touched
 * here (I1). No version is given that a backup or a window holds (I12). No member goes back from a minor beside a
 * member that may still start on it (I6).
 */
export function cureConfiguration(situation: Situation): Decision | undefined {
  const inputs = startingInputs(situation);
  const keepers = keptBack(situation);
  const kept = keepers[0]?.peer?.inputs;
  const others = situation.slots.filter((slot) => !keepers.includes(slot));
  const cured = cureOn(inputs, others, situation);
  return cured ?? (kept && cureOn(withVersionOf(kept, inputs), keepers, situation));
}

/** @param among what gets this configuration: while a minor soaks, others keep the one before */
function cureOn(inputs: Inputs, among: readonly Slot[], situation: Situation): Decision | undefined {
  const { slots } = situation;
  const wanted = inputsHash(inputs);
  // A member without a volume cannot record the version of a template: `heal` replaces it.
  const curable = among.filter(({ volume }) => volume && !volume.leaving);
  // First, no other member may start on a minor that is to be left: the others could not go back any more.
  const ahead = correctTemplates(
    curable.filter((slot) => isAhead(slot, inputs)),
    inputs,
    wanted,
  );
  if (ahead) return ahead;
  // Also a member whose PVC is being deleted: it never ran the higher minor, and its template keeps the others from
  // going back.
  const next = among.find((slot) => slot.volume && mayBeStartedHigher(slot, inputs));
  if (next?.peer) return onlyTemplate(next.name, next.peer, inputs, 'its pod stays, and its next pod has it');
  const returning = curable.find((slot) => slot.statefulSet && isGoingBack(slot, inputs));
  if (returning?.peer?.current) {
    const why = `it has run etcd ${inputs.version}, which the cluster keeps`;
    return onlyTemplate(returning.name, returning.peer, inputs, why);
  }
  // A member that ran that minor may not go back while another member may still start on it: that one first.
  const goBack = mayGoBackTo(inputs.version, situation);
  const outdated = curable.filter(
    (slot) =>
      (isNotReady(slot) || isHeldByAnother(slot, inputs, situation)) &&
      slot.peer?.current &&
      !isOn(slot, wanted) &&
      (goBack || !hasRunHigher(slot, inputs.version)),
  );
  if (outdated.length === 0) return correctTemplates(curable, inputs, wanted);
  const others = among.filter((slot) => isOn(slot, wanted));
  if (others.some(isDownOnItsConfiguration) && !others.some(answers)) return undefined;

  const peers = chosen(outdated, slots).flatMap(({ name, peer }) => (peer ? [{ name, uid: peer.uid }] : []));
  if (peers.length === 0) return undefined;
  return act(
    { kind: 'reconfigure-members', peers, inputs },
    'CuringConfiguration',
    `giving ${peers.map(({ name }) => name).join(', ')} the configuration of the spec: not Ready, nothing to lose`,
  );
}

/**
 * A running member whose template was already changed to an unwanted one: the template is corrected and the pod left
 * alone, so that its next start does not run the wrong version.
 */
function correctTemplates(slots: readonly Slot[], inputs: Inputs, wanted: string): Decision | undefined {
  const peers = slots.flatMap(({ name, peer, statefulSet, pod }) =>
    peer?.current &&
    pod?.ready &&
    pod.upToDate === 'no' &&
    statefulSet &&
    !isMade(peer, statefulSet, wanted) &&
    !isChangingVersion({ peer, statefulSet, pod }, inputs)
      ? [{ name, uid: peer.uid }]
      : [],
  );
  if (peers.length === 0) return undefined;
  return act(
    { kind: 'reconfigure-members', peers, inputs },
    'CorrectingTemplates',
    `correcting the templates of ${peers.map(({ name }) => name).join(', ')}; their pods stay`,
  );
}

function onlyTemplate(name: string, peer: PeerView, { version, image }: Inputs, why: string): Decision {
  return act(
    { kind: 'change-template', peer: { name, uid: peer.uid }, inputs: { ...peer.inputs, version, image } },
    'CorrectingTemplates',
    `correcting the template of ${name}: ${why}`,
  );
}

/**
 * It never ran the higher minor that its template says, or may say: its pod is terminating, or answers and is not Ready
 * for lack of a quorum. While its next pod may start on that minor, no member that ran it may go back.
 */
function mayBeStartedHigher(slot: Slot, { version }: Inputs): boolean {
  const { peer, statefulSet, pod, endpoint } = slot;
  if (!peer?.current || !statefulSet || !pod || hasRunHigher(slot, version)) return false;
  if (!pod.leaving && (pod.ready || endpoint.kind === 'unknown')) return false;
  const told = isTemplateBehind(slot) ? [peer.inputs.version, recordOf(slot)?.nextVersion] : [peer.inputs.version];
  return told.some((one) => isVersion(one) && isMinorBelow(version, one));
}

/**
 * It was told to go back to a lower minor than it ran, and the cluster now keeps that minor. This is corrected before
 * any other member starts on it: with all members on it the cluster version rises, and the lower one would be refused
 * (I6).
 */
function isGoingBack(slot: Slot, { version }: Inputs): boolean {
  return slot.peer !== undefined && hasRunHigher(slot, slot.peer.inputs.version) && !hasRunHigher(slot, version);
}

/**
 * A member that answers votes, even when its pod is not Ready: a node without the API server makes all pods unready.
 */
function isNotReady({ statefulSet, pod, endpoint }: Slot): boolean {
  return statefulSet !== undefined && !pod?.leaving && !pod?.ready && endpoint.kind === 'unknown';
}

/**
 * It votes, a container beside its etcd fails for good, and every other member serves: only by this rule the spec that
 * corrects that container reaches it, because the gate asks for members that are Ready (I1).
 */
function isHeldByAnother(slot: Slot, { version, image }: Inputs, situation: Situation): boolean {
  const { pod, peer, statefulSet } = slot;
  if (!pod || !statefulSet || pod.leaving || endingBeside(slot, pod)?.passing !== false) return false;
  // No step of an upgrade: that has conditions of its own.
  if (peer?.inputs.version !== version || !isDeepStrictEqual(peer.inputs.image, image)) return false;
  return situation.slots.every((other) => other === slot || !other.peer?.current || serves(other, situation));
}

/** Its etcd has taken what it is told: a member that is down beside it is so for a cause of its own. */
function answers({ endpoint, pod }: Slot): boolean {
  return pod?.container.state === 'running' && (endpoint.kind === 'known' || endpoint.metrics !== undefined);
}

/** All that certainly do not run; else one, and only while no other pod is terminating: silence is no proof. */
function chosen(outdated: readonly Slot[], slots: readonly Slot[]): readonly Slot[] {
  const stopped = outdated.filter(({ pod }) => pod?.container.state !== 'running');
  if (stopped.length > 0) return stopped;
  return slots.some(({ pod }) => pod?.leaving) ? [] : outdated.slice(0, 1);
}

/** Whether peer, StatefulSet and pod all have this configuration already. */
function isOn({ peer, statefulSet, pod }: Slot, hash: string): boolean {
  return peer !== undefined && statefulSet !== undefined && isMade(peer, statefulSet, hash) && pod?.upToDate !== 'no';
}

function isMade(peer: PeerView, statefulSet: StatefulSetView, hash: string): boolean {
  return inputsHash(peer.inputs) === hash && statefulSet.inputsHash === hash;
}

function isAhead({ peer }: Slot, { version }: Inputs): boolean {
  return peer !== undefined && isHigher(peer.inputs.version, version);
}

/** On its way to the effective version: the rest of its configuration comes after that. */
function isChangingVersion(
  { peer, statefulSet, pod }: Required<Pick<Slot, 'peer' | 'statefulSet' | 'pod'>>,
  { version, image }: Inputs,
): boolean {
  return (
    peer.inputs.version === version &&
    isDeepStrictEqual(peer.inputs.image, image) &&
    pod.version !== undefined &&
    pod.version !== version &&
    statefulSet.inputsHash === inputsHash(peer.inputs)
  );
}
