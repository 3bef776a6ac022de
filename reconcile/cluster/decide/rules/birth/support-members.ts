import { inputsHash } from '../../../../../manifests/render/inputs-hash.ts';
import {
  clientServiceName,
  externalServiceName,
  headlessServiceName,
  networkPolicyName,
  revocationsName,
} from '../../../../../manifests/render/names.ts';
import { isIsolated } from '../../../../../manifests/render/network-policy.ts';
import type { SharedObject, SharedOrder } from '../../../know/actions/birth.ts';
import { isTakingOver } from '../../../know/backups/restore.ts';
import { leavesOutOthers, revokedInUse } from '../../../know/certificates/revoked.ts';
import { isContested, pauseMinutes } from '../../../know/contested.ts';
import { act, type Decision, refuse, wait } from '../../../know/decision.ts';
import { minAvailableFor, votersToProtect } from '../../../know/health/drains.ts';
import { hasDeparted } from '../../../know/life.ts';
import type { SharedView, Slot } from '../../../know/observation.ts';
import type { Situation } from '../../../know/situation.ts';
import { sharedKeys } from '../../../know/spec/shared-objects.ts';
import { isBehind } from '../volumes/keep-config-maps.ts';

/**
 * What members depend on: Services, the disruption budget and the network policy. Needs no quorum. An object of another
 * owner under such a name is left alone: before birth no member starts beside it; a cluster that is born is looked
 * after all the same (`what-may-go-on.ts`).
 */
export function supportMembers(situation: Situation): Decision | undefined {
  return sharedObjects(situation) ?? nameTaken(situation) ?? awaitCollection(situation);
}

function sharedObjects(situation: Situation): Decision | undefined {
  // A birth makes the objects that it needs itself.
  const due = situation.life.stage === 'unborn' ? undefined : dueShared(situation);
  if (!due) return undefined;
  const contested = due.objects.filter((object) => isContestedByOthers(object, situation));
  const objects = due.objects.filter((object) => !contested.includes(object));
  if (objects.length > 0)
    return act({ kind: 'apply-shared', ...due, objects }, 'ApplyingServices', messageFor(objects));
  return refuse(
    'ObjectContested',
    `another client changes what members depend on again and again: the ${contested.join(', the ')} of ${situation.cluster.metadata.name}`,
    `let that client leave it alone: the option --show-managed-fields of kubectl names it. It is written as the spec asks every ${pauseMinutes} minutes`,
  );
}

/** So often at once; later only after a pause. */
const atOnce = 10;

function isContestedByOthers(object: SharedObject, situation: Situation): boolean {
  const { state } = situation.shared[sharedKeys[object]];
  return state === 'drifted' && isContested({ action: 'apply-shared', target: object, atOnce }, situation);
}

/** The objects that are missing or differ from what they should be. */
export function dueShared(situation: Situation): SharedOrder | undefined {
  const { shared, life, effective, slots } = situation;
  if (life.stage === 'unclear' || effective.replicas === 0) return undefined;
  const { disruptionBudget } = shared;
  // Only etcd says how many members vote: while it does not answer, the last number stands.
  const isUnknown = situation.membership.kind === 'unknown' && (life.stage === 'born' || isTakingOver(slots));
  const kept = isUnknown ? disruptionBudget.minAvailable : undefined;
  const minAvailable = kept ?? minAvailableFor(votersToProtect(situation), situation);
  const objects: SharedObject[] = [];
  if (isToBeMade(shared.headlessService)) objects.push('headless-service');
  // Clients are admitted only when every recorded member is sealed, volume and ConfigMap: from then on I5 holds. A
  // member without a volume is judged by its ConfigMap: an unsealed one would rejoin under its old ID on an empty
  // volume.
  const sealed =
    life.stage === 'born' && !slots.some((slot) => isBehind(slot) || (isOpen(slot) && !life.strays.includes(slot)));
  if (sealed && isToBeMade(shared.clientService)) objects.push('client-service');
  if (situation.cluster.spec.service === undefined) {
    if (isToBeRemoved(shared.externalService)) objects.push('no-external-service');
  } else if (sealed && !effective.keepsService && isToBeMade(shared.externalService)) objects.push('external-service');
  // Before it has served there is no quorum to keep, and a budget would refuse every drain.
  const hasServed = life.stage === 'born' || isTakingOver(slots);
  if (hasServed && isBudgetDue(disruptionBudget, minAvailable)) objects.push('disruption-budget');
  const list = listDue(situation);
  if (list) objects.push(list);
  if (!isIsolated(situation.cluster)) {
    if (isToBeRemoved(shared.networkPolicy)) objects.push('no-network-policy');
  } else if (isToBeMade(shared.networkPolicy)) objects.push('network-policy');
  if (objects.length === 0) return undefined;
  const leftOut = objects.includes('revocations') ? (revokedInUse(situation) ?? shared.revocations.leftOut ?? []) : [];
  return { objects, minAvailable, ...(leftOut.length > 0 && { leftOut }) };
}

function revokes({ cluster, effective }: Situation): boolean {
  return effective.inputs.tls.mode !== 'Disabled' && cluster.spec.tls?.revokedClientSerials !== undefined;
}

/** Of a spec that is refused, which has no list any more, members keep the one that they read. */
function listDue(situation: Situation): 'revocations' | 'no-revocations' | undefined {
  const { revocations } = situation.shared;
  if (revokes(situation)) {
    const isOther = revocations.state === 'present' && leavesOutOthers(situation);
    return isOther || isToBeMade(revocations) ? 'revocations' : undefined;
  }
  const isRead = situation.effective.inputs.tls.revocations !== undefined;
  if (isRead) return revocations.state === 'missing' ? 'revocations' : undefined;
  return isToBeRemoved(revocations) && !readsRevocations(situation) ? 'no-revocations' : undefined;
}

/** A pod that reads the list would not start without it. */
function readsRevocations({ slots, effective }: Situation): boolean {
  const wanted = inputsHash(effective.inputs);
  return slots.some(
    ({ peer, statefulSet, pod }) =>
      peer?.inputs.tls.revocations !== undefined ||
      (statefulSet !== undefined && statefulSet.inputsHash !== wanted) ||
      (pod !== undefined && pod.upToDate !== 'yes'),
  );
}

/** It is not as it should be, and ours to make, correct or remove. */
export function isBudgetDue(budget: Situation['shared']['disruptionBudget'], minAvailable: number): boolean {
  const isWrong =
    minAvailable === 0
      ? budget.state !== 'missing'
      : budget.state !== 'present' || budget.minAvailable !== minAvailable;
  return isWrong && !isOthers(budget);
}

function messageFor(objects: readonly SharedObject[]): string {
  if (objects.every((object) => object === 'revocations'))
    return 'writing which clients members refuse: they read it at each connection, once kubelet has it';
  const opened = [
    ...(objects.includes('client-service') ? ['the Service for clients'] : []),
    ...(objects.includes('external-service') ? ['the Service for clients from outside'] : []),
  ];
  if (objects.includes('no-external-service'))
    return 'closing the Service for clients from outside: spec.service is gone';
  return opened.length > 0
    ? `opening ${opened.join(' and ')}: every member is sealed`
    : 'making or correcting the Services, the disruption budget and the network policy';
}

/** It could start on an empty volume; so could one that is to be adopted with the ConfigMap that its PVC kept. */
function isOpen(slot: Slot): boolean {
  const { peer, volume, configMap } = slot;
  const isKept = configMap !== undefined && volume !== undefined && !hasDeparted(slot);
  return !configMap?.immutable && (peer?.current === true || isKept);
}

function isToBeMade({ state }: SharedView): boolean {
  return state === 'missing' || state === 'drifted';
}

/** It is ours, right or wrong. */
function isToBeRemoved({ state }: SharedView): boolean {
  return state === 'present' || state === 'drifted';
}

/** Owned by another owner, or by a deleted namesake. */
function isOthers({ state }: SharedView): boolean {
  return state === 'foreign' || state === 'leftover';
}

/** Objects with our labels and without an owner of ours are never collected: a person must look. */
function nameTaken(situation: Situation): Decision | undefined {
  const { cluster, shared } = situation;
  const { name } = cluster.metadata;
  const isOutside = cluster.spec.service !== undefined;
  const [foreign] = [
    ...(shared.headlessService.state === 'foreign' ? [`a Service ${headlessServiceName(name)}`] : []),
    ...(shared.clientService.state === 'foreign' ? [`a Service ${clientServiceName(name)}`] : []),
    ...(shared.disruptionBudget.state === 'foreign' ? [`a PodDisruptionBudget ${name}`] : []),
    ...(isOutside && shared.externalService.state === 'foreign' ? [`a Service ${externalServiceName(name)}`] : []),
    ...(revokes(situation) && shared.revocations.state === 'foreign' ? [`a ConfigMap ${revocationsName(name)}`] : []),
    ...(shared.networkPolicy.state === 'foreign' ? [`a NetworkPolicy ${networkPolicyName(name)}`] : []),
  ];
  if (foreign === undefined) return undefined;
  return refuse(
    'NameTaken',
    `there is ${foreign} with the labels of this cluster, and no resource of etcd-ratchet owns it: it is left alone`,
    'if nothing needs it, delete it (no volume is deleted with it); else recreate it under another name and without the etcd.ratchet.dev labels',
  );
}

function awaitCollection({ shared }: Situation): Decision | undefined {
  if (!Object.values(shared).some(({ state }) => state === 'leftover')) return undefined;
  return wait('OldObjectsLeaving', 'Services of an earlier resource are still being garbage collected', {
    on: 'time',
    afterSeconds: 1,
  });
}
