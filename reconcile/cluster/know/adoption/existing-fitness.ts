import type { ExistingCluster } from '../../../../manifests/api/existing-cluster.ts';
import {
  isSameMinor,
  isSupportedVersion,
  minorText,
  parseVersion,
  supportedVersions,
} from '../../../../manifests/api/version.ts';
import { schemeOf } from '../../../../manifests/render/names.ts';
import { quotaBackendBytes } from '../../../../manifests/render/quota.ts';
import type { EndpointStatus, ListedMember } from '../../../interfaces/etcd.ts';
import type { Inputs } from '../spec/inputs.ts';
import { type Inherited, isWell } from './inherited.ts';

/** Why a cluster can't be joined, and what makes it so that it can. */
export interface Misfit {
  readonly message: string;
  readonly cure: string;
}

/** The facts of an etcd cluster that are judged before a member of ours joins it. */
export interface Candidate {
  readonly existing: ExistingCluster;
  readonly inputs: Inputs;
  readonly members: readonly ListedMember[];
  readonly inherited: readonly Inherited[];
  /** Members of ours have joined: the list is not theirs alone any more. */
  readonly joined?: true;
}

/** `undefined`: it can be joined. */
export function misfitOf(candidate: Candidate): Misfit | undefined {
  const list = candidate.joined ? undefined : (wrongPod(candidate) ?? wrongMode(candidate) ?? wrongList(candidate));
  return list ?? illMember(candidate) ?? wrongMember(candidate);
}

const bySnapshot = 'move its data by a snapshot (docs/how-to/migrate.md)';

/** Members that ours could join, and never talk to. */
function wrongPod({ inherited }: Candidate): Misfit | undefined {
  const pods = inherited.flatMap(({ pod }) => pod ?? []);
  const alone = pods.find(({ peerAutoTls }) => peerAutoTls);
  if (alone) {
    return {
      message: `pod ${alone.name} runs etcd with --peer-auto-tls: each member makes its own certificate, and there is no CA that members of ours could share with it`,
      cure: `let its members use certificates of one CA, by the means that it has, and spec.tls.mode Provided with that CA; or ${bySnapshot}`,
    };
  }
  const outside = pods.find(({ hostNetwork }) => hostNetwork);
  if (!outside) return undefined;
  return {
    message: `pod ${outside.name} has hostNetwork: it has the address of its node, which the NetworkPolicy of ours does not admit, and may not resolve the names of our members`,
    cure: `let its pods have addresses of their own, by the means that it has; or ${bySnapshot}`,
  };
}

/** etcd answers to its users alone. */
export const authenticationIsOn: Misfit = {
  message: 'etcd authentication is on: its members ask for a user, and etcd-ratchet has none',
  cure: `turn it off for good (etcdctl auth disable) and let certificates decide which clients may connect; or ${bySnapshot}`,
};

/** Members trust each other by one CA: only where a person provides the certificates can that be theirs. */
export function wrongMode({ inputs, members }: Pick<Candidate, 'inputs' | 'members'>): Misfit | undefined {
  const { mode } = inputs.tls;
  if (mode !== 'Disabled' && mode !== 'Provided') {
    return {
      message: `spec.tls.mode is ${mode}, and its CA is not the one that the members of the existing cluster trust`,
      cure: 'set spec.tls.mode to Provided, with Secrets whose certificates the CA of the existing cluster has signed; or, where it uses no TLS between members, to Disabled',
    };
  }
  const scheme = schemeOf(mode);
  const other = members.find(({ peerURLs }) => !peerURLs.every((url) => url.startsWith(`${scheme}://`)));
  if (!other) return undefined;
  return {
    message: `${told(other)} has the peer URL ${other.peerURLs.join(', ')}, and with spec.tls.mode ${mode} ours have ${scheme} URLs`,
    cure: `set spec.tls.mode to ${scheme === 'http' ? 'Provided' : 'Disabled'}, as the existing cluster has it`,
  };
}

function wrongList({ existing: { memberIDs }, members }: Candidate): Misfit | undefined {
  const strange = members.find(({ id }) => !memberIDs.includes(id));
  if (strange) {
    return {
      message: `the member list has ${told(strange)}, which spec.bootstrap.existing.memberIDs lacks`,
      cure: 'stop whatever changes that list, and let memberIDs have all of it, as etcdctl member list prints it',
    };
  }
  const gone = memberIDs.find((id) => !members.some((member) => member.id === id));
  if (gone !== undefined) {
    return {
      message: `spec.bootstrap.existing.memberIDs has ${gone}, which is not on the member list`,
      cure: 'stop whatever changes that list, and let memberIDs have all of it, as etcdctl member list prints it',
    };
  }
  const [learner] = members.filter(({ isLearner }) => isLearner);
  if (!learner) return undefined;
  return {
    message: `${told(learner)} is a learner, and etcd takes one at a time`,
    cure: `promote it (etcdctl member promote ${learner.id}) or remove it (etcdctl member remove ${learner.id})`,
  };
}

/** etcd adds no member beside one that is away, and a quorum needs the others. */
function illMember({ inherited }: Candidate): Misfit | undefined {
  const ill = inherited.find((one) => !isWell(one));
  if (ill) {
    return {
      message: `${told(ill.member)} does not answer, or follows no leader`,
      cure: 'bring it back, or correct podLabels, clientPort or serverName of spec.bootstrap.existing, so that its pod is asked',
    };
  }
  const alarmed = inherited.find(({ status }) => (status?.errors.length ?? 0) > 0);
  if (!alarmed) return undefined;
  return {
    message: `${told(alarmed.member)} reports ${alarmed.status?.errors.join(', ').slice(0, 200)}`,
    cure: 'cure that first: etcdctl alarm list says what it is',
  };
}

function wrongMember({ inherited, inputs }: Candidate): Misfit | undefined {
  for (const { member, status } of inherited) {
    const misfit = status && (wrongVersion(member, status, inputs) ?? tooLarge(status, inputs));
    if (misfit) return misfit;
  }
  return undefined;
}

function wrongVersion(member: ListedMember, { version }: EndpointStatus, inputs: Inputs): Misfit | undefined {
  if (!isSupportedVersion(version)) {
    return {
      message: `${told(member)} runs etcd ${version.slice(0, 40)}, beside which a member of ours does not run`,
      cure: `bring the existing cluster to another version by the means that it has: ${supportedVersions}`,
    };
  }
  if (isSameMinor(version, parseVersion(inputs.version))) return undefined;
  return {
    message: `${told(member)} runs etcd ${version}, and spec.version is ${inputs.version}`,
    cure: `set spec.version to a ${minorText(parseVersion(version))} until the others have left; after that it may go up`,
  };
}

/** A learner with a smaller quota than the database that it receives raises NOSPACE for the whole cluster. */
function tooLarge({ dbSize }: EndpointStatus, inputs: Inputs): Misfit | undefined {
  const quota = quotaBackendBytes(inputs);
  if (Number(dbSize) < quota) return undefined;
  return {
    message: `the database has ${dbSize} bytes, and with this spec etcd stops writes at ${quota}`,
    cure: 'raise spec.storage.size, or spec.etcd.quotaBackendBytes with it; or compact and defragment the existing cluster',
  };
}

function told({ name, id }: ListedMember): string {
  return `${(name || 'an unstarted member').slice(0, 100)} (${id})`;
}
