import { GitError } from '../../gitops/git/error.ts';
import type { MergeSignatures } from '../../gitops/signatures/foresee.ts';
import type { Verification } from '../../gitops/signatures/verification.ts';
import type { EtcdFleet } from '../../manifests/api/etcd-fleet.ts';
import { fleetDefaults } from '../../manifests/api/spec-defaults.ts';
import { verificationOf } from '../pass/verification.ts';
import type { CheckContext } from './check-context.ts';
import type { Foreseen } from './foresee.ts';

/**
 * The signatures that the fleet asks for on its branch, or why its keys can't be used; `undefined`: none.
 * @throws {GitError} TrustedKeysUnreadable
 */
export async function signaturesAsked(
  fleet: EtcdFleet,
  { kube, signal }: Pick<CheckContext, 'kube' | 'signal'>,
): Promise<{ readonly verification?: Verification; readonly unusable?: string } | undefined> {
  try {
    const verification = await verificationOf(fleet, {}, { kube, signal });
    return verification && { verification };
  } catch (error) {
    if (error instanceof GitError && error.reason === 'TrustedKeysUnusable') return { unusable: error.message };
    throw error;
  }
}

export type SignedForeseen = Foreseen & { readonly signatures?: string };

/** Only what is certain fails the request. Who signs a merge is known once it is made. */
export function withSignatures(
  { spec }: Pick<EtcdFleet, 'spec'>,
  foreseen: Foreseen,
  { refused, head, unusable }: MergeSignatures,
): SignedForeseen {
  const file = spec.git.path ?? fleetDefaults.path;
  const problems =
    refused === undefined ? [] : [{ file, line: 0, column: 0, message: `merging is refused: ${refused}` }];
  return {
    ...foreseen,
    problems: [...problems, ...foreseen.problems],
    ...(unusable !== undefined && { unknown: `merging is refused: ${unusable}` }),
    ...(head !== undefined && {
      signatures: `Merge it by a commit that is signed, not by fast-forward: ${head}`,
    }),
  };
}
