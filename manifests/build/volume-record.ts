import type { VolumeState } from '../api/etcd-peer.ts';
import type { TlsMode } from '../api/tls-settings.ts';
import { formatInitialCluster, type InitialCluster, parseInitialCluster } from './initial-cluster.ts';
import { annotations } from './names.ts';
import { formatSealedDisk, parseSealedDisk, type SealedDisk } from './sealed-disk.ts';

/**
 * Total maps, so that the compiler holds them against the API's own lists without loading its schemas: this file is on the
 * path of every invocation. What each state allows is the table in ARCHITECTURE.md, "What remembers what".
 *
 * `started`: entered from a started member only; without its IDs nothing could ever prove that it is safe to let go.
 */
const states: Readonly<Record<VolumeState, 'started' | 'any'>> = {
  bootstrapping: 'any',
  joining: 'any',
  sealed: 'started',
  hibernating: 'started',
  releasing: 'any',
  released: 'any',
  recovering: 'started',
  recovered: 'started',
  superseded: 'any',
};
const tlsModes: Readonly<Record<TlsMode, true>> = { Managed: true, CertManager: true, Provided: true, Disabled: true };

/** What a volume knows of its member. It survives everything but the volume, so it is the strongest memory after etcd. */
export interface VolumeRecord {
  /** etcd's initial-cluster-token: volumes with the same one belong together. */
  readonly token: string;
  /** As it was, or is to be, at this member's first start. */
  readonly initialCluster: InitialCluster;
  /** Hex, as etcd prints it; known once the member was seen in a member list. */
  readonly clusterId?: string;
  /** Hex, as etcd prints it. */
  readonly memberId?: string;
  /**
   * Planned while bootstrapping, afterwards the last one that was seen to run when no member had yet to change its own; of a member that
   * was taken back meanwhile, what it had run.
   */
  readonly version: string;
  /** Written before a higher one may be started, and taken away when that is `version`, or was never kept: it may have run. */
  readonly nextVersion?: string;
  /** From this index of raft's log on, every entry was written by members of this minor. */
  readonly minorSince?: MinorSince;
  readonly tlsMode: TlsMode;
  /** While bootstrapping: written before its member may be started for the first time. Without it, nobody ever was on this volume. */
  readonly mayHaveStarted?: true;
  /** Its member left because its data were not what most others held: it is kept for whoever finds out why. */
  readonly evidence?: true;
  /** When its member was given up, though the spec asked for as many: it is kept until another one votes, and for a time after that. */
  readonly replacedAt?: string;
  readonly state: VolumeState;
  /** Noted when it is sealed; absent where that was before there was such a note, until it is next seen well. */
  readonly disk?: SealedDisk;
  /** Members that a recovery of this cluster left behind. Theirs is another history: wherever their data turn up, they never start. */
  readonly outvoted?: readonly OutvotedMember[];
  /** On the volume that a recovery goes on from, until that is over. */
  readonly recovery?: Recovery;
}

export interface OutvotedMember {
  readonly name: string;
  /** Hex, as etcd prints it. */
  readonly memberId: string;
}

export interface Recovery {
  /** Of the approval that it rests on: no two recoveries of a cluster have the same. */
  readonly id: string;
  /** Of the last Job that was made for it, counted from 1; 0: none yet. No attempt is ever run twice on a volume. */
  readonly attempt: number;
  /** Where pods of the members were seen last: what is gone from the API server may still run on a node that it does not hear. */
  readonly lastSeenOn: Readonly<Record<string, readonly string[]>>;
}

export interface MinorSince {
  /** Like `3.6`. */
  readonly minor: string;
  /** Decimal: such an index uses all 64 bits, and this is written into claims. */
  readonly index: string;
}

export type ReadVolumeRecord =
  | { readonly kind: 'none' }
  | { readonly kind: 'valid'; readonly record: VolumeRecord }
  | { readonly kind: 'invalid'; readonly problem: string };

type Annotations = Readonly<Record<string, string>>;

const keys = [
  annotations.token,
  annotations.initialCluster,
  annotations.clusterId,
  annotations.memberId,
  annotations.version,
  annotations.nextVersion,
  annotations.minorSince,
  annotations.tlsMode,
  annotations.mayHaveStarted,
  annotations.evidence,
  annotations.replacedAt,
  annotations.volumeState,
  annotations.disk,
  annotations.outvoted,
  annotations.recovery,
  annotations.lastSeenOn,
] as const;

const idPattern = /^[1-9a-f][0-9a-f]{0,15}$/;
const tokenPattern = /^[A-Za-z0-9][A-Za-z0-9._-]{0,127}$/;
const versionPattern = /^(0|[1-9]\d*)\.(0|[1-9]\d*)\.(0|[1-9]\d*)$/;

const namePattern = /^[a-z0-9](?:[-a-z0-9.]{0,251}[a-z0-9])?$/;
const nodePattern = namePattern;
const recoveryPattern = /^([0-9a-f]{12})\/(0|[1-9]\d{0,5})$/;

/** metav1.Time. */
const timePattern = /^\d{4}-(?:0[1-9]|1[0-2])-(?:0[1-9]|[12]\d|3[01])T(?:[01]\d|2[0-3]):[0-5]\d:[0-5]\dZ$/;

const sincePattern = /^((?:0|[1-9]\d*)\.(?:0|[1-9]\d*))@(0|[1-9]\d{0,19})$/;

/**
 * What a volume's annotations say.
 *
 * `none`: not one of ours. `invalid`: ours, but incomplete or edited into nonsense; never guessed at, because a wrong
 * guess starts a member on the wrong data. The problem names the annotation, and what a person can put there.
 */
export function readVolumeRecord(found: Annotations | undefined): ReadVolumeRecord {
  if (!found || !keys.some((key) => found[key] !== undefined)) return { kind: 'none' };

  const token = found[annotations.token] ?? '';
  if (!tokenPattern.test(token)) return invalid(annotations.token, 'letters, digits, ".", "_" and "-"', token);

  const list = parseInitialCluster(found[annotations.initialCluster] ?? '');
  if ('problem' in list)
    return { kind: 'invalid', problem: `annotation ${annotations.initialCluster}: ${list.problem}` };

  const version = found[annotations.version] ?? '';
  if (!versionPattern.test(version)) return invalid(annotations.version, 'a version like 3.6.16', version);

  const nextVersion = found[annotations.nextVersion];
  if (nextVersion !== undefined && !versionPattern.test(nextVersion))
    return invalid(annotations.nextVersion, 'a version like 3.6.16, or absent', nextVersion);

  const since = found[annotations.minorSince];
  const [, minor = '', index = ''] = sincePattern.exec(since ?? '') ?? [];
  if (since !== undefined && minor === '')
    return invalid(annotations.minorSince, 'a minor and an index like 3.6@1234, or absent', since);

  const tlsMode = found[annotations.tlsMode];
  if (!isKeyOf(tlsModes, tlsMode)) return invalid(annotations.tlsMode, oneOf(tlsModes), tlsMode);

  const state = found[annotations.volumeState];
  if (!isKeyOf(states, state)) return invalid(annotations.volumeState, oneOf(states), state);

  const clusterId = found[annotations.clusterId];
  const memberId = found[annotations.memberId];
  for (const [key, id] of [
    [annotations.clusterId, clusterId],
    [annotations.memberId, memberId],
  ] as const) {
    if (id === undefined && states[state] === 'any') continue;
    if (id === undefined || !idPattern.test(id))
      return invalid(key, "an ID in hexadecimal, as in etcd's member list", id);
  }

  const disk = found[annotations.disk] === undefined ? undefined : parseSealedDisk(found[annotations.disk] ?? '');
  if (found[annotations.disk] !== undefined && !disk)
    return invalid(
      annotations.disk,
      "a PersistentVolume's name, with a space and its volumeHandle behind it where it has one, or absent",
      found[annotations.disk],
    );

  const replacedAt = found[annotations.replacedAt];
  if (replacedAt !== undefined && !timePattern.test(replacedAt))
    return invalid(annotations.replacedAt, 'a time like 2026-01-02T03:04:05Z, or absent', replacedAt);

  const outvoted = readPairs(found[annotations.outvoted], idPattern);
  if (outvoted === 'invalid')
    return invalid(
      annotations.outvoted,
      'members and their IDs like orders-1=a1b2, or absent',
      found[annotations.outvoted],
    );

  const lastSeenOn = readPairs(found[annotations.lastSeenOn], nodePattern);
  if (lastSeenOn === 'invalid')
    return invalid(
      annotations.lastSeenOn,
      'members and their nodes like orders-1=node-a, or absent',
      found[annotations.lastSeenOn],
    );

  const recovery = found[annotations.recovery];
  const [, id = '', attempt = ''] = recoveryPattern.exec(recovery ?? '') ?? [];
  if (recovery !== undefined && id === '')
    return invalid(annotations.recovery, 'an approval and an attempt like 0123456789ab/1, or absent', recovery);

  return {
    kind: 'valid',
    record: {
      token,
      initialCluster: list.members,
      ...(clusterId !== undefined && { clusterId }),
      ...(memberId !== undefined && { memberId }),
      version,
      ...(nextVersion !== undefined && { nextVersion }),
      ...(since !== undefined && { minorSince: { minor, index } }),
      tlsMode,
      ...(found[annotations.mayHaveStarted] !== undefined && { mayHaveStarted: true }),
      ...(found[annotations.evidence] !== undefined && { evidence: true }),
      ...(replacedAt !== undefined && { replacedAt }),
      state,
      ...(disk && { disk }),
      ...(outvoted && { outvoted: outvoted.map(([name, memberId]) => ({ name, memberId })) }),
      ...(id !== '' && {
        recovery: { id, attempt: Number(attempt), lastSeenOn: grouped(lastSeenOn ?? []) },
      }),
    },
  };
}

/** `a=1,b=2`, as {@link writePairs} writes it. */
function readPairs(text: string | undefined, value: RegExp): [string, string][] | 'invalid' | undefined {
  if (text === undefined) return undefined;
  const pairs = text.split(',').map((entry): [string, string] => {
    const [name = '', rest = ''] = entry.split('=', 2);
    return [name, rest];
  });
  return pairs.every(([name, found]) => namePattern.test(name) && value.test(found)) ? pairs : 'invalid';
}

/** A member may have been seen on several nodes. */
function grouped(pairs: readonly (readonly [string, string])[]): Readonly<Record<string, readonly string[]>> {
  const groups = Map.groupBy(pairs, ([name]) => name);
  return Object.fromEntries([...groups].map(([name, found]) => [name, found.map(([, value]) => value)]));
}

function writePairs(pairs: readonly (readonly [string, string])[]): string {
  return pairs.map(([name, value]) => `${name}=${value}`).join(',');
}

/** Nobody was ever started on it: the volume is for its member's first start, which did not come yet. */
export function isUnstarted({ state, mayHaveStarted }: VolumeRecord): boolean {
  return state === 'bootstrapping' && !mayHaveStarted;
}

/** Of a claim that is made: nobody was started on it, whatever is known of an earlier one. */
export function unstarted({ mayHaveStarted: _, ...record }: VolumeRecord): VolumeRecord {
  return record;
}

/** The annotations that {@link readVolumeRecord} reads back as this record. */
export function writeVolumeRecord(record: VolumeRecord): Record<string, string> {
  return {
    [annotations.token]: record.token,
    [annotations.initialCluster]: formatInitialCluster(record.initialCluster),
    ...(record.clusterId !== undefined && { [annotations.clusterId]: record.clusterId }),
    ...(record.memberId !== undefined && { [annotations.memberId]: record.memberId }),
    [annotations.version]: record.version,
    ...(record.nextVersion !== undefined && { [annotations.nextVersion]: record.nextVersion }),
    ...(record.minorSince && { [annotations.minorSince]: `${record.minorSince.minor}@${record.minorSince.index}` }),
    [annotations.tlsMode]: record.tlsMode,
    ...(record.mayHaveStarted && { [annotations.mayHaveStarted]: 'true' }),
    ...(record.evidence && { [annotations.evidence]: 'true' }),
    ...(record.replacedAt !== undefined && { [annotations.replacedAt]: record.replacedAt }),
    [annotations.volumeState]: record.state,
    ...(record.disk && { [annotations.disk]: formatSealedDisk(record.disk) }),
    ...((record.outvoted ?? []).length > 0 && {
      [annotations.outvoted]: writePairs((record.outvoted ?? []).map(({ name, memberId }) => [name, memberId])),
    }),
    ...(record.recovery && writeRecovery(record.recovery)),
  };
}

function writeRecovery({ id, attempt, lastSeenOn }: Recovery): Record<string, string> {
  const seen = Object.entries(lastSeenOn).flatMap(([name, nodes]) => nodes.map((node) => [name, node] as const));
  return {
    [annotations.recovery]: `${id}/${attempt}`,
    ...(seen.length > 0 && { [annotations.lastSeenOn]: writePairs(seen) }),
  };
}

/** All annotations of a volume, with this record in place of the one that was there. */
export function withVolumeRecord(found: Annotations | undefined, record: VolumeRecord): Record<string, string> {
  const others = Object.entries(found ?? {}).filter(([key]) => !keys.some((ours) => ours === key));
  return { ...Object.fromEntries(others), ...writeVolumeRecord(record) };
}

function invalid(key: string, wanted: string, found: string | undefined): ReadVolumeRecord {
  const seen = found === undefined ? 'is missing' : `is "${found.slice(0, 80)}"`;
  return { kind: 'invalid', problem: `annotation ${key} ${seen}; it should be ${wanted}` };
}

function isKeyOf<K extends string>(map: Readonly<Record<K, unknown>>, text: string | undefined): text is K {
  return text !== undefined && Object.hasOwn(map, text);
}

function oneOf(map: Readonly<Record<string, unknown>>): string {
  return `one of ${Object.keys(map).join(', ')}`;
}
