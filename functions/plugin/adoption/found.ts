import type { ExistingCluster } from '../../../manifests/api/existing-cluster.ts';
import type { ExistingPod } from '../../../reconcile/cluster/know/adoption/existing-pod.ts';
import type { Sought } from '../../../reconcile/cluster/observe/ask-existing.ts';
import { Refusal } from '../command.ts';
import type { Answers } from './ask-pods.ts';
import type { Managers } from './managers.ts';

/** One of the pods that an adoption is about, and what its member says. */
export interface FoundPod extends ExistingPod, Managers {
  readonly clusterID?: string;
  readonly memberID?: string;
  readonly version?: string;
  readonly role?: 'leader' | 'voter' | 'learner';
  /** Why it is not known what it is. */
  readonly silent?: string;
}

export function foundPods(
  pods: readonly { readonly name: string; readonly managers: Managers }[],
  answers: Answers,
): readonly FoundPod[] {
  return pods.map(({ name, managers }) => {
    const answer = answers.pods.find(({ endpoint }) => endpoint.pod.name === name);
    if (!answer) return { name, ...managers, silent: 'it has no address' };
    const { endpoint, says } = answer;
    if ('silent' in says) return { ...endpoint.pod, ...managers, silent: says.silent };
    const { clusterId, memberId, version, leader, isLearner } = says;
    const role = isLearner ? 'learner' : leader === memberId ? 'leader' : 'voter';
    return {
      ...endpoint.pod,
      ...managers,
      clusterID: clusterId,
      memberID: memberId,
      version: version.slice(0, 40),
      role,
    };
  });
}

/**
 * `spec.bootstrap.existing`, as the members themselves have it.
 * @throws {Refusal} when none answers, or they are not of one etcd cluster, or no quorum tells the list.
 */
export function existingFound(found: readonly FoundPod[], { members }: Answers, sought: Sought): ExistingCluster {
  const [first, ...more] = found.filter(({ clusterID }) => clusterID !== undefined);
  if (!first?.clusterID) {
    const causes = found.map(({ name, silent }) => `${name}: ${silent}`).join('; ');
    throw new Refusal(
      found.length === 0
        ? 'no pod of others has these labels: correct --pods, or name another namespace by -n'
        : `none of the pods with these labels answers (${causes}): see docs/runbooks/adoption.md#the-existing-cluster-does-not-answer`,
    );
  }
  const other = more.find(({ clusterID }) => clusterID !== first.clusterID);
  if (other) {
    throw new Refusal(
      `pod ${first.name} belongs to etcd cluster ${first.clusterID}, and pod ${other.name} to ${other.clusterID}: name labels that only the pods of one have`,
    );
  }
  if (!members) throw new Refusal(`no quorum of etcd cluster ${first.clusterID} tells its member list: heal it first`);
  return { clusterID: first.clusterID, memberIDs: members.map(({ id }) => id).toSorted(), ...sought };
}

/** Where a document says another thing than the members do, each with the field that is wrong. */
export function differences(existing: ExistingCluster, found: readonly FoundPod[], { members }: Answers) {
  const field = 'spec.bootstrap.existing';
  const { clusterID, memberIDs } = existing;
  const strangers = found.filter((pod) => pod.clusterID !== undefined && pod.clusterID !== clusterID);
  const listed = members?.map(({ id }) => id) ?? [];
  const isTheirs = found.some((pod) => pod.clusterID === clusterID);
  return [
    ...strangers.map((pod) => `${field}.clusterID is ${clusterID}, and pod ${pod.name} belongs to ${pod.clusterID}`),
    ...(isTheirs ? listed.filter((id) => !memberIDs.includes(id)) : []).map((id) => {
      const { name = '' } = members?.find((member) => member.id === id) ?? {};
      return `${field}.memberIDs lacks ${id}${name === '' ? '' : ` (${name})`}, which is on the member list`;
    }),
    ...(isTheirs && members ? memberIDs.filter((id) => !listed.includes(id)) : []).map(
      (id) => `${field}.memberIDs has ${id}, which is not on the member list`,
    ),
  ];
}
