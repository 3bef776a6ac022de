import { parseDuration } from '../../../manifests/api/duration.ts';
import { type Grace, ofMembers } from '../../reasons/waits.ts';
import type { Decision } from './decision.ts';
import { graceOf } from './health/grace.ts';
import type { Observation } from './observation.ts';
import type { Outcome } from './outcome.ts';

/** For what, as it is compared between steps: of members, another one may be told at each look. */
export function awaitedBy(reason: string): string {
  return Object.hasOwn(ofMembers, reason) || reason === 'WaitingForQuorum' ? 'members' : reason;
}

/** An action that fails again and again for a cause that may pass is waited for as well. */
export const attempts = 'attempts';

/** What a step waits for; `undefined`: it does not wait. */
export function awaitedAfter(decision: Decision, outcome: Outcome): string | undefined {
  if (decision.kind === 'wait' || (decision.kind === 'refuse' && decision.waited)) return awaitedBy(decision.reason);
  const mayPass = outcome.kind === 'failed' && outcome.failure.class !== 'terminal';
  return decision.kind === 'act' && mayPass ? attempts : undefined;
}

/**
 * Since when the cluster has waited for this without a step in between. Read from status, which may be lost: then it
 * waits for as long once more.
 */
export function waitingSince(awaited: string, { cluster, at }: Pick<Observation, 'cluster' | 'at'>): Date {
  const { kind, reason = '', waitingSince } = cluster.status?.lastDecision ?? {};
  const since = Date.parse(waitingSince ?? '');
  const before = kind === 'Act' ? attempts : awaitedBy(reason);
  return before === awaited && !Number.isNaN(since) ? new Date(since) : at;
}

export function hasLasted(awaited: string, grace: Grace, seen: Pick<Observation, 'cluster' | 'at'>): boolean {
  return seen.at.getTime() - waitingSince(awaited, seen).getTime() >= millisecondsOf(grace, seen);
}

function millisecondsOf(grace: Grace, seen: Pick<Observation, 'cluster'>): number {
  return grace === 'replacement' ? graceOf(seen).member + parseDuration('1h') : parseDuration(grace);
}
