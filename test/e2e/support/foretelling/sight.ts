import type { EtcdCluster } from '../../../../manifests/api/etcd-cluster.ts';
import type { ClusterHistoryEntry, ClusterPlan } from '../../../../manifests/api/etcd-cluster-status.ts';
import { annotations, approvals } from '../../../../manifests/render/names.ts';
import type { Plan } from '../../../../reconcile/cluster/foresee/plan.ts';
import type { Decision } from '../../../../reconcile/cluster/know/decision.ts';
import type { Reason } from '../../../../reconcile/reasons/reasons.ts';
import type { RefusalReason } from '../../../../reconcile/reasons/refusals.ts';

type Decided =
  | { readonly kind: Exclude<Decision['kind'], 'refuse'>; readonly reason: Reason }
  | { readonly kind: 'refuse'; readonly reason: RefusalReason };

/** One look of an invocation at one cluster, as a story's process keeps it. Plain data. */
export interface Sight {
  readonly uid: string;
  readonly name: string;
  /** When it looked. Milliseconds since 1970. */
  readonly at: number;
  /** The requests to it, by its spec and by people: the same words as long as they are the same. */
  readonly asked: string;
  /** Of the spec. */
  readonly generation: number;
  readonly decided: Decided;
  /** The step was taken; its entry in the history is of a later look. */
  readonly acted?: true;
  /** What its status remembered then. */
  readonly history: readonly ClusterHistoryEntry[];
  /** What its status said then of the plan that it follows. */
  readonly kept?: ClusterPlan;
  /** What was foretold then; absent where it would have been foretold in vain. */
  readonly plan?: Foreseen;
}

export interface Foreseen {
  readonly summary: string;
  readonly steps: readonly Pick<Plan['steps'][number], 'action' | 'target' | 'reason'>[];
  readonly end: Pick<Plan['end'], 'kind' | 'reason'>;
  /** The look had no occasion to read certificates, as the look of `--plan` does: none is foretold. */
  readonly isBlind?: true;
}

/** The other annotations are notes of ours, or ask for a look. */
const requests = [annotations.paused, annotations.defragment, annotations.rotateCertificates, ...approvals];

export function askedOf({ metadata }: EtcdCluster): string {
  const { generation, deletionTimestamp } = metadata;
  const notes = requests.flatMap((key) => {
    const value = metadata.annotations?.[key];
    return value === undefined ? [] : [`${key}=${value}`];
  });
  return [`generation ${generation}`, ...(deletionTimestamp ? ['deleted'] : []), ...notes].join(', ');
}
