import type { Situation } from '../decide.ts';
import { type Decision, refuse } from '../decision.ts';

/**
 * What the spec asks for and this release cannot yet do to a running cluster is said, never passed over in silence: a
 * cluster whose commit had no effect must not look converged.
 */
export function beyondThisRelease({ cluster, effective }: Situation): Decision | undefined {
  const [refusal] = effective.refusals;
  if (refusal) return refuse(refusal.reason, refusal.message, refusal.cure);

  const { replicas } = cluster.spec;
  if (replicas !== effective.replicas) {
    return refuse(
      'ScalingNotAvailable',
      `the cluster has ${effective.replicas} members; this release of etcd-ratchet does not change the size of a running cluster to ${replicas}`,
      `set spec.replicas to ${effective.replicas}`,
    );
  }
  return undefined;
}
