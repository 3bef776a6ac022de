import type { Pod } from '../../../../manifests/kube-types.ts';
import { etcdContainer } from '../../../../manifests/render/names.ts';
import { quotaBackendBytes } from '../../../../manifests/render/quota.ts';
import { ailmentOf, memberOf, type Seen } from '../health/health.ts';
import { leads } from '../membership/leadership.ts';
import type { Slot } from '../observation.ts';

/** The database of one member, in bytes. */
export interface Database {
  readonly slot: Slot;
  readonly memberId: string;
  readonly isLearner: boolean;
  /** Of the file: what the quota is about. */
  readonly size: number;
  /**
   * Of the file, without free pages. Never too small; but a follower counts pages that a compaction freed only after
   * the next writes, and there are none while etcd is out of space (seen on 3.5, 3.6 and 3.7).
   */
  readonly used: number;
  readonly quota: number;
  readonly revision: bigint;
}

/** etcd accepts no writes: a member's database has outgrown its quota. Every member's status reports it. */
export function isOutOfSpace(slots: readonly Slot[]): boolean {
  return slots.some((slot) => complains(slot, 'NOSPACE'));
}

export function isCorrupt(slots: readonly Slot[]): boolean {
  return slots.some((slot) => complains(slot, 'CORRUPT'));
}

function complains({ endpoint }: Slot, alarm: string): boolean {
  return endpoint.kind === 'known' && endpoint.status.errors.some((error) => error.includes(alarm));
}

/**
 * Of every member, the leader last: the order of defragmentation. `undefined` while a voter is not healthy, or has no
 * EtcdPeer.
 */
export function databasesOf(situation: Seen): readonly Database[] | undefined {
  const { membership, slots } = situation;
  if (membership.kind === 'unknown') return undefined;
  const databases: Database[] = [];
  for (const member of membership.members) {
    const slot = slots.find((one) => memberOf(one, membership.members)?.id === member.id);
    const isWell = slot !== undefined && ailmentOf(slot, situation) === undefined;
    if (!isWell && !member.isLearner) return undefined;
    // The EtcdPeer says the quota: without it, whether that voter has room is unknown.
    if (!slot?.peer && !member.isLearner) return undefined;
    if (slot?.endpoint.kind !== 'known' || !slot.peer) continue;
    const { dbSize, dbSizeInUse, revision } = slot.endpoint.status;
    databases.push({
      slot,
      memberId: member.id,
      isLearner: member.isLearner,
      size: Number(dbSize),
      used: Number(dbSizeInUse),
      quota: slot.pod?.quota ?? quotaBackendBytes(slot.peer.inputs),
      revision,
    });
  }
  return databases.toSorted((a, b) => Number(leads(a.slot)) - Number(leads(b.slot)));
}

/**
 * How much space the content would take in a file of its own. It is the same for all members at the newest revision,
 * and the member that was asked for the compaction has the best figure.
 */
export function contentOf(databases: readonly Database[]): number {
  const newest = newestOf(databases);
  return Math.min(...databases.filter(({ revision }) => revision === newest).map(({ used }) => used));
}

/** The revision that etcd is at. */
export function newestOf(databases: readonly Pick<Database, 'revision'>[]): bigint {
  return databases.reduce((newest, { revision }) => (revision > newest ? revision : newest), 0n);
}

/** `--quota-backend-bytes` of the pod's etcd; `undefined` where it has none. */
export function quotaFlagOf({ spec }: Pod): number | undefined {
  const args = spec.containers.find(({ name }) => name === etcdContainer)?.args ?? [];
  const [given] = args.flatMap((arg) => /^--quota-backend-bytes=(\d+)$/.exec(arg)?.[1] ?? []);
  return given === undefined ? undefined : Number(given);
}
