import type { Event } from '../../../manifests/kube-types.ts';
import type { Warning } from '../know/observation.ts';

/** kubelet's word for each step of a pod whose volumes and network are there. */
const begun = ['Pulling', 'Pulled', 'Created', 'Started'];

/** Jobs belong to no slot: what is reported of a backup's is read by the same words. */
type Subject = Warning['object'] | 'job';

/**
 * The codes that we know, by the kind of object; and by which later ones they are over. Everything else is left to
 * `kubectl describe`.
 */
const known: Readonly<Record<Subject, ReadonlyMap<string, readonly string[]>>> = {
  pod: new Map([
    ['FailedAttachVolume', ['SuccessfulAttachVolume', ...begun]],
    ['FailedMount', begun],
    ['FailedMapVolume', begun],
    ['VolumeResizeFailed', begun],
    ['FileSystemResizeFailed', begun],
    ['FailedCreatePodSandBox', begun],
    ['NetworkNotReady', begun],
  ]),
  statefulSet: new Map([['FailedCreate', ['SuccessfulCreate']]]),
  job: new Map([['FailedCreate', ['SuccessfulCreate']]]),
  volume: new Map([['ProvisioningFailed', ['ProvisioningSucceeded']]]),
};

/** One event, as far as it is what an event has to be. */
interface Told {
  readonly reason: string;
  readonly message: string;
  readonly since: number;
  readonly at: number;
  readonly count: number;
}

/**
 * What these events still warn of, one entry per reason. Any client that may write events may have written them: fields
 * of the wrong type are left out, times are never in the future, and messages are only ever shown.
 */
export function warningsIn<K extends Subject>(
  events: readonly unknown[],
  { object, uid }: { readonly object: K; readonly uid: string },
  now: Date,
): readonly (Omit<Warning, 'object'> & { readonly object: K })[] {
  const told = events.flatMap((event) => read(event, uid, now.getTime()) ?? []);
  const last = new Map<string, number>();
  for (const { reason, at } of told) last.set(reason, Math.max(at, last.get(reason) ?? 0));
  return [...known[object]].flatMap(([reason, ends]) => {
    const same = told.filter((one) => one.reason === reason);
    const [first, ...others] = same.toSorted((a, b) => b.count - a.count || b.at - a.at);
    const at = last.get(reason) ?? 0;
    if (!first || ends.some((end) => (last.get(end) ?? 0) >= at)) return [];
    const since = Math.min(first.since, ...others.map((one) => one.since));
    const count = same.reduce((sum, one) => sum + one.count, 0);
    return [{ object, uid, reason, message: safe(first.message), since: new Date(since), at: new Date(at), count }];
  });
}

function read(event: unknown, uid: string, now: number): Told | undefined {
  const { reason, note, regarding, metadata, ...rest } = (event ?? {}) as Partial<Event>;
  if (typeof reason !== 'string' || regarding?.uid !== uid) return undefined;
  const { series, deprecatedCount, eventTime, deprecatedFirstTimestamp, deprecatedLastTimestamp } = rest;
  const made = timesIn([eventTime, deprecatedFirstTimestamp, metadata?.creationTimestamp], now);
  const seen = timesIn([series?.lastObservedTime, deprecatedLastTimestamp], now);
  if (made.length + seen.length === 0) return undefined;
  return {
    reason,
    message: typeof note === 'string' ? note : '',
    since: Math.min(...made, ...seen),
    at: Math.max(...made, ...seen),
    count: countOf(series?.count ?? deprecatedCount),
  };
}

function timesIn(texts: readonly unknown[], now: number): readonly number[] {
  return texts.flatMap((text) => {
    const time = typeof text === 'string' ? Date.parse(text) : Number.NaN;
    return Number.isNaN(time) ? [] : [Math.min(time, now)];
  });
}

function countOf(count: unknown): number {
  return typeof count === 'number' && Number.isInteger(count) && count > 0 ? Math.min(count, 1_000_000) : 1;
}

/** So much of a message is read, and shown: of its end more, because runtimes put the cause last. */
const longest = { read: 4096, begin: 80, end: 160 };

/** One line, without what deceives: control characters, overrides of direction, halves of characters. */
function safe(message: string): string {
  const line = message
    .slice(0, longest.read)
    .replaceAll(/[\p{C}\p{Zl}\p{Zp}\s]+/gu, ' ')
    .trim();
  const characters = Array.from(line);
  if (characters.length <= longest.begin + longest.end) return line;
  return `${characters.slice(0, longest.begin).join('')}…${characters.slice(-longest.end).join('')}`;
}
