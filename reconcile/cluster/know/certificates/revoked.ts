import { revokedSerials } from '../../../../manifests/render/revocations.ts';
import { type Defect, fatal } from '../../../x509/defect.ts';
import type { LeafView, Observation } from '../observation.ts';
import { tlsModeOf } from './wanted.ts';

/** Whether members would refuse it as a client's. */
export function isRevoked({ facts }: Pick<LeafView, 'facts'>, { cluster }: Pick<Observation, 'cluster'>): boolean {
  return facts?.serial !== undefined && revokedSerials(cluster).includes(facts.serial);
}

type Seen = Pick<Observation, 'cluster' | 'certificates' | 'slots'>;

/**
 * Certificates in use that the spec revokes. Members are not given the list before others are there: etcd is asked with
 * one of them, and a member's gateway shows it that of its server; and of those that etcd-ratchet signs, each holder
 * needs a new one.
 */
export function revokedInUse(seen: Seen): readonly Defect[] {
  const { certificates, cluster, slots } = seen;
  if (certificates.kind !== 'read') return [];
  const signs = tlsModeOf(cluster, slots) === 'Managed';
  return certificates.leaves
    .filter(({ plan: { purpose } }) => signs || purpose === 'reconciler' || purpose === 'server')
    .filter((leaf) => isRevoked(leaf, seen))
    .map(({ plan: { secretName }, facts }) =>
      fatal({
        reason: 'Revoked',
        secretName,
        key: 'tls.crt',
        problem: `has the serial number ${facts?.serial}, which spec.tls.revokedClientSerials lists`,
        cure: 'issue it again, or take it off the list',
      }),
    );
}

/** All certificates were looked at, and none of those in use is on the list. */
export function mayGiveList(seen: Seen): boolean {
  return seen.certificates.kind === 'read' && revokedInUse(seen).length === 0;
}
