import type { EtcdFleet } from '../../manifests/api/etcd-fleet.ts';
import type { EtcdFleetStatus } from '../../manifests/api/etcd-fleet-status.ts';
import { fleetDefaults } from '../../manifests/api/spec-defaults.ts';
import { type Reading, shaOf } from './reading.ts';

/** Reasons of a revision that was not read, since it is not signed as the fleet asks, or that can't be judged. */
export const notVerified: ReadonlySet<string> = new Set([
  'CommitNotSigned',
  'SignerNotTrusted',
  'SignatureInvalid',
  'HistoryNotVerified',
  'TrustedKeysUnusable',
]);

/** The status' record of the revision that was verified last. What a fleet no longer asks for is forgotten. */
export function verificationAfter(
  { spec, status }: Pick<EtcdFleet, 'spec' | 'status'>,
  reading: Reading,
): EtcdFleetStatus['verification'] {
  if (!spec.git.verify) return undefined;
  const verified = reading.kind === 'tree' ? reading.tree.verified : undefined;
  if (reading.kind !== 'tree' || !verified) return status?.verification;
  const { mode, by, key } = verified;
  return { revision: reading.revision, url: spec.git.url, mode, signedBy: by, key };
}

/** Whether this revision was verified as the fleet asks now, or it asks for nothing. */
export function isVerified({ spec: { git }, status }: Pick<EtcdFleet, 'spec' | 'status'>, name: string): boolean {
  if (!git.verify) return true;
  const { mode = fleetDefaults.verifyMode } = git.verify;
  const { revision, url, mode: by } = status?.verification ?? {};
  return revision === name && url === git.url && by === mode;
}

/** The commit that this branch of this repository had when it was verified last; `undefined`: none. */
export function lastVerified({ spec: { git }, status }: Pick<EtcdFleet, 'spec' | 'status'>): string | undefined {
  const { revision, url } = status?.verification ?? {};
  if (revision === undefined || url !== git.url) return undefined;
  return revision === `${git.ref}@sha1:${shaOf(revision)}` ? shaOf(revision) : undefined;
}
