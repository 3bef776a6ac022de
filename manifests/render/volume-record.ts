import { fields } from './volume-fields.ts';
import type { VolumeRecord } from './volume-record-types.ts';

export type {
  HibernationBackup,
  MinorSince,
  OutvotedMember,
  Recovery,
  ResolvedBackup,
  Trial,
  VolumeRecord,
} from './volume-record-types.ts';

export type ReadVolumeRecord =
  | { readonly kind: 'none' }
  | { readonly kind: 'valid'; readonly record: VolumeRecord }
  | { readonly kind: 'invalid'; readonly problem: string };

type Annotations = Readonly<Record<string, string>>;
type Draft = { -readonly [K in keyof VolumeRecord]?: VolumeRecord[K] };

const order = Object.keys(fields) as (keyof VolumeRecord)[];
const keys = Object.values(fields).flatMap(({ annotations }) => annotations.map(({ name }) => name));

/**
 * Reads a volume's annotations. `none`: not one of ours. `invalid`: ours, but incomplete or edited into nonsense; never
 * guessed at, because a wrong guess starts a member on the wrong data. The problem names annotation and cure.
 */
export function readVolumeRecord(found: Annotations | undefined): ReadVolumeRecord {
  if (!found || !keys.some((key) => found[key] !== undefined)) return { kind: 'none' };
  const draft: Draft = {};
  for (const field of order) {
    const problem = readField(field, found, draft);
    if (problem !== undefined) return { kind: 'invalid', problem };
  }
  // Every field that is needed was there.
  return { kind: 'valid', record: draft as VolumeRecord };
}

function readField<K extends keyof VolumeRecord>(field: K, found: Annotations, draft: Draft): string | undefined {
  const { annotations, decode, isNeeded } = fields[field];
  const texts = annotations.map(({ name }) => found[name]);
  const isMissing = texts.every((text) => text === undefined);
  if (isMissing && !isNeeded?.(draft)) return undefined;
  const decoded = isMissing ? { wrong: 0 } : decode(texts);
  if ('value' in decoded) {
    if (decoded.value !== undefined) draft[field] = decoded.value;
    return undefined;
  }
  const { name = '', wanted = '' } = annotations[decoded.wrong] ?? {};
  const problem = 'problem' in decoded ? decoded.problem : undefined;
  return problem === undefined ? nonsense(name, wanted, found[name]) : `annotation ${name}: ${problem}`;
}

function nonsense(key: string, wanted: string, found: string | undefined): string {
  const seen = found === undefined ? 'is missing' : `is "${found.slice(0, 80)}"`;
  return `annotation ${key} ${seen}; it should be ${wanted}`;
}

/** No member was ever started on it: the volume is for its member's first start, which has not happened yet. */
export function isUnstarted({ state, mayHaveStarted }: VolumeRecord): boolean {
  return state === 'bootstrapping' && !mayHaveStarted;
}

/** For a member of a birth that never started: what is on it now holds nothing that a client wrote there. */
export function isBeforeFirstStart({ state }: VolumeRecord): boolean {
  return state === 'bootstrapping' || state === 'restoring';
}

/** Its cluster is born from a snapshot, and is not sealed yet. */
export function isOfRestore({ state }: VolumeRecord): boolean {
  return state === 'restoring' || state === 'restored';
}

/** A rollback's snapshot is restored to it while the cluster that it will replace may still serve: not of that one. */
export function isAspirant({ state, gaveUp }: Pick<VolumeRecord, 'state' | 'gaveUp'>): boolean {
  return state === 'restoring' && gaveUp !== undefined;
}

/** A rollback's data are there, and were tried, or a person went without that: what it gives up may end. */
export function mayTakeOver({ state, gaveUp, trial }: VolumeRecord): boolean {
  return state === 'restored' && gaveUp !== undefined && trial !== undefined;
}

/** For a PVC that is made: no member was started on it, whatever is known of an earlier one. */
export function unstarted({ mayHaveStarted: _, ...record }: VolumeRecord): VolumeRecord {
  return record;
}

/** Restored from what its own member had, and not from a snapshot: these are the data of the cluster. */
export function isOfRecovery({ state, trial }: Pick<VolumeRecord, 'state' | 'trial'>): boolean {
  return state === 'restored' && trial === 'recovered';
}

/** The annotations that {@link readVolumeRecord} reads back as this record. */
export function writeVolumeRecord(record: VolumeRecord): Record<string, string> {
  return Object.fromEntries(order.flatMap((field) => writeField(field, record)));
}

function writeField<K extends keyof VolumeRecord>(field: K, record: VolumeRecord): (readonly [string, string])[] {
  const value = record[field];
  if (value === undefined) return [];
  const { annotations, encode } = fields[field];
  const texts = encode(value);
  return annotations.flatMap(({ name }, index) => {
    const text = texts[index];
    return text === undefined ? [] : [[name, text] as const];
  });
}

/** All annotations of a volume, with this record in place of the one that was there. */
export function withVolumeRecord(found: Annotations | undefined, record: VolumeRecord): Record<string, string> {
  const others = Object.entries(found ?? {}).filter(([key]) => !keys.includes(key));
  return { ...Object.fromEntries(others), ...writeVolumeRecord(record) };
}
