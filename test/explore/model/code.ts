import type { EtcdClusterStatus } from '../../../manifests/api/etcd-cluster-status.ts';
import { definitionOf } from '../../../reconcile/cluster/act/act.ts';
import type { Leased } from '../../../reconcile/cluster/act/actions/define.ts';
import { decide } from '../../../reconcile/cluster/decide/decide.ts';
import type { Action } from '../../../reconcile/cluster/know/action.ts';
import type { Decision } from '../../../reconcile/cluster/know/decision.ts';
import type { Observation } from '../../../reconcile/cluster/know/observation.ts';
import { type Situation, situate } from '../../../reconcile/cluster/know/situation.ts';
import { statusFor } from '../../../reconcile/cluster/report/status.ts';
import type { Program } from '../../../reconcile/requests/program.ts';
import type { Nature } from './recovery.ts';

/** The searched code: the real rules, and actions as they are carried out. A seeded bug is another such code. */
export interface Code extends Nature {
  readonly decide: (observation: Observation) => Decision;
  readonly situate: (observation: Observation) => Situation;
  /** What a step that came to nothing else reports. */
  readonly report: (situation: Situation, decision: Decision) => EtcdClusterStatus;
  /** The lines that run. */
  readonly run: (action: Action, claimed: Leased) => Program;
  /** A lease is refused when the resource has been written since it was looked at. */
  readonly comparesClaims: boolean;
  /** What arrives late is refused when its object has been written since it was read. */
  readonly fencesWrites: boolean;
  /** Only a bug: members are added with a vote. */
  readonly addsVoters?: boolean;
  /**
   * Reads before a write happen at the moment of that write, so that a search of as many states gets deeper.
   * What it finds may happen; what needs something to happen in between it does not find.
   */
  readonly readsAtOnce?: boolean;
  /** Only a bug: etcd lets any member go. */
  readonly letsAnythingGo?: boolean;
  /** Only a bug: status is not told of users before they are made. */
  readonly tellsUsersLate?: boolean;
  /** Those that a recovery left behind are told from what the others remember of them. */
  readonly remembersOutvoted: boolean;
}

export function realCode(): Code {
  return {
    decide,
    situate,
    report: (situation, decision) => statusFor(situation, decision, { kind: 'none' }),
    run: (action, claimed) => definitionOf(action).run(action as never, claimed),
    comparesClaims: true,
    fencesWrites: true,
    remembersOutvoted: true,
    countsAttempts: true,
    keepsData: true,
  };
}
