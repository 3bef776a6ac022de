import type { Approval } from '../../../manifests/api/approval.ts';
import type { EtcdCluster } from '../../../manifests/api/etcd-cluster.ts';
import { approveCommand } from '../../../manifests/render/kubectl.ts';
import type { Reason } from '../../reasons/reasons.ts';
import { type RefusalReason, refusals } from '../../reasons/refusals.ts';
import type { WaitReason } from '../../reasons/waits.ts';
import type { Action } from './action.ts';

/** What to look at, or when, before the next step can come out differently. */
export type Wake =
  /** An object of this kind, of this cluster, changes in a way that matters (readiness, phase, existence). */
  | { readonly on: 'change'; readonly of: 'pods' | 'statefulSets' | 'volumeClaims' | 'peers' | 'jobs' }
  /** No Kubernetes event announces it: look again after this many seconds. */
  | { readonly on: 'time'; readonly afterSeconds: number };

/**
 * What one step came to.
 *
 * `reason` is static CamelCase: it becomes a condition's reason and is compared between steps. `message` is for a
 * person, free of counters and clocks, because it also becomes a commit status.
 */
export type Decision = (
  | { readonly kind: 'act'; readonly action: Action; readonly reason: Reason; readonly message: string }
  | {
      readonly kind: 'wait';
      readonly reason: WaitReason;
      readonly message: string;
      /** Any of these is worth another look. */
      readonly wakeOn: readonly Wake[];
    }
  /** A person must do something; `cure` says what. */
  | Refused
  | { readonly kind: 'done'; readonly reason: Reason; readonly message: string }
) & {
  /** What else a person must do: it was passed over, because this decision does not depend on it. */
  readonly besides?: readonly Refused[];
};

export interface Refused {
  readonly kind: 'refuse';
  readonly reason: RefusalReason;
  readonly message: string;
  readonly cure: string;
  /** What a person may approve, so that it goes on; the command in `cure` is made from it. */
  readonly approval?: Approval;
  /** It was a wait, and has outlasted its grace. */
  readonly waited?: true;
}

export function act(action: Action, reason: Reason, message: string): Decision {
  return { kind: 'act', action, reason, message };
}

export function wait(
  reason: WaitReason,
  message: string,
  ...wakeOn: readonly Wake[]
): Extract<Decision, { kind: 'wait' }> {
  return { kind: 'wait', reason, message, wakeOn };
}

export function refuse(reason: RefusalReason, message: string, cure: string): Refused {
  return { kind: 'refuse', reason, message, cure };
}

/** What a refusal says where an approval ends it. */
interface Until {
  readonly approval: Approval;
  /** What a person can do; the command that approves is added to it. */
  readonly cure: string;
  readonly cluster: EtcdCluster;
}

/** A refusal that ends when a person approves. */
export function refuseUntil({ approval, cure, cluster }: Until, reason: RefusalReason, message: string): Refused {
  const command = approveCommand('etcdclusters', cluster.metadata, approval);
  return { ...refuse(reason, message, `${cure}: ${command}`), approval };
}

export function done(reason: Reason, message: string): Decision {
  return { kind: 'done', reason, message };
}

/** Seconds; looks become rarer while nothing happens. A wait that asks for a look so soon only polls. */
const refusedSeconds = 5;

/** Seconds until what it waits for is over, where it says that itself. */
export function endsAfter({ wakeOn }: Extract<Decision, { kind: 'wait' }>): readonly number[] {
  return wakeOn.flatMap((wake) =>
    wake.on === 'time' && wake.afterSeconds > refusedSeconds ? [wake.afterSeconds] : [],
  );
}

const whileRefused: readonly Wake[] = [
  { on: 'change', of: 'pods' },
  { on: 'change', of: 'volumeClaims' },
  { on: 'time', afterSeconds: refusedSeconds },
];

/** Everything that needs a person or passes by itself, told first or beside something else. */
export function refusalsOf({ besides = [], ...decision }: Decision): readonly Refused[] {
  return decision.kind === 'refuse' ? [decision, ...besides] : besides;
}

/** Events that make another look worthwhile: none where only a person, or a later tick, makes a difference. */
export function wakesOn(decision: Decision): readonly Wake[] {
  if (decision.kind === 'wait') return decision.wakeOn;
  return refusalsOf(decision).some(({ reason }) => refusals[reason] === 'itself') ? whileRefused : [];
}
