import type { EtcdFleet } from '../../manifests/api/etcd-fleet.ts';
import type { KubeObject } from '../interfaces/kube.ts';
import { approvalsGiven, type RefusedApproval } from '../objects/approvals.ts';
import { keyOf } from './names.ts';
import { isVerified } from './verified.ts';

/** Four eyes: the author of a commit does not approve what it asks (`spec.approvals.notByAuthor`). */

type Rule = NonNullable<NonNullable<EtcdFleet['spec']['approvals']>['notByAuthor']>;

export function asksFourEyes({ spec }: EtcdFleet): boolean {
  return spec.approvals?.notByAuthor !== undefined;
}

/** Those of these fleets that ask for four eyes, by the UIDs of what they applied. */
export function askingByUid(fleets: readonly EtcdFleet[]): ReadonlyMap<string, readonly EtcdFleet[]> {
  const asking = new Map<string, EtcdFleet[]>();
  for (const fleet of fleets.filter(asksFourEyes))
    for (const { uid } of fleet.status?.inventory ?? []) asking.set(uid, [...(asking.get(uid) ?? []), fleet]);
  return asking;
}

/** The signer of the commit that the fleet applies; `undefined` where it is not verified. */
export function signerOf(fleet: EtcdFleet, revision = fleet.status?.revision?.attempted): string | undefined {
  const isKnown = fleet.spec.git.verify !== undefined && revision !== undefined && isVerified(fleet, revision);
  return isKnown ? fleet.status?.verification?.signedBy : undefined;
}

/**
 * Approvals of this object that do not count, where this fleet applied it or is it. Whatever is not known refuses.
 *
 * @param revision whose author must not have approved. Absent: the one that was begun last.
 * @param before signers of earlier commits that the object does not do yet: they are authors of what is asked as well
 */
export function refusedApprovals(
  object: KubeObject,
  fleet: EtcdFleet,
  {
    revision = fleet.status?.revision?.attempted,
    before = [],
  }: { readonly revision?: string | undefined; readonly before?: readonly string[] } = {},
): readonly RefusedApproval[] {
  const rule = fleet.spec.approvals?.notByAuthor;
  if (!rule) return [];
  return approvalsGiven(object).flatMap(({ annotation, value, by }) => {
    const refusal = refusalOf(by, rule, { fleet, revision, before });
    return refusal ? [{ annotation, value, ...refusal }] : [];
  });
}

type Refusal = Pick<RefusedApproval, 'why' | 'cure'>;

function refusalOf(
  by: string | undefined,
  { people }: Rule,
  {
    fleet,
    revision,
    before,
  }: { readonly fleet: EtcdFleet; readonly revision: string | undefined; readonly before: readonly string[] },
): Refusal | undefined {
  const place = `EtcdFleet ${keyOf(fleet)}`;
  const listed = `spec.approvals.notByAuthor.people of ${place}`;
  const another = `another person of ${listed} approves it anew, by kubectl ratchet approve`;
  if (by === undefined) return { why: 'the name of the person that gave it is missing', cure: another };
  const signer = signerOf(fleet, revision);
  if (signer === undefined) {
    const cure = `see the condition SourceReady of ${place}, and spec.git.verify; once the commit is verified, the approval counts`;
    return { why: `the commit that ${place} applies is not verified, so its author is not known`, cure };
  }
  const signed = (one: string) => (one === signer ? `${revision}` : 'an earlier commit that is not done yet');
  for (const one of [signer, ...before]) {
    const authors = people.filter(({ signers = [] }) => signers.includes(one));
    if (authors.length === 0) {
      const cure = `list it under signers of that person in ${listed}`;
      return { why: `${listed} does not list ${one}, the signer of ${signed(one)}`, cure };
    }
    if (authors.some(({ usernames }) => usernames.includes(by)))
      return { why: `${by} gave it, and signed ${signed(one)} as ${one}`, cure: another };
  }
  if (people.some(({ usernames }) => usernames.includes(by))) return undefined;
  return { why: `${by} gave it, and ${listed} does not list that name`, cure: another };
}
