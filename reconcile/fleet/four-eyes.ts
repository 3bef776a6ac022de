import type { EtcdFleet } from '../../manifests/api/etcd-fleet.ts';
import type { KubeObject } from '../interfaces/kube.ts';
import { approvalsGiven, type RefusedApproval } from '../objects/approvals.ts';
import { keyOf } from './names.ts';
import { isVerified } from './verified.ts';

/** Four eyes: the author of a commit does not approve what it asks (`spec.approvals.notByAuthor`). */

type Rule = NonNullable<NonNullable<EtcdFleet['spec']['approvals']>['notByAuthor']>;

/**
 * Approvals of this object that do not count, where this fleet applied it or is it. Whatever is not known refuses.
 *
 * @param revision whose author must not have approved. Absent: the one that was begun last.
 */
export function refusedApprovals(
  object: KubeObject,
  fleet: EtcdFleet,
  revision = fleet.status?.revision?.attempted,
): readonly RefusedApproval[] {
  const rule = fleet.spec.approvals?.notByAuthor;
  if (!rule) return [];
  return approvalsGiven(object).flatMap(({ annotation, value, by }) => {
    const refusal = refusalOf(by, rule, { fleet, revision });
    return refusal ? [{ annotation, value, ...refusal }] : [];
  });
}

type Refusal = Pick<RefusedApproval, 'why' | 'cure'>;

function refusalOf(
  by: string | undefined,
  { people }: Rule,
  { fleet, revision }: { readonly fleet: EtcdFleet; readonly revision: string | undefined },
): Refusal | undefined {
  const place = `EtcdFleet ${keyOf(fleet)}`;
  const listed = `spec.approvals.notByAuthor.people of ${place}`;
  const another = `another person of ${listed} approves it anew, by kubectl ratchet approve`;
  if (by === undefined) return { why: 'the name of the person that gave it is missing', cure: another };
  const verified = fleet.status?.verification;
  if (!fleet.spec.git.verify || !verified || revision === undefined || !isVerified(fleet, revision)) {
    const cure = `see the condition SourceReady of ${place}, and spec.git.verify; once the commit is verified, the approval counts`;
    return { why: `the commit that ${place} applies is not verified, so its author is not known`, cure };
  }
  const authors = people.filter(({ signers = [] }) => signers.includes(verified.signedBy));
  if (authors.length === 0) {
    const cure = `list it under signers of that person in ${listed}`;
    return { why: `${listed} does not list ${verified.signedBy}, the signer of ${revision}`, cure };
  }
  if (authors.some(({ usernames }) => usernames.includes(by)))
    return { why: `${by} gave it, and signed ${revision} as ${verified.signedBy}`, cure: another };
  if (people.some(({ usernames }) => usernames.includes(by))) return undefined;
  return { why: `${by} gave it, and ${listed} does not list that name`, cure: another };
}
