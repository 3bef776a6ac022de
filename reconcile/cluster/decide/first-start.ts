import { type LeafPlan, memberLeaves } from '../../../manifests/render/certificate-names.ts';
import type { FirstStart } from '../know/actions/birth.ts';
import { authoritiesToMake, remedyFor } from '../know/certificates/due.ts';
import { rotationAskedFor } from '../know/certificates/occasion.ts';
import { validityFrom } from '../know/certificates/validity.ts';
import { leavesOfCluster, leavesOfUsers } from '../know/certificates/wanted.ts';
import type { ReadCertificates } from '../know/observation.ts';
import type { Situation } from '../know/situation.ts';

/**
 * Whether members can be started in the step that records them: with no certificates, or with certificates that
 * etcd-ratchet signs itself.
 *
 * @returns `undefined`: certificates are another step's (cert-manager's, a person's), or were not all looked at.
 */
export function firstStartOfBirth(
  situation: Situation,
  names: readonly string[],
  token: string,
): FirstStart | undefined {
  return firstStart(situation, (read) => {
    const authorities = authoritiesToMake(read, token, situation.at);
    const { cluster } = situation;
    const members = names.flatMap((member) => leavesOf(member, situation));
    const leaves = [...leavesOfCluster(cluster, 'Managed'), ...members, ...leavesOfUsers(cluster, 'Managed')];
    const isFresh =
      authorities.length === 2 && Object.values(read.authorities).every(({ state }) => state === 'missing');
    return isFresh && read.leaves.every(({ state }) => state === 'missing') ? { authorities, leaves } : undefined;
  });
}

/** The same for a member that joins: the CAs that all members trust sign for it. */
export function firstStartOfLearner(situation: Situation, name: string, token: string): FirstStart | undefined {
  return firstStart(situation, (read) => {
    const leaves = leavesOf(name, situation);
    if (authoritiesToMake(read, token, situation.at).length > 0) return undefined;
    const mayIssue = leaves.every((plan) => {
      const missing = { plan, state: 'missing', defects: [] } as const;
      return remedyFor(missing, read, situation) === 'issue';
    });
    return mayIssue ? { authorities: [], leaves } : undefined;
  });
}

function firstStart(
  { certificates, cluster, effective, at }: Situation,
  from: (read: ReadCertificates) => Omit<NonNullable<FirstStart['certificates']>, 'validity'> | undefined,
): FirstStart | undefined {
  const { mode } = effective.inputs.tls;
  if (mode === 'Disabled') return {};
  if (mode !== 'Managed' || certificates.kind !== 'read' || rotationAskedFor(cluster) !== undefined) return undefined;
  const wanted = from(certificates);
  return wanted && { certificates: { ...wanted, validity: validityFrom(cluster.spec.tls, at) } };
}

function leavesOf(name: string, { cluster }: Situation): readonly LeafPlan[] {
  const { namespace = '', name: clusterName } = cluster.metadata;
  return memberLeaves({ namespace, cluster: clusterName, dnsNames: cluster.spec.tls?.dnsNames ?? [] }, name);
}
