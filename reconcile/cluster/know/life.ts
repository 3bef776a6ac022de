import { annotations } from '../../../manifests/render/names.ts';
import {
  isAspirant,
  isBeforeFirstStart,
  isOfRecovery,
  isOfRestore,
  type VolumeRecord,
} from '../../../manifests/render/volume-record.ts';
import type { Offer } from '../../reasons/offers.ts';
import type { RefusalReason } from '../../reasons/refusals.ts';
import type { Observation, Slot } from './observation.ts';
import type { Inputs } from './spec/inputs.ts';
import { asksForNames } from './spec/names-asked.ts';

/**
 * The stage of a cluster's life, judged from what records it: volumes first, then peers, then (only to refuse) status.
 *
 * The volumes' annotations survive everything but the volumes, so a resource that was deleted and applied again, or
 * whose status a backup tool dropped, goes on where it was.
 */
export type Life =
  /** No trace of it: it may be born. */
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
  /** The traces contradict each other, or all data are gone: a person must look. Never "start anew". */
  | {
      readonly stage: 'unclear';
      readonly reason: RefusalReason;
      readonly message: string;
      readonly offers: readonly Offer[];
    };

export type BirthRecord = Pick<VolumeRecord, 'token' | 'initialCluster' | 'tlsMode' | 'allowedNames' | 'version'>;

/** What a volume keeps of its cluster's TLS: members that have it otherwise could not talk to the others. */
export function tlsForLife({ tls }: Inputs): Pick<VolumeRecord, 'tlsMode' | 'allowedNames'> {
  return { tlsMode: tls.mode, ...(tls.allowedNames && { allowedNames: tls.allowedNames }) };
}

export function lifeOf(seen: Seen): Life {
  const { membership } = seen;
  const unreadable = slotsUnreadable(seen.slots);
  const [first] = unreadable;
  if (!first) return lifeIn(seen);
  const rest = lifeIn({ ...seen, slots: seen.slots.filter((slot) => !unreadable.includes(slot)) });
  // Where a quorum answers, the records of the others suffice; the unreadable member is left as it is.
  if (membership?.kind === 'known' && rest.stage === 'born' && rest.clusterId === membership.clusterId) return rest;
  const { message, cure } = unreadableInWords(first);
  return { stage: 'unclear', reason: 'VolumeRecordUnreadable', message, offers: [{ loses: 'nothing', cure }] };
}

type Seen = Pick<Observation, 'cluster' | 'slots' | 'lease'> & Partial<Pick<Observation, 'membership' | 'shared'>>;

export function isUnreadable({ volume }: Pick<Slot, 'volume'>): boolean {
  return volume?.record.kind === 'invalid';
}

function slotsUnreadable(slots: readonly Slot[]): readonly Slot[] {
  return slots.filter(isUnreadable);
}

/** For people: which annotation of which PVC, and what to do. */
export function unreadableInWords({ name, volume }: Slot): { readonly message: string; readonly cure: string } {
  const problem = volume?.record.kind === 'invalid' ? volume.record.problem : 'nothing is wrong';
  return {
    message: `the annotations of PersistentVolumeClaim ${name} cannot be read: ${problem}; nothing is done to this member or its volume`,
    cure: `restore the etcd.ratchet.dev/ annotations of PersistentVolumeClaim ${name}, or, if it holds no data that matters, delete it`,
  };
}

function lifeIn(seen: Seen): Life {
  const { slots, lease } = seen;
  const recorded = slots.flatMap((slot) => {
    const record = recordOf(slot);
    return record && mayCount(record) ? [{ slot, record }] : [];
  });
  if (recorded.length === 0) return withoutVolumes(seen);

  const token = mainToken(recorded, slots, lease);
  if (token === undefined) {
    return {
      stage: 'unclear',
      reason: 'VolumesOfTwoClusters',
      message: `the volumes ${recorded.map(({ slot }) => slot.name).join(', ')} belong to more than one etcd cluster`,
      offers: [
        {
          loses: 'nothing',
          cure: 'keep the volumes of the cluster that should live (see their etcd.ratchet.dev/cluster-id annotations), and rename or delete the others',
        },
      ],
    };
  }

  const ours = recorded.filter(({ record }) => record.token === token);
  const strays = recorded.filter(({ record }) => record.token !== token).map(({ slot }) => slot);
  const unsealed = ours.find(({ record }) => record.state === 'bootstrapping' || isOfRestore(record));
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

/** Where it was never bound: no member ran on it yet, neither of a birth nor one that joins. */
function isEmpty(record: VolumeRecord): boolean {
  return isBeforeFirstStart(record) || record.state === 'joining';
}

interface Recorded {
  readonly slot: Slot;
  readonly record: VolumeRecord;
}

export function recordOf({ volume }: Pick<Slot, 'volume'>): VolumeRecord | undefined {
  return volume?.record.kind === 'valid' ? volume.record.record : undefined;
}

/** A quorum is forced from its data; its member does not run yet. */
export function isBeingRecovered(slot: Pick<Slot, 'volume'>): boolean {
  const state = recordOf(slot)?.state;
  return state === 'recovering' || state === 'recovered';
}

/** What a recovery made of its own data begins a new cluster, which is not sealed yet. */
export function isFromRecovery(slot: Pick<Slot, 'volume'>): boolean {
  const record = recordOf(slot);
  return record !== undefined && isOfRecovery(record);
}

/** Its member is no longer one, and never will be again: its objects count for nothing, and hold up nothing. */
export function hasDeparted(slot: Pick<Slot, 'volume'>): boolean {
  const record = recordOf(slot);
  return record !== undefined && !mayCount(record);
}

/** Its member does not run, because the spec asks for none. A member whose PVC is being deleted will not wake on it. */
export function isAsleep(slot: Pick<Slot, 'volume'>): boolean {
  return recordOf(slot)?.state === 'hibernating' && !slot.volume?.leaving;
}

/** A sealed ConfigMap outweighs the mark: that member has started since, and its volume held data. */
export function isBeingReplaced({ peer, configMap }: Slot): boolean {
  return peer?.replacingVolume !== undefined && !configMap?.immutable;
}

/**
 * A volume whose member was removed, or that a recovery or rollback left behind, no longer belongs to the cluster; one
 * that a rollback prepares does not belong to it yet.
 */
function mayCount(record: VolumeRecord): boolean {
  return record.state !== 'released' && record.state !== 'superseded' && !isAspirant(record);
}

function withoutVolumes(seen: Seen): Life {
  const { cluster, slots } = seen;
  const replaced = slots.find(isBeingReplaced)?.peer;
  if (replaced) {
    const { bootstrap, inputs } = replaced;
    const tls = tlsForLife(inputs);
    // Of a peer alone that was written by hand, no cluster is born open that is to let in names.
    const isNamed = tls.tlsMode === 'CertManager' && asksForNames(cluster);
    const record = { ...bootstrap, version: inputs.version, ...tls, ...(isNamed && { allowedNames: 'Own' as const }) };
    return { stage: 'birth', record, clusterId: undefined, strays: [] };
  }
  const isWhole = isWholeWithoutUs(seen);
  // A member that was removed left no trace of ours, though a dead node may keep its objects.
  const isTrace = (slot: Slot) => !isWhole || recordOf(slot)?.state !== 'released';
  const traces = slots.filter((slot) => (slot.peer ?? slot.configMap) !== undefined && isTrace(slot));
  if (traces.length === 0 && (isWhole || !hasServed(seen))) return { stage: 'unborn' };
  // A member of ours that lost its volume is taken off the list, or off the record, and the next one joins.
  const joining = traces.find(({ peer }) => peer?.current)?.peer;
  if (joining && isWhole) return { stage: 'born', token: joining.bootstrap.token, clusterId: undefined, strays: [] };
  const once = cluster.status?.clusterID ? ` (etcd cluster ${cluster.status.clusterID})` : '';
  const left = slots.filter((slot) => recordOf(slot)?.state === 'superseded').map(({ name }) => name);
  if (left.length > 0) {
    return {
      stage: 'unclear',
      reason: 'AllVolumesGone',
      message: `${cluster.metadata.name} had members${once}, and only volumes exist that a recovery left behind: ${left.join(', ')}; they hold the data from before it`,
      offers: [
        {
          loses: 'nothing',
          cure: 'restore the disks themselves (the PersistentVolumeClaims with their annotations, bound to the PersistentVolumes that they had)',
        },
        {
          loses: 'since',
          cure: `to go on from the data before the recovery, set annotation ${annotations.volumeState} of ${left.join(', ')} to sealed`,
        },
      ],
    };
  }
  const late = slots.filter((slot) => slot.late?.bound).map(({ name }) => name);
  const restored =
    late.length > 0
      ? `; the PersistentVolumeClaims ${late.join(', ')} have records from before its birth ended, as after a restore, and no member starts on them`
      : '';
  return {
    stage: 'unclear',
    reason: 'AllVolumesGone',
    message: `${cluster.metadata.name} had members${once}, and none of their volumes exists; the cluster never starts empty in their place${restored}`,
    offers: [
      {
        loses: 'nothing',
        cure: 'restore the disks themselves (the PersistentVolumeClaims with their annotations, bound to the PersistentVolumes that they had; members on restored copies do not start before you approve it)',
      },
      { loses: 'everything', cure: 'to start anew with no data, delete the EtcdCluster and create it again' },
    ],
  };
}

/** Clients are let in once all members are sealed: their Service tells that also where the status was lost (I5). */
export function hasServed({ cluster, shared }: Seen): boolean {
  const { state } = shared?.clientService ?? {};
  return cluster.status?.clusterID !== undefined || state === 'present' || state === 'drifted';
}

/**
 * The cluster that the spec asks to take over has all of its members: none left it, so what is lost of ours was no more
 * than a copy, and a member may join again.
 */
function isWholeWithoutUs({ cluster: { spec, status }, membership }: Seen): boolean {
  const existing = spec.bootstrap?.existing;
  if (!existing || membership?.kind !== 'known') return false;
  if ((status?.clusterID ?? existing.clusterID) !== existing.clusterID) return false;
  if (membership.clusterId !== existing.clusterID) return false;
  return existing.memberIDs.every((id) => membership.members.some((member) => member.id === id && !member.isLearner));
}

/**
 * The token of the cluster. Volumes that hold data decide; a token that only never-bound volumes have comes from an
 * outdated invocation, and is discarded later.
 */
function mainToken(
  recorded: readonly Recorded[],
  slots: readonly Slot[],
  lease: Observation['lease'],
): string | undefined {
  const weighty = tokensOf(recorded.filter(({ slot, record }) => slot.volume?.bound || !isEmpty(record)));
  if (weighty.size > 1) return undefined;
  const [decided] = weighty;
  if (decided !== undefined) return decided;

  const all = tokensOf(recorded);
  const named = new Set(slots.flatMap(({ peer }) => (peer?.current ? [peer.bootstrap.token] : [])));
  if (lease.kind === 'abandoned' && lease.action?.kind === 'prepare-members') {
    for (const { record } of lease.action.members) named.add(record.token);
  }
  const [first] = [...named].filter((token) => all.has(token)).sort();
  return first ?? [...all].sort()[0];
}

function tokensOf(recorded: readonly { readonly record: VolumeRecord }[]): Set<string> {
  return new Set(recorded.map(({ record }) => record.token));
}
