import { type Decision, refuse } from '../../../know/decision.ts';
import type { Situation } from '../../../know/situation.ts';

/**
 * The etcd cluster that answers is the one whose data the volumes hold.
 *
 * Guards I4 and I9: the list of another cluster (a Service or an address that leads elsewhere, a swapped disk) says
 * nothing about these members.
 */
export function keepIdentity({ membership, life, slots }: Situation): Decision | undefined {
  if (membership.kind === 'unknown') return undefined;
  const expected = life.stage === 'born' || life.stage === 'birth' ? life.clusterId : undefined;
  if (expected !== undefined && expected !== membership.clusterId) {
    return refuse(
      'ClusterIDMismatch',
      `the volumes belong to etcd cluster ${expected}, but cluster ${membership.clusterId} answers`,
      'find out which of the two has your data before anything else; set spec.suspend meanwhile',
    );
  }
  const other = slots.find(
    ({ endpoint }) => endpoint.kind === 'known' && endpoint.status.clusterId !== membership.clusterId,
  );
  if (other?.endpoint.kind === 'known') {
    return refuse(
      'ClusterIDMismatch',
      `${other.name} belongs to etcd cluster ${other.endpoint.status.clusterId}, the others to ${membership.clusterId}`,
      `keep ${other.name} from serving clients, and find out which of the two has your data`,
    );
  }
  return undefined;
}
