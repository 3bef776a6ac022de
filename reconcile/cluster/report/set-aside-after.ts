import type { ClusterSetAside } from '../../../manifests/api/etcd-cluster-status.ts';
import { curedBy } from '../../reasons/cure.ts';
import type { Failure } from '../../requests/refusals.ts';
import { timestamp } from '../../time/timestamp.ts';
import { targetOf } from '../act/act.ts';
import type { Action } from '../know/action.ts';
import type { Decision } from '../know/decision.ts';
import type { Observation } from '../know/observation.ts';
import type { Outcome } from '../know/outcome.ts';
import { keyOf } from '../know/set-aside.ts';

/** The actions that are set aside after this step. Equal for equal facts, unless one was refused just now. */
export function setAsideAfter(
  { cluster, at }: Pick<Observation, 'cluster' | 'at'>,
  decision: Decision,
  outcome: Outcome,
): readonly ClusterSetAside[] {
  const generation = cluster.metadata.generation ?? 0;
  const kept = (cluster.status?.setAside ?? []).filter(
    (entry) =>
      entry.generation === generation &&
      at.getTime() < Date.parse(entry.until) + (entry.repeated ? inARow : forgottenAfter) * 1000,
  );
  if (decision.kind !== 'act' || (outcome.kind !== 'acted' && outcome.kind !== 'failed')) return kept;
  const { action } = decision;
  const key = keyOf(action);
  const others = kept.filter((entry) => entry.action !== action.kind || entry.key !== key);
  if (outcome.kind === 'acted') return others;
  const { failure } = outcome;
  const repeated = failure.class !== 'terminal';
  const last = kept.find((entry) => entry.action === action.kind && entry.key === key);
  const isSame = last?.repeated === true ? repeated && last.reason === failure.reason : !repeated;
  const before = isSame ? last : undefined;
  const tries = (before?.tries ?? 0) + 1;
  const since = before?.since ?? timestamp(at);
  const pause = repeated ? pauseOfRepeated(tries, since, at, isPart(action, others, at)) : pauseAfter(tries);
  const target = targetOf(action)?.slice(0, 253);
  const entry: ClusterSetAside = {
    action: action.kind,
    ...(target && { target }),
    key,
    reason: failure.reason,
    message: (repeated ? curedBy(failure.message, cureOfRepeated(failure)) : failure.message).slice(0, 2000),
    generation,
    ...(repeated && { repeated }),
    since,
    tries,
    until: timestamp(new Date(at.getTime() + pause * 1000)),
  };
  return [...others, entry].slice(-mostEntries);
}

function pauseAfter(tries: number): number {
  return Math.min(firstPause * 2 ** Math.min(tries - 1, 10), longestPause);
}

/**
 * None before it failed often enough, and for long enough. One of several members' whose whole has stepped aside does
 * so at once.
 */
function pauseOfRepeated(tries: number, since: string, at: Date, isPartOfOne: boolean): number {
  const isLasting = tries >= repeats.times && at.getTime() - Date.parse(since) >= repeats.seconds * 1000;
  if (!isLasting && !isPartOfOne) return 0;
  return Math.min(firstPause * 2 ** Math.min(Math.max(tries - repeats.times, 0), 10), repeats.longestPause);
}

function isPart({ kind }: Action, others: readonly ClusterSetAside[], at: Date): boolean {
  return others.some(({ action, repeated, until }) => action === kind && repeated && at.getTime() < Date.parse(until));
}

/** By what answered, as far as its code tells. */
export function cureOfRepeated({ reason }: Failure): string {
  return reason.startsWith('Etcd')
    ? 'look at the logs of the members: etcd does not answer this, or refuses it'
    : reason === 'WorldMoved' || reason === 'Conflict' || reason === 'AlreadyExists'
      ? 'another client changes that object again and again, or keeps it as it is: see what the message names'
      : 'see to what answers there: the API server, or an admission webhook that it asks (kubectl get validatingwebhookconfigurations,mutatingwebhookconfigurations)';
}

/** Seconds until the second try; twice that until the third, and so on. */
const firstPause = 60;

const longestPause = 1800;

/** Without another try for so long, in seconds, it is forgotten. */
const forgottenAfter = 2 * longestPause;

const mostEntries = 16;

/**
 * An action that failed so often in a row, over so many seconds, steps aside; and for how long at most before the next
 * try.
 */
const repeats = { times: 5, seconds: 300, longestPause: 300 };

/** Failures in a row: with no other one for so long, in seconds, it counts from the beginning. */
const inARow = 900;
