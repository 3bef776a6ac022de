import type { SnapshotSource } from '../api/backup-settings.ts';
import type { VolumeState } from '../api/etcd-peer.ts';
import { etcdIdPattern, isEtcdId } from '../api/identifiers.ts';
import { isPlainObject } from '../api/plain-data.ts';
import type { TlsMode } from '../api/tls-settings.ts';
import { canonicalJson } from './canonical-json.ts';
import { formatInitialCluster, parseInitialCluster } from './initial-cluster.ts';
import { annotations } from './names.ts';
import { formatSealedDisk, parseSealedDisk } from './sealed-disk.ts';
import type { Recovery, ResolvedBackup, VolumeRecord } from './volume-record-types.ts';

/** One field of the record, as it stands on the volume. */
interface Field<T> {
  /** By name, and what a person can put there. The first one says whether the field is there at all. */
  readonly annotations: readonly { readonly name: string; readonly wanted: string }[];
  /** Absent: it may always be missing. */
  readonly isNeeded?: (before: Partial<VolumeRecord>) => boolean;
  readonly decode: (texts: readonly (string | undefined)[]) => Decoded<T>;
  /** A text for each annotation; `undefined`: that one is not written. */
  readonly encode: (value: T) => readonly (string | undefined)[];
}

/** `wrong`: the annotation of that number is nonsense; with a problem where that says more than what is wanted. */
type Decoded<T> = { readonly value: T | undefined } | { readonly wrong: number; readonly problem?: string };

type Fields = { readonly [K in keyof Required<VolumeRecord>]: Field<NonNullable<VolumeRecord[K]>> };

/**
 * Total maps: the compiler holds them against the API's lists without loading its schemas on the path of every
 * invocation. docs/explanation/what-remembers-what.md tells what each state allows. `started`: entered from a started
 * member only; without its IDs nothing could ever prove that it is safe to let go.
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
  restoring: 'any',
  restored: 'any',
  superseded: 'any',
};
const tlsModes: Readonly<Record<TlsMode, true>> = { Managed: true, CertManager: true, Provided: true, Disabled: true };

const isAlways = () => true;
const isStarted = ({ state }: Partial<VolumeRecord>) => state !== undefined && states[state] === 'started';

const tokenPattern = /^[A-Za-z0-9][A-Za-z0-9._-]{0,127}$/;
const tokenInWords = 'letters, digits, ".", "_" and "-"';
const idPattern = new RegExp(etcdIdPattern);
const idInWords = "an ID in hexadecimal, as in etcd's member list";
const versionPattern = /^(0|[1-9]\d*)\.(0|[1-9]\d*)\.(0|[1-9]\d*)$/;
const namePattern = /^[a-z0-9](?:[-a-z0-9.]{0,251}[a-z0-9])?$/;
const nodePattern = namePattern;
const recoveryPattern = /^([0-9a-f]{12})\/(0|[1-9]\d{0,5})$/;
/** metav1.Time. */
const timePattern = /^\d{4}-(?:0[1-9]|1[0-2])-(?:0[1-9]|[12]\d|3[01])T(?:[01]\d|2[0-3]):[0-5]\d:[0-5]\dZ$/;
const hibernationBackupPattern =
  /^([a-z0-9](?:[-a-z0-9.]{0,251}[a-z0-9])?)\/([A-Za-z0-9-]{1,64})@([0-9TZ:-]+)(?:#(0|[1-9]\d{0,14}))?$/;
const sincePattern = /^((?:0|[1-9]\d*)\.(?:0|[1-9]\d*))@(0|[1-9]\d{0,19})$/;

/** Every field of the record with its annotation: a new field needs a row. The first problem in order is reported. */
export const fields: Fields = {
  token: { ...matching(annotations.token, tokenInWords, tokenPattern), isNeeded: isAlways },
  initialCluster: {
    annotations: [{ name: annotations.initialCluster, wanted: 'members like a=http://a:2380,b=http://b:2380' }],
    isNeeded: isAlways,
    decode: ([text = '']) => {
      const list = parseInitialCluster(text);
      return 'problem' in list ? { wrong: 0, problem: list.problem } : { value: list.members };
    },
    encode: (members) => [formatInitialCluster(members)],
  },
  version: { ...matching(annotations.version, 'a version like 3.6.16', versionPattern), isNeeded: isAlways },
  nextVersion: matching(annotations.nextVersion, 'a version like 3.6.16, or absent', versionPattern),
  rollsTo: matching(annotations.rollsTo, 'a version like 3.6.16, or absent', versionPattern),
  minorSince: {
    annotations: [{ name: annotations.minorSince, wanted: 'a minor and an index like 3.6@1234, or absent' }],
    decode: ([text = '']) => {
      const [, minor, index] = sincePattern.exec(text) ?? [];
      return minor === undefined || index === undefined ? { wrong: 0 } : { value: { minor, index } };
    },
    encode: ({ minor, index }) => [`${minor}@${index}`],
  },
  tlsMode: { ...oneOf(annotations.tlsMode, tlsModes), isNeeded: isAlways },
  allowedNames: oneOf(annotations.allowedNames, { Own: true, Taken: true }),
  state: { ...oneOf(annotations.volumeState, states), isNeeded: isAlways },
  clusterId: { ...matching(annotations.clusterId, idInWords, idPattern), isNeeded: isStarted },
  memberId: { ...matching(annotations.memberId, idInWords, idPattern), isNeeded: isStarted },
  mayHaveStarted: matching(annotations.mayHaveStarted, "a peer's UID, or absent", /^[A-Za-z0-9-]{1,64}$/),
  evidence: mark(annotations.evidence),
  disk: {
    annotations: [
      {
        name: annotations.disk,
        wanted: "a PersistentVolume's name, then a space and its volumeHandle if it has one, or absent",
      },
    ],
    decode: ([text = '']) => found(parseSealedDisk(text)),
    encode: (disk) => [formatSealedDisk(disk)],
  },
  replacedAt: matching(annotations.replacedAt, 'a time like 2026-01-02T03:04:05Z, or absent', timePattern),
  outvoted: {
    annotations: [{ name: annotations.outvoted, wanted: 'members and their IDs like orders-1=a1b2, or absent' }],
    decode: ([text = '']) => found(readPairs(text, idPattern)?.map(([name, memberId]) => ({ name, memberId }))),
    encode: (members) => [writePairs(members.map(({ name, memberId }) => [name, memberId]))],
  },
  gaveUp: {
    annotations: [{ name: annotations.gaveUp, wanted: 'IDs of etcd clusters like a1b2,c3d4, or absent' }],
    decode: ([text = '']) => {
      const ids = text.split(',');
      return ids.every(isEtcdId) ? { value: ids } : { wrong: 0 };
    },
    encode: (ids) => [ids.length === 0 ? undefined : ids.join(',')],
  },
  recovery: {
    annotations: [
      { name: annotations.recovery, wanted: 'an approval and an attempt like 0123456789ab/1, or absent' },
      { name: annotations.lastSeenOn, wanted: 'members and their nodes like orders-1=node-a, or absent' },
    ],
    // A rollback records here where members of the cluster that it gives up may still run.
    isNeeded: ({ state, gaveUp }) => state === 'restoring' || (state === 'restored' && gaveUp !== undefined),
    decode: readRecovery,
    encode: ({ id, attempt, lastSeenOn }) => [
      `${id}/${attempt}`,
      writePairs(Object.entries(lastSeenOn).flatMap(([name, nodes]) => nodes.map((node) => [name, node]))),
    ],
  },
  restoredFrom: matching(annotations.restoredFrom, 'twelve hexadecimal digits, or absent', /^[0-9a-f]{12}$/),
  revisionFloor: {
    annotations: [{ name: annotations.revisionFloor, wanted: 'a revision below 2^53, or absent' }],
    decode: ([text = '']) =>
      found(/^[1-9]\d{0,15}$/.test(text) && Number.isSafeInteger(Number(text)) ? Number(text) : undefined),
    encode: (revision) => [String(revision)],
  },
  authoritiesOf: matching(annotations.authoritiesOf, `${tokenInWords}, or absent`, tokenPattern),
  hibernationBackup: {
    annotations: [
      {
        name: annotations.hibernationBackup,
        wanted:
          "an EtcdBackup's name, UID, end and revision like orders-before-hibernation/0a1b@2026-01-02T03:04:05Z#42, or absent",
      },
    ],
    decode: ([text = '']) => {
      const [, name, uid, endedAt, revision] = hibernationBackupPattern.exec(text) ?? [];
      if (!name || !uid || !endedAt || !timePattern.test(endedAt)) return { wrong: 0 };
      return { value: { name, uid, endedAt, ...(revision !== undefined && { revision: Number(revision) }) } };
    },
    encode: ({ name, uid, endedAt, revision }) => [
      `${name}/${uid}@${endedAt}${revision === undefined ? '' : `#${revision}`}`,
    ],
  },
  goesBackTo: {
    annotations: [{ name: annotations.goesBackTo, wanted: 'an EtcdBackup and its snapshot as JSON, or absent' }],
    decode: ([text = '']) => found(parseResolved(text)),
    encode: (backup) => [canonicalJson(backup)],
  },
  trial: oneOf(annotations.trial, { passed: true, waived: true, recovered: true }),
};

function matching(name: string, wanted: string, pattern: RegExp): Field<string> {
  return {
    annotations: [{ name, wanted }],
    decode: ([text = '']) => (pattern.test(text) ? { value: text } : { wrong: 0 }),
    encode: (text) => [text],
  };
}

/** Whatever it says, it is there. */
function mark(name: string): Field<true> {
  return {
    annotations: [{ name, wanted: '"true", or absent' }],
    decode: () => ({ value: true }),
    encode: () => ['true'],
  };
}

function oneOf<K extends string>(name: string, words: Readonly<Record<K, unknown>>): Field<K> {
  const isWord = (text: string): text is K => Object.hasOwn(words, text);
  return {
    annotations: [{ name, wanted: `one of ${Object.keys(words).join(', ')}` }],
    decode: ([text = '']) => (isWord(text) ? { value: text } : { wrong: 0 }),
    encode: (word) => [word],
  };
}

function found<T>(value: T | undefined): Decoded<T> {
  return value === undefined ? { wrong: 0 } : { value };
}

/** Where pods were seen is read also where no recovery is: nonsense there is nonsense. */
function readRecovery([own, seen]: readonly (string | undefined)[]): Decoded<Recovery> {
  const pairs = seen === undefined ? [] : readPairs(seen, nodePattern);
  if (!pairs) return { wrong: 1 };
  if (own === undefined) return { value: undefined };
  const [, id, attempt] = recoveryPattern.exec(own) ?? [];
  return id === undefined ? { wrong: 0 } : { value: { id, attempt: Number(attempt), lastSeenOn: grouped(pairs) } };
}

/** Of its snapshot no more than this is looked at: what is restored is what the hash in an approval is of. */
function parseResolved(text: string): ResolvedBackup | undefined {
  const { name, uid, clusterId, snapshot } = plainObjectIn(text);
  if (typeof name !== 'string' || !namePattern.test(name) || typeof uid !== 'string') return undefined;
  if (!isEtcdId(clusterId)) return undefined;
  if (!isPlainObject(snapshot) || typeof snapshot.object !== 'string') return undefined;
  return { name, uid, clusterId, snapshot: snapshot as unknown as SnapshotSource };
}

function plainObjectIn(text: string): Readonly<Record<string, unknown>> {
  try {
    const value: unknown = JSON.parse(text);
    return isPlainObject(value) ? value : {};
  } catch {
    return {};
  }
}

/** `a=1,b=2`, as {@link writePairs} writes it. */
function readPairs(text: string, value: RegExp): readonly (readonly [string, string])[] | undefined {
  const pairs = text.split(',').map((entry): [string, string] => {
    const [name = '', rest = ''] = entry.split('=', 2);
    return [name, rest];
  });
  return pairs.every(([name, rest]) => namePattern.test(name) && value.test(rest)) ? pairs : undefined;
}

/** None: no annotation. */
function writePairs(pairs: readonly (readonly [string, string])[]): string | undefined {
  return pairs.length === 0 ? undefined : pairs.map(([name, value]) => `${name}=${value}`).join(',');
}

/** A member may have been seen on several nodes. */
function grouped(pairs: readonly (readonly [string, string])[]): Readonly<Record<string, readonly string[]>> {
  const groups = Map.groupBy(pairs, ([name]) => name);
  return Object.fromEntries([...groups].map(([name, same]) => [name, same.map(([, value]) => value)]));
}
