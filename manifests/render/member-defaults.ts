import { isRecord } from '../json.ts';
import type { ResourceRequirements } from '../kube-types.ts';

/** Defaults of a member. Rendered only: none of them is an input, so a new default rolls no member. */

/** Installed with us for the whole cluster (manifests/install/cluster/priority.yaml). */
export const memberPriorityClass = 'etcd-ratchet-member';

/**
 * Without a request, etcd is the first that a node short of memory evicts, and no disruption budget stops that. A small
 * cluster takes less; kubeadm requests the same CPU for its etcd. No limit: a growing database would be killed.
 */
const requests = { cpu: '100m', memory: '256Mi' } as const;

/**
 * Each on its own, where neither a request nor a limit is given: of a limit Kubernetes makes the request. None if the
 * pod as a whole has resources, which ours might not fit into.
 */
export function withRequests(given: ResourceRequirements, forWholePod?: ResourceRequirements): ResourceRequirements {
  if (forWholePod) return given;
  const says = (field: unknown, name: string) => isRecord(field) && name in field;
  const missing = Object.entries(requests).filter(([name]) => !says(given.requests, name) && !says(given.limits, name));
  if (missing.length === 0) return given;
  return { ...given, requests: { ...Object.fromEntries(missing), ...given.requests } };
}
