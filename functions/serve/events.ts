import { type Context, Hono } from 'hono';
import type { ClusterResult } from '../../reconcile/cluster/result.ts';
import { keyOf } from '../../reconcile/fleet/names.ts';
import { isFinal, KubeError } from '../../reconcile/interfaces/kube.ts';
import { identityFrom } from '../environment.ts';
import { createReader } from '../read/reader.ts';
import { changeOf, createMemory } from './events/change.ts';
import { createHolders } from './events/holders.ts';
import { createPace } from './events/pace.ts';
import { MalformedEvent, readEvents } from './events/read.ts';
import { carryOut, type Done, type Task } from './events/step.ts';
import { type Wish, wishOf } from './events/wish.ts';
import { createGate, type GateLimits } from './gate.ts';
import type { RouteGroup, ServeContext } from './route-group.ts';
import { coalescing, gathering } from './sharing.ts';

/** An object has at most 1.5 MiB in etcd. As many at once as the Service's containerConcurrency, and some to join. */
const limits: GateLimits = { requests: 32, bodyBytes: 4 * 1024 * 1024, allBytes: 32 * 1024 * 1024 };

/**
 * `POST /events`: CloudEvents from PingSource, ApiServerSource, a Broker, or ourselves. The work is done in the
 * request. A Broker repeats after 404, 408, 409, 429 and 5xx, and fails on a body that is no event: so 204 without a
 * body for whatever is settled; 400 and 422 for what no repetition cures; 503 for what may pass.
 */
export async function events(context: ServeContext): Promise<RouteGroup> {
  const { log, env } = context;
  // Kept between events: of a repository that was read before, only what is new is fetched.
  const within = { ...context, holders: createHolders(identityFrom(env).holder), reader: createReader() };
  const gate = createGate(limits);
  const shared = coalescing<Done>();
  const memory = createMemory();
  const pace = createPace();
  const slowly = gathering(slowMs, handle);
  const app = new Hono();

  app.post('/events', async (http) => {
    using read = await gate.admit(http.req.raw);
    if (read.kind === 'too-large') return http.body(null, 413);
    if (read.kind === 'busy') return again(http);
    if (read.kind === 'broken') return http.body(null, 400);
    try {
      const told = readEvents(http.req.raw.headers, read.body);
      const wishes = told.map((event) => wishOf(event));
      for (const wish of wishes) if (wish.kind === 'nothing' && wish.forget !== undefined) memory.forget(wish.forget);
      const news = wishes.filter(isNews);
      if (news.length === 0) return http.body(null, 204);
      const isInPace = pace.mayStart(told[0]?.source ?? '');
      const { failed } = await (isInPace ? handle(news) : slowly(news));
      // Of what others asked for together with this one, nothing is this one's.
      const own = failed.find(({ cluster }) => cluster === undefined || asksFor(news, cluster));
      if (!own) return http.body(null, 204);
      log({ problem: own.because }, 'an event is worth another attempt');
      return again(http);
    } catch (error) {
      return failed(http, error);
    }
  });

  async function handle(news: readonly Wish[]): Promise<Handled> {
    const failed: Failed[] = [];
    for (const task of tasksOf(news)) {
      const key = `${task.kind} ${task.again ?? 0} ${task.clusters.join()}`;
      const done = await shared(key, () => carryOut(task, within));
      if (done.kind === 'retry') failed.push({ because: done.because });
      else if (done.kind === 'nothing') log({ reason: done.because }, 'nothing is done for an event');
      else {
        remember(done);
        if (task.kind === 'step') failed.push(...done.clusters.flatMap(failureOf));
      }
    }
    return { failed };
  }

  function isNews(wish: Wish): boolean {
    if (wish.kind === 'nothing') return false;
    return wish.kind !== 'step' || !wish.change || memory.isNews(wish.change);
  }

  /**
   * An object that a pass has just looked at is no news as an event. Only the API server's own words count: events can
   * be made up, and a hint never suppresses a look.
   */
  function remember({ clusters, seen }: Extract<Done, { kind: 'handled' }>): void {
    const isFailed = new Set(clusters.flatMap(failureOf).map(({ cluster }) => cluster));
    if (isFailed.size === 0) for (const change of seen) memory.keep(change);
    for (const { cluster } of clusters.filter((one) => !isFailed.has(keyOf(one.cluster)))) {
      const { managedFields: _, ...metadata } = cluster.metadata as typeof cluster.metadata & {
        managedFields?: unknown;
      };
      const change = changeOf({ ...cluster, kind: 'EtcdCluster', metadata }, false);
      if (change) memory.keep(change);
    }
  }

  function failed(http: Context, error: unknown): Response {
    if (error instanceof MalformedEvent) {
      log({ problem: error.message }, 'an event was refused');
      return http.body(null, 400);
    }
    if (!(error instanceof KubeError)) throw error;
    log({ problem: error.message }, 'no step could be taken for an event');
    return isFinal(error) ? http.body(null, 422) : again(http);
  }

  return { app };
}

interface Failed {
  /** Absent: all that was asked for. */
  readonly cluster?: string;
  readonly because: string;
}

interface Handled {
  readonly failed: readonly Failed[];
}

/** Milliseconds between two passes for what comes faster than events may start passes. */
const slowMs = 1_000;

function failureOf({ outcome, cluster, problem, decision }: ClusterResult): Failed[] {
  return outcome === 'failed' ? [{ cluster: keyOf(cluster), because: problem ?? decision.message }] : [];
}

function asksFor(wishes: readonly Wish[], cluster: string): boolean {
  return wishes.some((wish) => wish.kind === 'step' && wish.cluster === cluster);
}

/** A batch's wishes together: a tick covers all the others; else those of one kind are one pass. */
export function tasksOf(wishes: readonly Wish[]): readonly Task[] {
  if (wishes.some(({ kind }) => kind === 'tick')) return [{ kind: 'tick', clusters: [] }];
  const steps = new Set(wishes.flatMap((wish) => (wish.kind === 'step' ? [wish.cluster] : [])));
  const followUps = wishes.filter((wish) => wish.kind === 'follow-up');
  const isForAll = followUps.some(({ clusters }) => clusters.length === 0);
  const followed = isForAll ? [] : [...new Set(followUps.flatMap(({ clusters }) => clusters))].toSorted();
  const again = Math.min(...followUps.map((wish) => wish.again ?? 0));
  return [
    ...(steps.size > 0 ? [{ kind: 'step', clusters: [...steps].toSorted() } as const] : []),
    ...(followUps.length > 0 ? [{ kind: 'follow-up', clusters: followed, ...(again > 0 && { again }) } as const] : []),
  ];
}

function again(http: Context): Response {
  return http.body(null, 503, { 'retry-after': '2' });
}
