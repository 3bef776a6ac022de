import { type Context, Hono } from 'hono';
import { KubeError } from '../../reconcile/kube.ts';
import { identityFrom } from '../environment.ts';
import { coalescing } from './coalesce.ts';
import { changeOf } from './events/change.ts';
import { createHolders } from './events/holders.ts';
import { createMemory } from './events/memory.ts';
import { MalformedEvent, readEvents } from './events/read.ts';
import { carryOut, type Done, type Task } from './events/step.ts';
import { type Wish, wishOf } from './events/wish.ts';
import { createGate, type GateLimits } from './gate.ts';
import type { RouteGroup, ServeContext } from './route-group.ts';

/**
 * An object has at most 1.5 MiB in etcd. As many at once as the Service's containerConcurrency, and some who join them.
 */
const limits: GateLimits = { requests: 32, bodyBytes: 4 * 1024 * 1024, allBytes: 32 * 1024 * 1024 };

/**
 * `POST /events`: CloudEvents from PingSource, ApiServerSource, a Broker, or ourselves. The work is done inside the
 * request.
 *
 * Answers are made for a Broker: it tries again after 404, 408, 409, 429 and 5xx, and takes any body that is no event
 * for a failure. So: 204 without a body for whatever is settled, also when there was nothing to do; 400 and 422 for
 * what no repetition cures; 503 for what may pass.
 */
export async function events(context: ServeContext): Promise<RouteGroup> {
  const { log, env } = context;
  const within = { ...context, holders: createHolders(identityFrom(env).holder) };
  const gate = createGate(limits);
  const shared = coalescing<Done>();
  const memory = createMemory();
  const app = new Hono();

  app.post('/events', async (http) => {
    using read = await gate.admit(http.req.raw);
    if (read.kind === 'too-large') return http.body(null, 413);
    if (read.kind === 'busy') return again(http);
    if (read.kind === 'broken') return http.body(null, 400);
    try {
      const wishes = readEvents(http.req.raw.headers, read.body).map((event) => wishOf(event));
      for (const wish of wishes) if (wish.kind === 'nothing' && wish.forget !== undefined) memory.forget(wish.forget);
      const news = wishes.filter(isNews);
      if (news.length === 0) return http.body(null, 204);
      for (const task of tasksOf(news)) {
        const done = await shared(`${task.kind} ${task.clusters.join()}`, () => carryOut(task, within));
        if (done.kind === 'retry') {
          log({ problem: done.because }, 'an event is worth another attempt');
          return again(http);
        }
        if (done.kind === 'nothing') {
          log({ reason: done.because }, 'nothing is done for an event');
          return http.body(null, 204);
        }
        remember(done);
      }
      for (const wish of news) if (wish.kind === 'step' && wish.change) memory.keep(wish.change);
      return http.body(null, 204);
    } catch (error) {
      return failed(http, error);
    }
  });

  function isNews(wish: Wish): boolean {
    if (wish.kind === 'nothing') return false;
    return wish.kind !== 'step' || !wish.change || memory.isNews(wish.change);
  }

  /** What a pass has just looked at is no news when its own writes come back as events. */
  function remember({ clusters }: Extract<Done, { kind: 'handled' }>): void {
    for (const { cluster } of clusters) {
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
    return error.class === 'terminal' ? http.body(null, 422) : again(http);
  }

  return { app };
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
