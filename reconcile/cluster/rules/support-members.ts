import { parseQuantity, type Quantity } from '../../../manifests/api/quantity.ts';
import { bootstrapVariables, isSealed } from '../../../manifests/build/bootstrap-variables.ts';
import type { SharedObject } from '../actions.ts';
import type { Situation } from '../decide.ts';
import { act, type Decision, refuse } from '../decision.ts';
import { recordOf } from '../life.ts';
import type { Slot } from '../observation.ts';

/**
 * What members stand on: Services, disruption budget, bootstrap ConfigMaps that say what their volumes say, volumes that
 * are large enough. It needs no quorum: a full disk must be curable while nothing runs.
 */
export function supportMembers(situation: Situation): Decision | undefined {
  return sharedObjects(situation) ?? followVolumes(situation) ?? growVolumes(situation);
}

function sharedObjects({ shared, life, effective, slots }: Situation): Decision | undefined {
  if (life.stage === 'unclear' || effective.replicas === 0) return undefined;
  const minAvailable = effective.replicas > 1 ? quorumOf(effective.replicas) : 0;
  const objects: SharedObject[] = [];
  if (shared.headlessService.state !== 'present') objects.push('headless-service');
  // Clients come in only when every recorded member is sealed, volume and ConfigMap: from then on I5 holds.
  const sealed = life.stage === 'born' && !slots.some(isBehind);
  if (sealed && shared.clientService.state !== 'present') objects.push('client-service');
  const { disruptionBudget } = shared;
  // A budget for a single member would keep its node from ever being drained.
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

export function quorumOf(voters: number): number {
  return Math.floor(voters / 2) + 1;
}

function followVolumes({ slots }: Situation): Decision | undefined {
  const behind = slots.filter(isBehind);
  const broken = behind.find(({ configMap }) => configMap?.immutable);
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

/** Whether a member's ConfigMap does not yet say what its volume says. */
function isBehind(slot: Slot): boolean {
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

function growVolumes({ slots, effective }: Situation): Decision | undefined {
  const { size } = effective.inputs.storage;
  const isSmall = (recorded: Quantity) => parseQuantity(recorded) < parseQuantity(size);
  // The peer is told last: one that still has the old size is a growth that was not finished.
  const small = slots.flatMap(({ name, volume, peer }) =>
    peer?.current && volume?.bound && !volume.leaving && (isSmall(volume.size) || isSmall(peer.inputs.storage.size))
      ? [{ name, uid: volume.uid, size: String(size) }]
      : [],
  );
  if (small.length === 0) return undefined;
  return act({ kind: 'grow-volumes', volumes: small }, 'GrowingVolumes', `growing the volumes to ${size}`);
}
