import { inputsHash } from '../../../manifests/build/inputs-hash.ts';
import type { Situation } from '../decide.ts';
import { type Decision, refuse } from '../decision.ts';

/**
 * What the spec asks for and this release cannot yet do to a running cluster is said, never passed over in silence: a
 * cluster whose commit had no effect must not look converged.
 */
export function beyondThisRelease({ cluster, slots, effective }: Situation): Decision | undefined {
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
  const wanted = inputsHash(effective.inputs);
  const differing = slots.find(({ peer }) => peer !== undefined && inputsHash(peer.inputs) !== wanted);
  if (differing) {
    return refuse(
      'ReconfigurationNotAvailable',
      'the spec asks for another configuration; this release of etcd-ratchet does not roll a healthy cluster',
      'revert the change of spec.image, spec.etcd, spec.resources or spec.podTemplate, or let it wait for a release that rolls it',
    );
  }
  return undefined;
}
