import { clientServiceName, headlessServiceName } from '../../../manifests/build/names.ts';
import type { SharedObject } from '../actions.ts';
import type { Situation } from '../decide.ts';
import { act, type Decision, refuse, wait } from '../decision.ts';
import { minAvailableFor, votersToProtect } from '../drains.ts';
import { hasDeparted } from '../life.ts';
import type { SharedView, Slot } from '../observation.ts';
import { isBehind } from './follow-volumes.ts';

/**
 * What members stand on: Services and disruption budget. It needs no quorum. What somebody else has under such a name is left alone:
 * nothing of ours is started beside it before birth; a cluster that is born is looked after all the same (`what-may-go-on.ts`).
 */
export function supportMembers(situation: Situation): Decision | undefined {
  return sharedObjects(situation) ?? nameTaken(situation) ?? awaitCollection(situation);
}

function sharedObjects(situation: Situation): Decision | undefined {
  const { shared, life, effective, slots } = situation;
  if (life.stage === 'unclear' || effective.replicas === 0) return undefined;
  const { disruptionBudget } = shared;
  // How many vote is etcd's to say: where it can't, what was said last stands.
  const kept =
    situation.membership.kind === 'unknown' && life.stage === 'born' ? disruptionBudget.minAvailable : undefined;
  const minAvailable = kept ?? minAvailableFor(votersToProtect(situation), situation);
  const objects: SharedObject[] = [];
  if (isToBeMade(shared.headlessService)) objects.push('headless-service');
  // Clients come in only when every recorded member is sealed, volume and ConfigMap: from then on I5 holds.
  // One whose volume is missing is told by its ConfigMap: restored empty, an unsealed one would rejoin under its old ID.
  const sealed =
    life.stage === 'born' && !slots.some((slot) => isBehind(slot) || (isOpen(slot) && !life.strays.includes(slot)));
  if (sealed && isToBeMade(shared.clientService)) objects.push('client-service');
  const isWrong =
    minAvailable === 0
      ? disruptionBudget.state !== 'missing'
      : disruptionBudget.state !== 'present' || disruptionBudget.minAvailable !== minAvailable;
  if (isWrong && !isOthers(disruptionBudget)) {
    objects.push('disruption-budget');
  }
  if (objects.length === 0) return undefined;
  return act({ kind: 'apply-shared', objects, minAvailable }, 'ApplyingServices', messageFor(objects));
}

function messageFor(objects: readonly SharedObject[]): string {
  return objects.includes('client-service')
    ? 'opening the Service for clients: every member is sealed'
    : 'making the Services and the disruption budget what they should be';
}

/** It could start on an empty volume; also one that is to be adopted, with the ConfigMap that stayed with its claim. */
function isOpen(slot: Slot): boolean {
  const { peer, volume, configMap } = slot;
  const isKept = configMap !== undefined && volume !== undefined && !hasDeparted(slot);
  return !configMap?.immutable && (peer?.current === true || isKept);
}

function isToBeMade({ state }: SharedView): boolean {
  return state === 'missing' || state === 'drifted';
}

/** Somebody else's, or of a deleted namesake. */
function isOthers({ state }: SharedView): boolean {
  return state === 'foreign' || state === 'leftover';
}

/** What bears our labels and has no owner of ours is never collected: a person must look. */
function nameTaken({ cluster, shared }: Situation): Decision | undefined {
  const { name } = cluster.metadata;
  const [foreign] = [
    ...(shared.headlessService.state === 'foreign' ? [`a Service ${headlessServiceName(name)}`] : []),
    ...(shared.clientService.state === 'foreign' ? [`a Service ${clientServiceName(name)}`] : []),
    ...(shared.disruptionBudget.state === 'foreign' ? [`a PodDisruptionBudget ${name}`] : []),
  ];
  if (foreign === undefined) return undefined;
  return refuse(
    'NameTaken',
    `there is ${foreign} with the labels of this cluster, and no resource of etcd-ratchet owns it: it is left alone`,
    'if nothing needs it, delete it (no volume goes with it); else make it again under another name and without the etcd.ratchet.dev labels',
  );
}

function awaitCollection({ shared }: Situation): Decision | undefined {
  if (!Object.values(shared).some(({ state }) => state === 'leftover')) return undefined;
  return wait('OldObjectsLeaving', 'Services of an earlier resource are still being collected', {
    on: 'time',
    afterSeconds: 1,
  });
}
