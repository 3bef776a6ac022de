import { setTimeout as pause } from 'node:timers/promises';
import { firstAbort } from '../../manifests/abort-after.ts';
import type { Wake } from '../cluster/know/decision.ts';
import { type Kube, KubeError, type KubeObject, type Resource, resources } from '../interfaces/kube.ts';
import { type Changing, matterOf } from './matter.ts';
import { patiently } from './patience.ts';
import type { Log } from './traced.ts';

/** The events of a wait, by the key of the object that they make worth another step. */
export interface Waiting {
  readonly key: string;
  readonly wakes: readonly Wake[];
  /** Times are counted from then, as `performance.now()` tells. Absent: from when it is waited for. */
  readonly since?: number;
}

/** Objects that wake although none of them is waited for: another invocation began to change them. */
export interface Adopting {
  readonly resource: Resource;
  isBegun(object: KubeObject): boolean;
}

interface WakerContext {
  readonly kube: Kube;
  /** Of a list made before the first round looked: nothing since then is missed. */
  readonly resourceVersion: string;
  readonly namespace?: string | undefined;
  readonly log: Log;
  /** Of the objects that change: its value names the object that is waited for. Absent: only the clock wakes. */
  readonly label?: string | undefined;
  readonly adopts?: Adopting | undefined;
}

/** Waits for what decisions named, over several rounds: what happens during a round is not missed. */
export interface Waker extends WakerContext, Disposable {
  readonly closing: AbortController;
  readonly watched: Set<Changing | 'adopted'>;
  /** Watches that would fail again: the clock alone wakes. */
  readonly lost: Set<Changing>;
  readonly matters: Map<string, string>;
  /** Kind and key, or a star for all of that kind. */
  readonly news: Set<string>;
  heard: PromiseWithResolvers<void>;
}

const none: ReadonlySet<string> = new Set();

/** Several changes come together, as a rule: three pods get ready within a moment. */
const gatherMs = 100;
/** Until a watch that ended is begun anew, or a wait that has lost its watch is over. */
const retrySeconds = 2;

/**
 * One watch per kind that is waited for, on objects with our label, all from one list's resourceVersion: an API server
 * numbers its store in one sequence. Where it does not (a kind in an etcd of its own), the watch fails or starts later,
 * and the timer and the next tick remain.
 */
export function createWaker(context: WakerContext): Waker {
  const closing = new AbortController();
  return {
    ...context,
    closing,
    watched: new Set(),
    lost: new Set(),
    matters: new Map(),
    news: new Set(),
    heard: Promise.withResolvers(),
    [Symbol.dispose]: () => closing.abort(),
  };
}

/**
 * From here on, what happens to these counts as news. Call it before looking at them again.
 *
 * @param others for whom it stays news that a watch had ended
 */
export function forgetNews({ news }: Waker, looked: ReadonlySet<string>, others: readonly string[] = []): void {
  for (const one of [...news]) {
    const [of, key = ''] = one.split(' ');
    if (key === '*') for (const other of others) if (!looked.has(other)) news.add(`${of} ${other}`);
    if (key === '*' || looked.has(key)) news.delete(one);
  }
}

/**
 * The keys that woke, or that another invocation began to change; none when the time was up first.
 *
 * @param stepping what is looked at just now, and wakes by nothing
 */
export async function waitFor(
  waker: Waker,
  waits: readonly Waiting[],
  until: AbortSignal,
  stepping = none,
): Promise<ReadonlySet<string>> {
  const startedAt = performance.now();
  watchFor(waker, waits);
  while (!until.aborted) {
    const now = performance.now();
    const clocked = waits.map((one) => withClock(waker, { since: startedAt, ...one }));
    if (wokenOf(waker, clocked, now, stepping).size > 0) {
      if (waker.news.size > 0) await slept(gatherMs, until);
      return wokenOf(waker, clocked, now, stepping);
    }
    const times = clocked.flatMap(({ wakes, since }) => wakes.flatMap((wake) => dueAt(wake, since) ?? []));
    waker.heard = Promise.withResolvers();
    const left = times.length > 0 ? Math.max(1, Math.min(...times) - now) : undefined;
    await firstOf(waker.heard.promise, left, until);
  }
  return new Set();
}

function watchFor(waker: Waker, waits: readonly Waiting[]): void {
  const { watched, adopts } = waker;
  if (adopts && !watched.has('adopted')) {
    watched.add('adopted');
    void watchAdopted(waker, adopts);
  }
  for (const wake of waits.flatMap(({ wakes }) => wakes)) {
    if (wake.on !== 'change' || watched.has(wake.of)) continue;
    watched.add(wake.of);
    void watch(waker, wake.of);
  }
}

/** A wait that named no time, and whose watch is lost, gets one. */
function withClock({ lost }: Waker, waiting: Required<Waiting>): Required<Waiting> {
  const { wakes } = waiting;
  const isLost = wakes.some((wake) => wake.on === 'change' && lost.has(wake.of));
  if (!isLost || wakes.some(({ on }) => on === 'time')) return waiting;
  return { ...waiting, wakes: [...wakes, { on: 'time', afterSeconds: retrySeconds }] };
}

function dueAt(wake: Wake, since: number): number | undefined {
  return wake.on === 'time' ? since + wake.afterSeconds * 1000 : undefined;
}

function wokenOf(
  { news }: Waker,
  waits: readonly Required<Waiting>[],
  now: number,
  stepping: ReadonlySet<string>,
): ReadonlySet<string> {
  const wakesNow = ({ key, since }: Required<Waiting>, wake: Wake) =>
    wake.on === 'time' ? now >= (dueAt(wake, since) ?? now) : news.has(`${wake.of} ${key}`) || news.has(`${wake.of} *`);
  const awaited = new Set(waits.map(({ key }) => key));
  const adopted = [...news].flatMap((one) => (one.startsWith('adopted ') ? [one.slice('adopted '.length)] : []));
  return new Set([
    ...waits.filter((one) => one.wakes.some((wake) => wakesNow(one, wake))).map(({ key }) => key),
    // Those that are awaited say themselves what for.
    ...adopted.filter((key) => !awaited.has(key) && !stepping.has(key)),
  ]);
}

/** A running follow-up is the only invocation that goes on with what another one left unfinished. */
async function watchAdopted(waker: Waker, { resource, isBegun }: Adopting): Promise<void> {
  const { kube, namespace, resourceVersion, closing, log } = waker;
  try {
    const options = { namespace, resourceVersion, signal: closing.signal };
    for await (const { type, object } of kube.watch<KubeObject>(resource, options)) {
      if (type !== 'DELETED' && isBegun(object))
        tell(waker, `adopted ${object.metadata.namespace}/${object.metadata.name}`);
    }
  } catch (error) {
    log({ problem: problemOf(error) }, `${resource.plural} cannot be watched: other changes wait for the next tick`);
  }
}

async function watch(waker: Waker, kind: Changing): Promise<void> {
  const { closing, log, watched, lost } = waker;
  try {
    await patiently({ log, until: closing.signal, pauseMs: retrySeconds * 1000 }, () => watchOnce(waker, kind));
  } catch (error) {
    if (closing.signal.aborted && error instanceof KubeError) return;
    // This promise is not awaited, so a rejection would end the whole process; and a watch only saves time.
    log({ problem: problemOf(error) }, `${kind} cannot be watched; the timers go on`);
    lost.add(kind);
    waker.heard.resolve();
    return;
  }
  // The watch ended by itself: one look too many is better than a missed change.
  await pause(retrySeconds * 1000, undefined, { signal: closing.signal, ref: false }).catch(() => undefined);
  watched.delete(kind);
  tell(waker, `${kind} *`);
}

/** Begun anew, it tells again what came since the list: what changed meanwhile is not missed. */
async function watchOnce(waker: Waker, kind: Changing): Promise<void> {
  const { kube, namespace, resourceVersion, closing, label = '', matters } = waker;
  const options = { namespace, labelSelector: label, resourceVersion, signal: closing.signal };
  for await (const { type, object } of kube.watch<KubeObject>(resources[kind], options)) {
    const id = `${kind} ${object.metadata.uid}`;
    const matter = type === 'DELETED' ? 'gone' : matterOf(kind, object);
    // An object that was there at the start wakes only if it already is what the wait is for.
    if (matter === (matters.get(id) ?? '')) continue;
    matters.set(id, matter);
    tell(waker, `${kind} ${object.metadata.namespace}/${object.metadata.labels?.[label]}`);
  }
}

function tell({ news, heard }: Waker, what: string): void {
  news.add(what);
  heard.resolve();
}

function problemOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/** Resolves at the news, when the time is over, or when the wait is cancelled. */
async function firstOf(heard: Promise<void>, ms: number | undefined, until: AbortSignal): Promise<void> {
  const over = new AbortController();
  const signal = firstAbort(over.signal, until);
  const longest = 2 ** 31 - 1;
  await Promise.race([heard, slept(Math.min(ms ?? longest, longest), signal)]);
  over.abort();
}

async function slept(ms: number, signal: AbortSignal): Promise<void> {
  await pause(ms, undefined, { signal }).catch((error: unknown) => {
    if (!signal.aborted) throw error;
  });
}
