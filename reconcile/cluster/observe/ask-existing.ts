import type { EtcdCluster } from '../../../manifests/api/etcd-cluster.ts';
import { type ExistingCluster, existingOf } from '../../../manifests/api/existing-cluster.ts';
import { existingDefaults, tlsDefaults } from '../../../manifests/api/spec-defaults.ts';
import type { Pod } from '../../../manifests/kube-types.ts';
import { leadsTo, urlOf } from '../../../manifests/render/hosts.ts';
import { labelSelector, labels, schemeOf } from '../../../manifests/render/names.ts';
import type { EtcdTls } from '../../interfaces/etcd.ts';
import { type Kube, resources } from '../../interfaces/kube.ts';
import { type ExistingPod, existingPodOf } from '../know/adoption/existing-pod.ts';
import { memberOf } from '../know/health/health.ts';
import { recordOf } from '../know/life.ts';
import type { InheritedView, Membership, Slot } from '../know/observation.ts';

/** Where a member of a cluster that is to be taken over may answer. */
export interface ExistingEndpoint {
  readonly url: string;
  /** The name that its server certificate must bear. */
  readonly serverName: string;
  readonly pod: ExistingPod;
}

/** Whose namespace the question comes from, and whether it goes in plaintext. */
export interface Asking extends Pick<EtcdCluster, 'metadata'> {
  readonly spec: Pick<EtcdCluster['spec'], 'tls'>;
}

/** Which pods, and how they are asked. */
export type Sought = Omit<ExistingCluster, 'clusterID' | 'memberIDs'>;

/** More pods than any etcd cluster has members are not asked. */
const mostPods = 20;

/**
 * The pods that the spec selects, by their addresses: only pods of the cluster's own namespace are ever asked. No pod
 * of etcd-ratchet is among them.
 *
 * @throws {KubeError}
 */
export async function existingEndpoints(
  kube: Kube,
  { metadata, spec }: Asking,
  existing: Sought,
  signal: AbortSignal,
): Promise<readonly ExistingEndpoint[]> {
  const { namespace = '' } = metadata;
  const { items } = await kube.list<Pod>(resources.pods, {
    namespace,
    labelSelector: labelSelector(existing.podLabels),
    signal,
    limit: mostPods,
  });
  const scheme = schemeOf(spec.tls?.mode ?? tlsDefaults.mode);
  const { clientPort = existingDefaults.clientPort, serverName } = existing;
  return items.flatMap((item) => {
    const {
      metadata: pod,
      spec: { hostname, subdomain },
      status,
    } = item;
    if (!status?.podIP || pod.labels?.[labels.managedBy] === 'etcd-ratchet') return [];
    const own = [hostname ?? pod.name, ...(subdomain === undefined ? [] : [subdomain]), namespace, 'svc'].join('.');
    const url = urlOf(scheme, status.podIP, clientPort);
    return [{ url, serverName: serverName ?? own, pod: existingPodOf(item) }];
  });
}

/** The same credentials, with the names of these endpoints. */
export function namingThem(tls: EtcdTls, endpoints: readonly ExistingEndpoint[]): EtcdTls {
  const nameOf = (url: string) => endpoints.find((one) => leadsTo(one.url, new URL(url).hostname))?.serverName;
  return { ...tls, serverName: (url) => nameOf(url) ?? tls.serverName(url) };
}

/**
 * Whether members of a cluster that is taken over are to be asked: while none of ours tells the list, and while that
 * has any of them. Of an adoption that is over nothing is asked.
 */
export function callsForExisting(
  cluster: EtcdCluster,
  { membership, slots }: { readonly membership: Membership; readonly slots: readonly Slot[] },
): ExistingCluster | undefined {
  const existing = existingOf(cluster);
  if (!existing || membership.kind === 'unknown') return existing;
  if (membership.clusterId !== existing.clusterID) return undefined;
  const ours = new Set(slots.map((slot) => memberOf(slot, membership.members)?.id));
  return membership.members.some(({ id }) => existing.memberIDs.includes(id) && !ours.has(id)) ? existing : undefined;
}

/**
 * The list that counts: that of our voters, known or not, wherever one of them answers; else that of the others.
 *
 * @param told what the others tell; absent: they are not asked, because `needsOthers` said so
 */
export function listBeside(
  seen: { readonly membership: Membership; readonly slots: readonly Slot[] },
  existing: ExistingCluster,
  told: Membership | undefined,
): Membership {
  return told && needsOthers(seen) ? listOfOthers(told, existing, seen.slots) : seen.membership;
}

/** No voter of ours answers. A learner tells no list. */
export function needsOthers({
  membership,
  slots,
}: {
  readonly membership: Membership;
  readonly slots: readonly Slot[];
}): boolean {
  const isVoter = slots.some(({ endpoint }) => endpoint.kind === 'known' && !endpoint.status.isLearner);
  return membership.kind === 'unknown' && !isVoter;
}

/**
 * The list as members tell it that are not ours. It counts only where it has every member of ours that is sealed: pods
 * without volumes may have begun anew, as an empty cluster with the same ID.
 */
function listOfOthers(told: Membership, existing: ExistingCluster, slots: readonly Slot[]): Membership {
  if (told.kind === 'unknown') return told;
  if (told.clusterId !== existing.clusterID) {
    return {
      kind: 'unknown',
      cause: `the pods that spec.bootstrap.existing selects belong to etcd cluster ${told.clusterId}, and not to ${existing.clusterID}`,
    };
  }
  const missing = slots.find((slot) => {
    const record = recordOf(slot);
    return record?.state === 'sealed' && !told.members.some(({ id }) => id === record.memberId);
  });
  if (!missing) return told;
  return {
    kind: 'unknown',
    cause: `no member of ours answers, and the list of those that spec.bootstrap.existing selects lacks ${missing.name}: they may have begun anew`,
  };
}

/** Members that the spec names, are on the list, and are not ours; each with what it said, if it answered. */
export function inheritedAmong(
  membership: Membership,
  { memberIDs, clusterID }: ExistingCluster,
  slots: readonly Slot[],
  answers: readonly Pick<InheritedView, 'endpoint' | 'pod'>[],
): readonly InheritedView[] {
  if (membership.kind === 'unknown' || membership.clusterId !== clusterID) return [];
  const ours = new Set(slots.map((slot) => memberOf(slot, membership.members)?.id));
  const listed = memberIDs.filter((id) => !ours.has(id) && membership.members.some((member) => member.id === id));
  return listed.map((memberId) => {
    const answer = answers.find(
      ({ endpoint: one }) =>
        one.kind === 'known' && one.status.memberId === memberId && one.status.clusterId === clusterID,
    );
    return answer
      ? { memberId, ...answer }
      : { memberId, endpoint: { kind: 'unknown', cause: 'no pod that is selected answers for it' } };
  });
}
