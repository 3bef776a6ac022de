import { annotations } from '../../manifests/build/names.ts';
import type { VolumeRecord } from '../../manifests/build/volume-record.ts';
import type { Observation, Slot } from './observation.ts';

/**
 * How far a cluster's life has come, told from what remembers it: volumes first, then peers, then (only to refuse) status.
 *
 * The volumes' annotations survive everything but the volumes, so a resource that was deleted and applied again, or whose
 * status a backup tool dropped, goes on where it was.
 */
export type Life =
  /** Not a trace of it: it may be born. */
  | { readonly stage: 'unborn' }
  /** Recorded, and not yet every recorded member is sealed. Finished exactly as recorded. */
  | {
      readonly stage: 'birth';
      readonly record: BirthRecord;
      /** Known once a first member is sealed. */
      readonly clusterId: string | undefined;
      readonly strays: readonly Slot[];
    }
  | {
      readonly stage: 'born';
      readonly token: string;
      readonly clusterId: string | undefined;
      readonly strays: readonly Slot[];
    }
  /** The traces contradict each other, or all data is gone: a person must look. Never "start anew". */
  | { readonly stage: 'unclear'; readonly reason: string; readonly message: string; readonly cure: string };

export type BirthRecord = Pick<VolumeRecord, 'token' | 'initialCluster' | 'tlsMode' | 'version'>;

export function lifeOf({ cluster, slots, claim }: Pick<Observation, 'cluster' | 'slots' | 'claim'>): Life {
  const unreadable = slots.find(({ volume }) => volume?.record.kind === 'invalid');
  if (unreadable?.volume?.record.kind === 'invalid') {
    return {
      stage: 'unclear',
      reason: 'VolumeRecordUnreadable',
      message: `the annotations of volume ${unreadable.name} cannot be read: ${unreadable.volume.record.problem}`,
      cure: `restore the etcd.ratchet.dev/ annotations of PersistentVolumeClaim ${unreadable.name}, or, if it holds no data that matters, delete it`,
    };
  }

  const recorded = slots.flatMap((slot) => {
    const record = recordOf(slot);
    return record && mayCount(record) ? [{ slot, record }] : [];
  });
  if (recorded.length === 0) return withoutVolumes(cluster, slots);

  const token = mainToken(recorded, slots, claim);
  if (token === undefined) {
    return {
      stage: 'unclear',
      reason: 'VolumesOfTwoClusters',
      message: `the volumes ${recorded.map(({ slot }) => slot.name).join(', ')} belong to more than one etcd cluster`,
      cure: `keep the volumes of the cluster that should live (see their etcd.ratchet.dev/cluster-id annotations), and rename or delete the others`,
    };
  }

  const ours = recorded.filter(({ record }) => record.token === token);
  const strays = recorded.filter(({ record }) => record.token !== token).map(({ slot }) => slot);
  const unsealed = ours.find(({ record }) => record.state === 'bootstrapping');
  const replaced = slots.find((slot) => isBeingReplaced(slot) && slot.volume === undefined);
  const clusterId = ours.find(({ record }) => record.clusterId)?.record.clusterId;
  if (unsealed) return { stage: 'birth', record: unsealed.record, clusterId, strays };
  const eldest = ours[0];
  if (replaced?.peer && eldest) {
    const { token, initialCluster } = replaced.peer.bootstrap;
    return { stage: 'birth', record: { ...eldest.record, token, initialCluster }, clusterId, strays };
  }
  return { stage: 'born', token, clusterId, strays };
}

interface Recorded {
  readonly slot: Slot;
  readonly record: VolumeRecord;
}

export function recordOf({ volume }: Pick<Slot, 'volume'>): VolumeRecord | undefined {
  return volume?.record.kind === 'valid' ? volume.record.record : undefined;
}

/** Its member is no longer one, and never will be again: what is left of it counts for nothing, and stands in nobody's way. */
export function hasDeparted(slot: Pick<Slot, 'volume'>): boolean {
  const record = recordOf(slot);
  return record !== undefined && !mayCount(record);
}

/** Its member does not run, because the spec asks for none. One whose volume is on its way out will not wake on it. */
export function isAsleep(slot: Pick<Slot, 'volume'>): boolean {
  return recordOf(slot)?.state === 'hibernating' && !slot.volume?.leaving;
}

/** Voters as far as volumes and peers remember them: for when etcd can't be asked. */
export function rememberedVoters(slots: readonly Slot[], strays: readonly Slot[]): number {
  return slots.filter(
    (slot) =>
      (slot.peer?.current || slot.volume) &&
      !strays.includes(slot) &&
      !hasDeparted(slot) &&
      recordOf(slot)?.state !== 'joining',
  ).length;
}

/** A sealed ConfigMap outweighs the mark: that member has started since, and its volume held data. */
export function isBeingReplaced({ peer, configMap }: Slot): boolean {
  return peer?.replacingVolume !== undefined && !configMap?.immutable;
}

/** A volume whose member was removed, or that a recovery outvoted, no longer belongs to the cluster. */
function mayCount({ state }: VolumeRecord): boolean {
  return state !== 'released' && state !== 'superseded';
}

function withoutVolumes(cluster: Observation['cluster'], slots: readonly Slot[]): Life {
  const replaced = slots.find(isBeingReplaced)?.peer;
  if (replaced) {
    const { bootstrap, inputs } = replaced;
    const record = { ...bootstrap, version: inputs.version, tlsMode: inputs.tls.mode };
    return { stage: 'birth', record, clusterId: undefined, strays: [] };
  }
  const traces = slots.filter(({ peer, configMap }) => peer !== undefined || configMap !== undefined);
  if (traces.length === 0 && !cluster.status?.clusterID) return { stage: 'unborn' };
  const once = cluster.status?.clusterID ? ` (etcd cluster ${cluster.status.clusterID})` : '';
  const left = slots.filter((slot) => recordOf(slot)?.state === 'superseded').map(({ name }) => name);
  if (left.length > 0) {
    return {
      stage: 'unclear',
      reason: 'AllVolumesGone',
      message: `${cluster.metadata.name} had members${once}, and of their volumes only those are left that a recovery left behind: ${left.join(', ')}; they hold what was before it`,
      cure: `bring the disks themselves back (the PersistentVolumeClaims with their annotations, bound to the PersistentVolumes that they had); or, to go on from what was before, set annotation ${annotations.volumeState} of ${left.join(', ')} to sealed`,
    };
  }
  return {
    stage: 'unclear',
    reason: 'AllVolumesGone',
    message: `${cluster.metadata.name} had members${once}, and none of their volumes is left; it is never started empty in their place`,
    cure: 'bring the disks themselves back (the PersistentVolumeClaims with their annotations, bound to the PersistentVolumes that they had; claims restored on copies are not started before you approve it); or, to start anew with no data, delete the EtcdCluster and create it again',
  };
}

/**
 * The token that the cluster goes by. Volumes that hold data decide; a token that only never-bound volumes bear is the
 * leaving of an invocation that was late, and is discarded later.
 */
function mainToken(
  recorded: readonly Recorded[],
  slots: readonly Slot[],
  claim: Observation['claim'],
): string | undefined {
  const weighty = tokensOf(
    recorded.filter(({ slot, record }) => slot.volume?.bound || record.state !== 'bootstrapping'),
  );
  if (weighty.size > 1) return undefined;
  const [decided] = weighty;
  if (decided !== undefined) return decided;

  const all = tokensOf(recorded);
  const named = new Set(slots.flatMap(({ peer }) => (peer?.current ? [peer.bootstrap.token] : [])));
  if (claim.kind === 'abandoned' && claim.action?.kind === 'prepare-members') {
    for (const { record } of claim.action.members) named.add(record.token);
  }
  const [first] = [...named].filter((token) => all.has(token)).sort();
  return first ?? [...all].sort()[0];
}

function tokensOf(recorded: readonly { readonly record: VolumeRecord }[]): Set<string> {
  return new Set(recorded.map(({ record }) => record.token));
}
