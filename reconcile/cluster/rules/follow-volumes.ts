import { bootstrapVariables, isSealed } from '../../../manifests/build/bootstrap-variables.ts';
import type { Situation } from '../decide.ts';
import { act, type Decision, refuse } from '../decision.ts';
import { recordOf } from '../life.ts';
import type { Slot } from '../observation.ts';
import { isOnOtherDisk } from '../sealed-disk.ts';

/** Bootstrap ConfigMaps say what their volumes say. It needs no quorum. */
export function followVolumes({ slots, membership }: Situation): Decision | undefined {
  // A claim on its way out takes no annotation to follow; its ailment is told further down.
  // What is another disk has no ConfigMap: until that is settled nothing starts on it.
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
    `letting the bootstrap settings of ${peers.join(', ')} follow their volumes`,
  );
}

/** Its claim says that it is yet to join, may be older than its vote, and nobody tells who votes: its pod would start at once. */
function mayVoteAlready(slot: Slot, membership: Situation['membership']): boolean {
  const isWaiting = slot.statefulSet !== undefined && slot.configMap === undefined;
  return isWaiting && recordOf(slot)?.state === 'joining' && membership.kind === 'unknown';
}

/** Its volume says that it is yet to start, and its ConfigMap that it has: neither is believed. */
export function isSealBroken(slot: Slot): boolean {
  return slot.configMap?.immutable === true && saysOtherwise(slot);
}

/** Whether a member's ConfigMap does not yet say what its volume says, or would not go with its claim. */
export function isBehind(slot: Slot): boolean {
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
