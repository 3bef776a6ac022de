import Type, { type Static, type TSchema } from 'typebox';
import { Value } from 'typebox/value';
import { forgeTypes } from '../../manifests/api/etcd-fleet.ts';
import type { ConfigMap } from '../../manifests/kube-types.ts';
import { timestamp } from '../time/timestamp.ts';
import { type PendingRecord, recordKeys, recordName } from './pending-record.ts';
import { maxPerCluster } from './wanted-statuses.ts';

/** How records of pending statuses are read back, and when one is tried again. */

/** Milliseconds after the first attempt at which the forge is given up: its Secret may be gone for good. */
const givenUpAfterMs = 24 * 3_600_000;
const firstPauseMs = 60_000;
const longestPauseMs = 3_600_000;

/** Characters: 51 statuses with the longest names and addresses have fewer. */
const longestRecord = 200_000;

const short = Type.String({ maxLength: 512 });
const long = Type.String({ maxLength: 2048 });
const record = Type.Object({
  fleet: Type.Object({ namespace: short, name: short, uid: short }),
  url: long,
  forge: Type.Object({ type: Type.Enum(forgeTypes), apiURL: Type.Optional(long), secretName: short }),
  root: short,
  statuses: Type.Array(
    Type.Object({ sha: Type.String({ pattern: '^[0-9a-f]{40}$' }), context: short, targetURL: Type.Optional(long) }),
    // A fleet keeps those of one commit, and for a moment of the one before as well.
    { minItems: 1, maxItems: 2 * (1 + maxPerCluster) },
  ),
});

const retry = Type.Object({ since: short, attempts: Type.Integer({ minimum: 1 }), next: short });

export type Retry = Readonly<Static<typeof retry>>;

/** Undefined where it is not what we write. */
export function readRecord({ metadata, data }: ConfigMap): PendingRecord | undefined {
  const found: PendingRecord | undefined = read(record, data?.[recordKeys.record]);
  return found && recordName(found.fleet.uid) === metadata.name ? found : undefined;
}

export function readRetry({ data }: ConfigMap): Retry | undefined {
  return read(retry, data?.[recordKeys.retry]);
}

/** After an attempt that failed; undefined: it is given up. */
export function nextRetry(before: Retry | undefined, now: Date, askedFor?: number): Retry | undefined {
  const since = before?.since ?? timestamp(now);
  const attempts = (before?.attempts ?? 0) + 1;
  if (!(now.getTime() - Date.parse(since) < givenUpAfterMs)) return undefined;
  const pause = Math.max(firstPauseMs * 2 ** Math.min(attempts - 1, 10), (askedFor ?? 0) - now.getTime());
  return { since, attempts, next: timestamp(new Date(now.getTime() + Math.min(pause, longestPauseMs))) };
}

function read<Schema extends TSchema>(schema: Schema, text: string | undefined): Static<Schema> | undefined {
  if (text === undefined || text.length > longestRecord) return undefined;
  try {
    const value: unknown = JSON.parse(text);
    return Value.Check(schema, value) ? value : undefined;
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}
