import type { CertificatesHost } from '../act/requests/host.ts';
import type { AuthorityView, IssuedView, LeafView, Observation, ReadCertificates } from '../know/observation.ts';
import { asWritten } from './knowledge.ts';

/** Where certificates were not looked at, there are none, and none come to be. */
export const certificatesHost: CertificatesHost<Observation> = {
  now: ({ at }) => at,
  authority: ({ certificates }, authority) =>
    certificates.kind === 'read' ? certificates.authorities[authority] : undefined,
  putAuthority: (state, authority, view: AuthorityView) =>
    onRead(state, (read) =>
      read.authorities[authority] ? { ...read, authorities: { ...read.authorities, [authority]: view } } : read,
    ),
  leaves: ({ certificates }) => (certificates.kind === 'read' ? certificates.leaves : []),
  putLeaf: (state, leaf: LeafView) => onLeaf(state, leaf.plan.secretName, (before) => asWritten(leaf, before)),
  putIssued: (state, secretName, issued: IssuedView) => onLeaf(state, secretName, (leaf) => ({ ...leaf, issued })),
};

function onLeaf(state: Observation, secretName: string, change: (leaf: LeafView) => LeafView): Observation {
  return onRead(state, (read) => ({
    ...read,
    leaves: read.leaves.map((leaf) => (leaf.plan.secretName === secretName ? change(leaf) : leaf)),
  }));
}

function onRead(state: Observation, change: (read: ReadCertificates) => ReadCertificates): Observation {
  const { certificates } = state;
  return certificates.kind === 'read' ? { ...state, certificates: change(certificates) } : state;
}
