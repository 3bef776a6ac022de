import { bootstrapVariables, isSealed } from '../../../../../manifests/render/bootstrap-variables.ts';
import { act, type Decision, refuse } from '../../../know/decision.ts';
import { recordOf } from '../../../know/life.ts';
import type { Slot } from '../../../know/observation.ts';
import type { Situation } from '../../../know/situation.ts';
import { isOnOtherDisk } from '../../../know/volumes/sealed-disk.ts';

/** Bootstrap ConfigMaps match their volumes. Needs no quorum. */
export function keepConfigMaps({ slots, membership }: Situation): Decision | undefined {
  // A PVC that is being deleted takes no annotation; its ailment is reported further down.
  // A member on another disk has no ConfigMap, and does not start until that is settled.
  const behind = slots.filter(
    (slot) => isBehind(slot) && !slot.volume?.leaving && !isOnOtherDisk(slot) && !mayVoteAlready(slot, membership),
  );
  const peers = behind.filter((slot) => !isSealBroken(slot)).map(({ name }) => name);
  const broken = behind.find(isSealBroken);
  if (broken && peers.length === 0) {
    return refuse(
      'SealBroken',
      `the ConfigMap of ${broken.name} is sealed, but its volume says that it never started`,
      `restore the annotations of PersistentVolumeClaim ${broken.name}; a sealed member is never unsealed`,
    );
  }
  if (peers.length === 0) return undefined;
  return act(
    { kind: 'follow-volumes', peers },
    'FollowingVolumes',
    `making the bootstrap settings of ${peers.join(', ')} match their volumes`,
  );
}

/** Its PVC says that it has yet to join, may be outdated, and no list says which members vote: its pod would start. */
function mayVoteAlready(slot: Slot, membership: Situation['membership']): boolean {
  const isWaiting = slot.statefulSet !== undefined && slot.configMap === undefined;
  return isWaiting && recordOf(slot)?.state === 'joining' && membership.kind === 'unknown';
}

/** Its volume says that it never started, and its ConfigMap that it did: neither is believed. */
export function isSealBroken(slot: Slot): boolean {
  return slot.configMap?.immutable === true && saysOtherwise(slot);
}

/** Whether a member's ConfigMap differs from its volume, or would outlive its PVC. */
export function isBehind(slot: Slot): boolean {
  return saysOtherwise(slot) || (slot.peer?.current === true && recordOf(slot) !== undefined && outlivesItsClaim(slot));
}

/** A ConfigMap of an earlier release; or a late mark, which would allow an empty volume. */
function outlivesItsClaim(slot: Slot): boolean {
  const isMarked = slot.peer?.replacingVolume !== undefined && recordOf(slot)?.state !== 'bootstrapping';
  return isMarked || slot.configMap?.byPeer === true;
}

function saysOtherwise(slot: Slot): boolean {
  const record = recordOf(slot);
  // Its own PVC still says something else: first that is marked.
  if (!slot.peer?.current || !record || slot.volume?.unmarked) return false;
  const { configMap } = slot;
  const wanted = bootstrapVariables(record, slot.name);
  return !(
    configMap?.initialCluster === wanted.ETCD_INITIAL_CLUSTER &&
    configMap.initialClusterState === wanted.ETCD_INITIAL_CLUSTER_STATE &&
    (configMap.immutable || !isSealed(record.state))
  );
}
