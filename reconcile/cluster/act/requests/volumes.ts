import type { PersistentVolumeClaim } from '../../../../manifests/kube-types.ts';
import { annotations, ordinalOf } from '../../../../manifests/render/names.ts';
import { readVolumeRecord, type VolumeRecord, withVolumeRecord } from '../../../../manifests/render/volume-record.ts';
import type { ListedMember } from '../../../interfaces/etcd.ts';
import { resources } from '../../../interfaces/kube.ts';
import type { Program } from '../../../requests/program.ts';
import { conflict } from '../../../requests/refusals.ts';
import type { VolumeView } from '../../know/observation.ts';
import { moved } from '../../know/outcome.ts';
import { nameOf } from '../../know/recovery/lost.ts';
import type { Ref } from '../../know/ref.ts';
import { listOursAnd, preconditionsOf } from '../actions/context.ts';
import type { Host } from './host.ts';
import { getOne, type Live, writeBack } from './live.ts';
import type { ReadAt } from './read-at.ts';
import { defineRequest } from './request.ts';

/** PersistentVolumeClaims, and what their annotations remember. */

export interface VolumeRead {
  readonly uid: string;
  readonly leaving: boolean;
  /** Whether it ever got a real volume behind it. */
  readonly bound: boolean;
  /** Its PersistentVolume is gone. */
  readonly lost: boolean;
  readonly record: VolumeRecord;
  readonly readAt: ReadAt;
}

/** @throws {StepError} when its annotations cannot be read. */
export const readVolume = defineRequest('readVolume', {
  words: ({ name }: { readonly name: string }) => `reads volume ${name}`,
  live: async ({ name }, live): Promise<VolumeRead | undefined> => {
    const found = await getOne<PersistentVolumeClaim>(live, resources.volumeClaims, name);
    return found && volumeRead(found, live);
  },
  model: (state, { name }, host) => {
    const found = host.get(state, name, 'volume');
    return { state, answer: found && { ...seen(name, found), readAt: current(name) } };
  },
});

function volumeRead(found: PersistentVolumeClaim, live: Live): VolumeRead {
  const read = readVolumeRecord(found.metadata.annotations);
  if (read.kind !== 'valid') throw unreadable(found.metadata.name);
  return { ...claimSeen(found), record: read.record, readAt: live.keep('volume', found.metadata.name, found) };
}

function claimSeen({
  metadata,
  spec,
  status,
}: PersistentVolumeClaim): Pick<VolumeRead, 'uid' | 'leaving' | 'bound' | 'lost'> {
  return {
    uid: metadata.uid ?? '',
    leaving: metadata.deletionTimestamp !== undefined,
    bound: Boolean(spec.volumeName),
    lost: status?.phase === 'Lost',
  };
}

function seen(name: string, { uid, leaving, bound, lost, record }: VolumeView): Omit<VolumeRead, 'readAt'> {
  if (record.kind !== 'valid') throw unreadable(name);
  return { uid, leaving, bound, lost, record: record.record };
}

function unreadable(name: string): Error {
  return moved(`the annotations of volume ${name} have changed since they were looked at`);
}

function current(name: string): ReadAt {
  return { object: 'volume', name, at: 'current' };
}

/** What a volume remembers from now on. Refused when anything was written to it since it was read. */
export const writeRecord = defineRequest('writeRecord', {
  words: ({ readAt: { name }, record }: { readonly readAt: ReadAt; readonly record: VolumeRecord }) =>
    `writes on volume ${name} that it is ${record.state}`,
  writes: ({ readAt: { name } }) => ({ fence: 'version', object: 'volume', name }),
  live: async ({ readAt, record }, live): Promise<ReadAt> => {
    const claim = live.kept<PersistentVolumeClaim>(readAt);
    const metadata = { ...claim.metadata, annotations: withVolumeRecord(claim.metadata.annotations, record) };
    const written = await writeBack<PersistentVolumeClaim>(live, resources.volumeClaims, { ...claim, metadata });
    return live.keep('volume', readAt.name, written);
  },
  model: (state, { readAt, record }, host) => {
    const { unmarked: _, ...found } = unchanged(state, readAt, host);
    const written = host.put(state, readAt.name, 'volume', { ...found, record: { kind: 'valid', record } });
    return { state: written, answer: current(readAt.name) };
  },
});

function unchanged<S>(state: S, readAt: ReadAt, host: Host<S>): VolumeView {
  const found = host.get(state, readAt.name, 'volume');
  if (!found || !host.isCurrent(readAt)) throw conflict(`volume ${readAt.name} has changed since it was read`);
  return found;
}

export interface OtherVolume {
  readonly name: string;
  readonly state: VolumeRecord['state'];
  readonly memberId?: string;
  readonly readAt: ReadAt;
}

/**
 * The volumes of all members but one, by their labels and by the names of those that are listed. What cannot be read is
 * none.
 */
export const listOtherVolumes = defineRequest('listOtherVolumes', {
  words: ({ name }: { readonly name: string; readonly listed: readonly string[] }) =>
    `lists the volumes of all but ${name}`,
  live: async ({ name, listed }, live): Promise<readonly OtherVolume[]> => {
    const cluster = live.cluster.metadata.name;
    // By name as well: a PVC that has lost its labels is as good a mark as any.
    const names = listed.filter((member) => ordinalOf(cluster, member) !== undefined);
    const claims = await listOursAnd<PersistentVolumeClaim>(live, resources.volumeClaims, names);
    return claims.flatMap((claim) => {
      const other = claim.metadata.name;
      const read = readVolumeRecord(claim.metadata.annotations);
      if (other === name || ordinalOf(cluster, other) === undefined || read.kind !== 'valid') return [];
      return [otherVolume(other, read.record, live.keep('volume', other, claim))];
    });
  },
  model: (state, { name }, host) => {
    const others = host.names(state).flatMap((other) => {
      const record = other === name ? undefined : host.get(state, other, 'volume')?.record;
      return record?.kind === 'valid' ? [otherVolume(other, record.record, current(other))] : [];
    });
    return { state, answer: others };
  },
});

function otherVolume(name: string, { state, memberId }: VolumeRecord, readAt: ReadAt): OtherVolume {
  return { name, state, ...(memberId !== undefined && { memberId }), readAt };
}

/** A write that changes nothing but the version, so that what was sent before it fails. */
export const touchVolume = defineRequest('touchVolume', {
  words: ({ readAt: { name } }: { readonly readAt: ReadAt }) => `writes to volume ${name}, which stays as it is`,
  writes: ({ readAt: { name } }) => ({ fence: 'version', object: 'volume', name }),
  live: async ({ readAt }, live): Promise<void> => {
    const claim = live.kept<PersistentVolumeClaim>(readAt);
    // An update that changes nothing leaves the version as it is: so it says what that was.
    const changed = { ...claim.metadata.annotations, [annotations.stays]: readAt.at };
    const metadata = { ...claim.metadata, annotations: changed };
    await writeBack<PersistentVolumeClaim>(live, resources.volumeClaims, { ...claim, metadata });
  },
  model: (state, { readAt }, host) => {
    const found = unchanged(state, readAt, host);
    return { state: host.put(state, readAt.name, 'volume', { ...found }), answer: undefined };
  },
});

interface OneVolume {
  readonly uid: string;
  readonly readAt: ReadAt;
}

/**
 * What a pod has open only begins to go. Refused when anything was written to it since it was read: it may have been
 * bound.
 */
export const deleteVolume = defineRequest('deleteVolume', {
  words: ({ readAt: { name } }: OneVolume) => `deletes volume ${name}`,
  writes: ({ readAt: { name } }) => ({ fence: 'version', object: 'volume', name }),
  live: async ({ readAt }, { kube, kept, cluster, signal }): Promise<void> => {
    const preconditions = preconditionsOf(kept<PersistentVolumeClaim>(readAt));
    await kube.delete(resources.volumeClaims, cluster.metadata.namespace, readAt.name, { preconditions, signal });
  },
  model: (state, { readAt }, host) => {
    if (!host.get(state, readAt.name, 'volume')) return { state, answer: undefined };
    unchanged(state, readAt, host);
    return { state: host.remove(state, readAt.name, 'volume'), answer: undefined };
  },
});

export interface ClaimRead extends Omit<VolumeRead, 'record'> {
  /** Requested, a quantity. */
  readonly size: string;
}

/** A PVC as it stands there, whatever its annotations say. */
export const readPvc = defineRequest('readPvc', {
  words: ({ name }: { readonly name: string }) => `reads the PVC ${name}`,
  live: async ({ name }, live): Promise<ClaimRead | undefined> => {
    const found = await getOne<PersistentVolumeClaim>(live, resources.volumeClaims, name);
    if (!found) return undefined;
    const size = String(found.spec.resources.requests?.storage ?? '0');
    return { ...claimSeen(found), size, readAt: live.keep('volume', name, found) };
  },
  model: (state, { name }, host) => {
    const found = host.get(state, name, 'volume');
    if (!found) return { state, answer: undefined };
    const { uid, leaving, bound, lost, size } = found;
    return { state, answer: { uid, leaving, bound, lost, size, readAt: current(name) } };
  },
});

/** The names under which members of the list may have volumes. */
export function namesOf(listed: readonly ListedMember[]): readonly string[] {
  return listed.map(nameOf);
}

/** The volume that was looked at, also on its way out; `undefined` when it has gone, or is another one by now. */
export function* volumeAsSeen({ name, uid }: Ref): Program<VolumeRead | undefined> {
  const found = yield* readVolume({ name });
  return found?.uid === uid ? found : undefined;
}

/**
 * The volume of a member that is there to stay. @throws {StepError} when it is gone or going, or its annotations cannot
 * be read.
 */
export function* liveVolume(name: string): Program<VolumeRead> {
  const found = yield* readVolume({ name });
  if (!found || found.leaving) throw moved(`volume ${name} has gone since it was looked at`);
  return found;
}
