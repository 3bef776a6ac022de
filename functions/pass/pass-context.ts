import type { EtcdFleet } from '../../manifests/api/etcd-fleet.ts';
import type { ClusterResult } from '../../reconcile/cluster/result.ts';
import type { PageLinks } from '../../reconcile/fleet/page-links.ts';
import type { LeftOut } from '../../reconcile/interfaces/kube.ts';
import type { Results } from '../../reconcile/kinds.ts';
import type { SteppingContext } from '../../reconcile/stepping/kind.ts';
import type { Reader } from '../read/reader.ts';
import type { FleetResult } from './fleet-pass.ts';

export interface PassContext extends SteppingContext {
  readonly followUp: boolean;
  /** With clusters that are named: also tell their fleets how they are. */
  readonly tellFleets?: boolean;
  /** Called when everything is done but the checks of requests: a roll-out waits for no review. */
  readonly onNews?: (news: PassNews) => Promise<void>;
  /** When everything must be over, in milliseconds since the epoch. */
  readonly deadline: number;
  /** What reads repositories, and is used for other passes too. Absent: this one has its own. */
  readonly reader?: Reader;
  /** The namespace of the installation, in which only its admin writes. Absent: outside of Kubernetes. */
  readonly home?: string | undefined;
  /** Where commit statuses lead; absent: nowhere. */
  readonly links?: PageLinks | undefined;
  /** What follows for its steps from an invocation that ended without a word. */
  readonly care?: Promise<Pick<SteppingContext, 'asking' | 'unasked'>>;
}

export interface PassResult extends PassNews {
  readonly fleets: readonly FleetPassed[];
}

export interface FleetPassed {
  readonly fleet: EtcdFleet;
  readonly result: FleetResult;
}

/** What the follow-up must know. */
export interface PassNews {
  readonly results: Results;
  readonly clusters: readonly ClusterResult[];
  /** Another step would be worth taking, soon. */
  readonly workRemains: boolean;
  /** Whether anything was done: what others have seen before that is no longer all there is. */
  readonly moved: boolean;
  /** When something is due that no follow-up waits for. */
  readonly nextLook?: Date;
  /** Whether something failed that may succeed when repeated, or another invocation was at it. */
  readonly unsettled: boolean;
  /** Namespaces that were left out, since their objects take too much memory. */
  readonly leftOut: ReadonlyMap<string, LeftOut>;
}
