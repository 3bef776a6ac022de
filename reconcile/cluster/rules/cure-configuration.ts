import { isDeepStrictEqual } from 'node:util';
import { isHigher, isVersion, minorOf, parseVersion } from '../../../manifests/api/version.ts';
import { inputsHash } from '../../../manifests/build/inputs-hash.ts';
import type { Situation } from '../decide.ts';
import { act, type Decision } from '../decision.ts';
import type { Inputs } from '../effective.ts';
import { isDownOnItsConfiguration } from '../health.ts';
import { recordOf } from '../life.ts';
import type { PeerView, Slot, StatefulSetView } from '../observation.ts';
import { hasRunHigher, isTemplateBehind, mayGoBackTo } from '../versions-run.ts';

/**
 * A member whose pod is not Ready, and whose configuration is not the effective one, is given that: it has nothing to
 * lose. A commit that cures a cluster of which nothing runs thus reaches all of it, although membership is unknown.
 *
 * Unless some member is already down *on* that configuration: then a bad commit stops at the first member it broke, and
 * reverting it cures that one. No pod that is Ready is touched here (I1). Nobody leaves a minor backwards beside one who may still
 * enter it (I6).
 */
export function cureConfiguration(situation: Situation): Decision | undefined {
  const { slots, effective } = situation;
  const wanted = inputsHash(effective.inputs);
  // A template is of no use to who has lost the volume that would be told of it: `heal` sees to that.
  const curable = slots.filter(({ volume }) => volume && !volume.leaving);
  // First of all nobody else may come up on a minor that is to be left: the others could not go back any more.
  const ahead = correctTemplates(
    curable.filter((slot) => isAhead(slot, effective.inputs)),
    effective,
    wanted,
  );
  if (ahead) return ahead;
  // Also who goes with its claim: it is the one that never ran the higher minor, and its template keeps the others from going back.
  const next = slots.find((slot) => slot.volume && mayBeStartedHigher(slot, effective.inputs));
  if (next?.peer) return onlyTemplate(next.name, next.peer, effective.inputs, 'its pod stays, and the next one has it');
  const returning = curable.find((slot) => slot.statefulSet && isGoingBack(slot, effective.inputs));
  if (returning?.peer?.current) {
    const why = `it has run etcd ${effective.inputs.version}, which is to stay`;
    return onlyTemplate(returning.name, returning.peer, effective.inputs, why);
  }
  // Nor may who ran it go back for as long as somebody else may still come up on it: that one first.
  const goBack = mayGoBackTo(effective.inputs.version, situation);
  const outdated = curable.filter(
    (slot) =>
      isNotReady(slot) &&
      slot.peer?.current &&
      !isOn(slot, wanted) &&
      (goBack || !hasRunHigher(slot.pod, effective.inputs.version)),
  );
  if (outdated.length === 0) return correctTemplates(curable, effective, wanted);
  if (slots.some((slot) => isOn(slot, wanted) && isDownOnItsConfiguration(slot))) return undefined;

  const peers = chosen(outdated, slots).flatMap(({ name, peer }) => (peer ? [{ name, uid: peer.uid }] : []));
  if (peers.length === 0) return undefined;
  return act(
    { kind: 'reconfigure-members', peers, inputs: effective.inputs },
    'CuringConfiguration',
    `giving ${peers.map(({ name }) => name).join(', ')} the configuration that the spec now asks for: not Ready, nothing to lose`,
  );
}

/**
 * A member that runs, while its template was already changed to something that is no longer wanted: the template is put right
 * and the pod left alone, so that its next start, whoever causes it, is not one on the wrong version.
 */
function correctTemplates(
  slots: readonly Slot[],
  { inputs }: Situation['effective'],
  wanted: string,
): Decision | undefined {
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
    `the templates of ${peers.map(({ name }) => name).join(', ')} are put right; their pods stay`,
  );
}

function onlyTemplate(name: string, peer: PeerView, { version, image }: Inputs, why: string): Decision {
  return act(
    { kind: 'change-template', peer: { name, uid: peer.uid }, inputs: { ...peer.inputs, version, image } },
    'CorrectingTemplates',
    `the template of ${name} is put right: ${why}`,
  );
}

/**
 * It never ran the higher minor that its template says, or may say: its pod ends, or answers, though without a quorum it is not Ready. For
 * as long as its next pod may have that, nobody who ran it may go back.
 */
function mayBeStartedHigher(slot: Slot, { version }: Inputs): boolean {
  const { peer, statefulSet, pod, endpoint } = slot;
  if (!peer?.current || !statefulSet || !pod || hasRunHigher(pod, version)) return false;
  if (!pod.leaving && (pod.ready || endpoint.kind === 'unknown')) return false;
  const told = isTemplateBehind(slot) ? [peer.inputs.version, recordOf(slot)?.nextVersion] : [peer.inputs.version];
  return told.some((one) => isMinorAbove(one, version));
}

function isMinorAbove(text: string | undefined, version: string): boolean {
  return isVersion(text) && minorOf(parseVersion(text)) > minorOf(parseVersion(version));
}

/**
 * It was told to go back to a lower minor than it ran, and that minor is to stay by now. Before anybody else is started on it: with all
 * members there at once the cluster version moves, and what it was told would be too low (I6).
 */
function isGoingBack({ peer, pod }: Slot, { version }: Inputs): boolean {
  return peer !== undefined && hasRunHigher(pod, peer.inputs.version) && !hasRunHigher(pod, version);
}

/** A member that answers votes, whatever its pod's readiness says (a node that lost the API server makes all its pods unready). */
function isNotReady({ statefulSet, pod, endpoint }: Slot): boolean {
  return statefulSet !== undefined && !pod?.leaving && !pod?.ready && endpoint.kind === 'unknown';
}

/** All that certainly do not run; else one, and only while no other pod is on its way out: silence is not proof. */
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

/** On its way to the version that is to be: its configuration, which may be another too, comes after that. */
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
