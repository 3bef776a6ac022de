import { bootstrapVariables, isSealed } from '../../../manifests/build/bootstrap-variables.ts';
import type { SharedObject } from '../actions.ts';
import type { Situation } from '../decide.ts';
import { act, type Decision, refuse } from '../decision.ts';
import { minAvailableFor, votersToProtect } from '../drains.ts';
import { hasDeparted, recordOf } from '../life.ts';
import type { Slot } from '../observation.ts';
import { isOnOtherDisk } from '../sealed-disk.ts';

/**
 * What members stand on: Services, disruption budget, bootstrap ConfigMaps that say what their volumes say. It needs no
 * quorum.
 */
export function supportMembers(situation: Situation): Decision | undefined {
  return sharedObjects(situation) ?? followVolumes(situation);
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
  if (shared.headlessService.state !== 'present') objects.push('headless-service');
  // Clients come in only when every recorded member is sealed, volume and ConfigMap: from then on I5 holds.
  // One whose volume is missing is told by its ConfigMap: restored empty, an unsealed one would rejoin under its old ID.
  const sealed =
    life.stage === 'born' && !slots.some((slot) => isBehind(slot) || (isOpen(slot) && !life.strays.includes(slot)));
  if (sealed && shared.clientService.state !== 'present') objects.push('client-service');
  if (
    minAvailable === 0
      ? disruptionBudget.state !== 'missing'
      : disruptionBudget.state !== 'present' || disruptionBudget.minAvailable !== minAvailable
  ) {
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

function followVolumes({ slots }: Situation): Decision | undefined {
  // A claim on its way out takes no annotation to follow; its ailment is told further down.
  // What is another disk has no ConfigMap: until that is settled nothing starts on it.
  const behind = slots.filter((slot) => isBehind(slot) && !slot.volume?.leaving && !isOnOtherDisk(slot));
  const broken = behind.find((slot) => slot.configMap?.immutable && saysOtherwise(slot));
  if (broken) {
    return refuse(
      'SealBroken',
      `the ConfigMap of ${broken.name} is sealed, but its volume says that it never started`,
      `restore the annotations of PersistentVolumeClaim ${broken.name}; a sealed member is never unsealed`,
    );
  }
  if (behind.length === 0) return undefined;
  const peers = behind.map(({ name }) => name);
  return act(
    { kind: 'follow-volumes', peers },
    'FollowingVolumes',
    `letting the bootstrap settings of ${peers.join(', ')} follow their volumes`,
  );
}

/** It could start on an empty volume; also one that is to be adopted, with the ConfigMap that stayed with its claim. */
function isOpen(slot: Slot): boolean {
  const { peer, volume, configMap } = slot;
  const isKept = configMap !== undefined && volume !== undefined && !hasDeparted(slot);
  return !configMap?.immutable && (peer?.current === true || isKept);
}

/** Whether a member's ConfigMap does not yet say what its volume says, or would not go with its claim. */
function isBehind(slot: Slot): boolean {
  return saysOtherwise(slot) || (slot.peer?.current === true && recordOf(slot) !== undefined && outlivesItsClaim(slot));
}

/** Of an earlier release; or a mark that arrived late would, for which an empty volume may be made. */
function outlivesItsClaim(slot: Slot): boolean {
  const isMarked = slot.peer?.replacingVolume !== undefined && recordOf(slot)?.state !== 'bootstrapping';
  return isMarked || slot.configMap?.byPeer === true;
}

function saysOtherwise(slot: Slot): boolean {
  const record = recordOf(slot);
  if (!slot.peer?.current || !record) return false;
  const { configMap } = slot;
  const wanted = bootstrapVariables(record, slot.name);
  return !(
    configMap?.initialCluster === wanted.ETCD_INITIAL_CLUSTER &&
    configMap.initialClusterState === wanted.ETCD_INITIAL_CLUSTER_STATE &&
    (configMap.immutable || !isSealed(record.state))
  );
}
