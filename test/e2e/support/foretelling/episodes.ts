import assert from 'node:assert/strict';
import { isDeepStrictEqual } from 'node:util';
import type { ClusterHistoryEntry } from '../../../../manifests/api/etcd-cluster-status.ts';
import { isAsForetold, knowable, mayPass } from '../../../../reconcile/cluster/know/plan/as-foretold.ts';
import { refusals } from '../../../../reconcile/reasons/refusals.ts';
import type { Apart } from './apart.ts';
import type { Foreseen, Sight } from './sight.ts';

/** From a moment at which something was foretold of a cluster to the moment at which that was over. */
export interface Episode {
  readonly cluster: string;
  readonly asked: string;
  readonly plan: Foreseen;
  readonly taken: readonly ClusterHistoryEntry[];
  /** What was decided meanwhile, look by look; the same once. */
  readonly decided: readonly Sight['decided'][];
  /** Absent: something else was asked meanwhile, or nothing more was seen. */
  readonly end?: Sight['decided'];
}

interface Open {
  /** The look that foretold it. */
  readonly sight: Sight;
  readonly plan: Foreseen;
  /** It began with a step that is taken because of what has happened. */
  readonly isByAct: boolean;
  /** How many steps were known when one was taken last. */
  actedAt?: number;
  readonly decided: Sight['decided'][];
  /** How many steps had been taken before. */
  readonly from: number;
}

/**
 * What was foretold of one cluster, and what came of it.
 *
 * An episode begins where a tick first sees what is asked, or takes the first step because of what has happened: what
 * is broken may be well again before that, and a plan takes it as broken for good. It ends where the cluster is at rest
 * again, where all is done that was foretold and what the plan ends with as "waits" is over, or where something else is
 * asked.
 */
export function episodesOf(looks: readonly Sight[]): readonly Episode[] {
  // Several invocations look side by side, and what they saw arrives when they are through with it.
  const sights = looks.toSorted((one, other) => one.at - other.at);
  const episodes: Episode[] = [];
  let known: readonly ClusterHistoryEntry[] = [];
  let open: Open | undefined;
  let asked: string | undefined;
  const close = (end?: Sight['decided']) => {
    if (open) {
      const { plan, decided, from } = open;
      const { name: cluster, asked, generation } = open.sight;
      // Jobs of the cluster itself tell no looks: the first look at a new spec may find steps that it has had already.
      const taken = known.slice(from).filter((step) => (step.generation ?? 0) <= generation);
      episodes.push({ cluster, asked, plan, taken, decided, ...(end && { end }) });
    }
    open = undefined;
  };
  for (const sight of sights) {
    known = grown(known, sight.history);
    if (open && sight.asked !== open.sight.asked) close();
    // A look beside the invocation that acts may see what a step did before the status says that it was taken.
    const isReported = open?.actedAt !== known.length;
    if (open && isReported && isInVain(open, known, sight)) close();
    if (open && isReported && isOver(open, known, sight)) close(sight.decided);
    const isNews = sight.asked !== asked;
    if (open && !isDeepStrictEqual(open.decided.at(-1), sight.decided)) open.decided.push(sight.decided);
    // Of two that looked side by side one acts; what counts is what the one foretold whose step was taken.
    const isOvertaken = open?.isByAct === true && open.from === known.length && sight.decided.kind === 'act';
    if ((!open || isOvertaken) && sight.plan && (isNews || sight.decided.kind === 'act'))
      open = { sight, plan: sight.plan, isByAct: !isNews, decided: [sight.decided], from: known.length };
    if (open && sight.acted) open.actedAt = known.length;
    asked = sight.asked;
  }
  close();
  return episodes;
}

/**
 * A plan takes it that a pod which is made anew comes up. Where it does not, as on damaged data that its log has not
 * told of yet, what is done then is foretold then.
 */
function isInVain({ plan, from }: Open, known: readonly ClusterHistoryEntry[], { decided }: Sight): boolean {
  const taken = known.slice(from);
  return decided.kind === 'act' && taken.at(-1)?.action === 'recreate-pod' && isDone(plan, taken);
}

function isOver({ plan, from, isByAct }: Open, known: readonly ClusterHistoryEntry[], sight: Sight): boolean {
  const { kind, reason } = sight.decided;
  const last = known.slice(from).at(-1);
  switch (kind) {
    case 'done':
      // An invocation that looked beside the acting one saw no occasion yet, or none that it looked for.
      return !isByAct || known.length > from;
    case 'refuse':
      // What ends by itself is a wait, as long as more or another end is foretold, or a failure is to be made up for.
      if (refusals[reason] === 'person') return true;
      return plan.end.kind !== 'done' && !(last && mayPass(last)) && isDone(plan, known.slice(from));
    case 'act':
      // That it waits was foretold, and not what is done when the wait is over.
      return (plan.end.kind === 'waits' || plan.end.kind === 'goes-on') && isDone(plan, known.slice(from));
    case 'wait':
      return false;
  }
}

/** As many steps as a status remembers. */
const remembered = 20;

/** With what a later status remembers. @throws {AssertionError} when more was done between two looks than that */
function grown(
  known: readonly ClusterHistoryEntry[],
  history: readonly ClusterHistoryEntry[],
): readonly ClusterHistoryEntry[] {
  // A look beside the invocation that acts may come later, and have read the status before: all of it is known.
  for (const start of known.keys()) {
    const overlap = known.slice(start, start + history.length);
    if (isDeepStrictEqual(overlap, history.slice(0, overlap.length)))
      return [...known, ...history.slice(overlap.length)];
  }
  assert.ok(history.length < remembered || known.length === 0, 'steps between two looks are forgotten');
  return [...known, ...history];
}

/** What differs, in a word; `undefined` where all is as foretold, or rightly is not. */
export function differenceIn({ plan, taken, end }: Episode, apart?: Apart): 'circles' | 'steps' | 'end' | undefined {
  if (plan.end.kind === 'circles') return 'circles';
  if (apart && 'because' in apart) return undefined;
  if (end?.kind === 'refuse' && apart?.endsFor.includes(end.reason))
    return isDone(plan, taken, true) ? undefined : 'steps';
  if (!isDone(plan, taken, end === undefined)) return 'steps';
  return end === undefined || isEndOf(plan, end) ? undefined : 'end';
}

function isDone({ steps, isBlind }: Foreseen, taken: readonly ClusterHistoryEntry[], isUnderWay = false): boolean {
  return isBlind
    ? isAsForetold(knowable(steps), knowable(taken), { isUnderWay, makesUpAnywhere: true })
    : isAsForetold(steps, taken, { isUnderWay, makesUpAnywhere: true });
}

function isEndOf({ end }: Foreseen, reached: Sight['decided']): boolean {
  switch (end.kind) {
    case 'done':
      return reached.kind === 'done';
    case 'refused':
      return reached.kind === 'refuse' && reached.reason === end.reason;
    case 'waits':
    case 'goes-on':
      return true;
    case 'circles':
      return false;
  }
}
