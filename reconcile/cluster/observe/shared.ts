import { isDeepStrictEqual } from 'node:util';
import type { EtcdCluster } from '../../../manifests/api/etcd-cluster.ts';
import type { NetworkPolicy } from '../../../manifests/kube-types.ts';
import { disruptionBudget } from '../../../manifests/render/disruption-budget.ts';
import { externalService } from '../../../manifests/render/external-service.ts';
import {
  clientServiceName,
  externalServiceName,
  headlessServiceName,
  networkPolicyName,
  revocationsName,
} from '../../../manifests/render/names.ts';
import { networkPolicy } from '../../../manifests/render/network-policy.ts';
import { isControlledBy } from '../../../manifests/render/owner-reference.ts';
import { leftOutOf, revocations } from '../../../manifests/render/revocations.ts';
import { clientService, headlessService } from '../../../manifests/render/services.ts';
import type { Shared, SharedView } from '../know/observation.ts';
import { hasFieldsOfOthers } from '../know/spec/others-fields.ts';
import { hasSpec, type SharedKubeObject } from '../know/spec/shared-objects.ts';
import { isForeign } from './slots.ts';
import type { ClusterObjects } from './snapshot.ts';

/** What the members of a cluster share, as it is beside what it should be. */
export function sharedOf(objects: ClusterObjects): Shared {
  const { cluster, services, disruptionBudgets, networkPolicies } = objects;
  const { name, uid = '' } = cluster.metadata;
  const service = (wanted: string) => services.find(({ metadata }) => metadata.name === wanted);
  const budget = disruptionBudgets.find(({ metadata }) => metadata.name === name);
  const minAvailable = budget?.spec.minAvailable;
  const policy = networkPolicies.find(({ metadata }) => metadata.name === networkPolicyName(name));
  return {
    headlessService: {
      state: stateOf(service(headlessServiceName(name)), headlessService(cluster), uid),
    },
    clientService: {
      state: stateOf(service(clientServiceName(name)), clientService(cluster), uid),
    },
    disruptionBudget: {
      state: stateOf(budget, budget && disruptionBudget(cluster, Number(minAvailable)), uid),
      ...(typeof minAvailable === 'number' && { minAvailable }),
    },
    networkPolicy: policyView(policy, cluster),
    externalService: {
      state: stateOf(service(externalServiceName(name)), externalService(cluster), uid),
    },
    revocations: revocationsView(objects),
  };
}

/** What it leaves out is compared when all certificates are read (`leavesOutOthers`). */
export function revocationsView({
  cluster,
  configMaps,
}: Pick<ClusterObjects, 'cluster' | 'configMaps'>): Shared['revocations'] {
  const { name, uid = '' } = cluster.metadata;
  const list = configMaps.find(({ metadata }) => metadata.name === revocationsName(name));
  if (!list) return { state: 'missing' };
  const leftOut = leftOutOf(list);
  const state = stateOf(list, revocations(cluster, leftOut), uid);
  // The next list could not be written into it.
  const isFrozen = state === 'present' && list.immutable === true;
  return { state: isFrozen ? 'drifted' : state, ...(leftOut.length > 0 && { leftOut }) };
}

/** Nothing in its spec is a default or another's: what was added would open or close something. */
function policyView(policy: NetworkPolicy | undefined, cluster: EtcdCluster): SharedView {
  const wanted = networkPolicy(cluster);
  const state = stateOf(policy, wanted, cluster.metadata.uid ?? '');
  return { state: state === 'present' && !isDeepStrictEqual(policy?.spec, wanted.spec) ? 'drifted' : state };
}

function stateOf(
  found: SharedKubeObject | undefined,
  wanted: SharedKubeObject | undefined,
  ownerUid: string,
): SharedView['state'] {
  if (!found) return 'missing';
  if (isForeign(found)) return 'foreign';
  if (found.metadata.deletionTimestamp !== undefined || !isControlledBy(found, ownerUid)) return 'leftover';
  if (!wanted || !covers(found, wanted)) return 'drifted';
  return hasSpec(found) && hasSpec(wanted) && hasFieldsOfOthers(found, wanted) ? 'drifted' : 'present';
}

/**
 * Whether everything that we set is so in what was found; what others added (an address, a default) is theirs. Not to a
 * selector: that would select fewer pods.
 */
function covers(found: unknown, wanted: unknown): boolean {
  if (Array.isArray(wanted)) {
    return (
      Array.isArray(found) &&
      found.length === wanted.length &&
      wanted.every((item, index) => covers(found[index], item))
    );
  }
  if (typeof wanted !== 'object' || wanted === null) return found === wanted;
  if (typeof found !== 'object' || found === null) return false;
  const fields = found as Readonly<Record<string, unknown>>;
  return Object.entries(wanted).every(([key, value]) =>
    key === 'selector' ? isDeepStrictEqual(fields[key], value) : value === undefined || covers(fields[key], value),
  );
}
