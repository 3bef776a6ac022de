import type { BirthAction } from './actions/birth.ts';
import type { CertificatesAction } from './actions/certificates.ts';
import type { DeletionAction } from './actions/deletion.ts';
import type { MembershipAction } from './actions/membership.ts';
import type { RecoveryAction } from './actions/recovery.ts';
import type { RollingAction } from './actions/rolling.ts';
import type { SpaceAction } from './actions/space.ts';
import type { VersionsAction } from './actions/versions.ts';
import type { VolumesAction } from './actions/volumes.ts';

/**
 * Everything a step can do to a cluster: plain data, by topic; what each does is a file under `act/actions/`.
 *
 * An action contains everything that it needs, because it is written into the lease before it is carried out: after a
 * crash, the next invocation finishes that very step, with the same token and the same member list.
 */
export type Action =
  | BirthAction
  | CertificatesAction
  | DeletionAction
  | MembershipAction
  | RecoveryAction
  | RollingAction
  | SpaceAction
  | VersionsAction
  | VolumesAction;

export type ActionKind = Action['kind'];
export type ActionOf<K extends ActionKind> = Extract<Action, { kind: K }>;
