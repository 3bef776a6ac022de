import type { TlsMode } from '../../../../manifests/api/tls-settings.ts';
import { isVersion } from '../../../../manifests/api/version.ts';
import { bypassesAuth } from '../../../../manifests/api/version-defects.ts';
import { type WantedAuth, wantedAuth } from '../auth/wanted.ts';
import type { Observation } from '../observation.ts';
import type { Judged, Refusal } from './refusal.ts';

const field = 'spec.auth';

/**
 * Users and roles as they are kept. Where users get at what they have no right to, authentication is not turned on:
 * it would protect nothing, and look as if it did. Where it is on, it stays.
 */
export function judgeAuth(
  observation: Pick<Observation, 'cluster' | 'slots'> & Partial<Pick<Observation, 'auth'>>,
  { mode, version }: { readonly mode: TlsMode; readonly version: string },
): Judged<WantedAuth | undefined> {
  const { cluster, slots, auth } = observation;
  const asked = cluster.spec.auth;
  if (!asked) return { value: undefined };
  const member = asked.users?.find(({ name }) => isOfMember(name, cluster.metadata.name))?.name;
  if (member !== undefined) return { value: undefined, refusal: ofMember(member) };
  const value = wantedAuth(asked, observation, mode);
  if (!value) return { value, refusal: withoutCertificates(mode) };
  const runs = slots.flatMap(({ endpoint }) => (endpoint.kind === 'known' ? [endpoint.status.version] : []));
  const [refusal] = [version, ...runs].filter(isVersion).flatMap((one) => tooOld(one) ?? []);
  if (asked.mode === 'Disabled' || !refusal) return { value };
  const isOn = auth?.kind === 'known' && auth.enabled;
  return { value: isOn ? value : undefined, refusal };
}

/** The certificate that such a member shows to clients would do as that user's: it is one of the CA of clients. */
function isOfMember(user: string, cluster: string): boolean {
  return user.startsWith(`${cluster}-`) && /^[0-9]+$/.test(user.slice(cluster.length + 1));
}

function ofMember(user: string): Refusal {
  return {
    reason: 'AuthRefused',
    message: `user ${user} has the name of a member, whose certificate would be that of this user as well`,
    cure: `give user ${user} another name`,
    field: 'spec.auth.users',
  };
}

function withoutCertificates(mode: TlsMode): Refusal {
  return {
    reason: 'AuthRefused',
    message: `etcd knows its users by certificates of etcd-ratchet, and the cluster has tls.mode ${mode}`,
    cure: 'remove spec.auth, or make a new cluster with tls.mode Managed or CertManager from a backup',
    field,
  };
}

function tooOld(version: string): Refusal | undefined {
  const bypass = bypassesAuth(version);
  return (
    bypass && {
      reason: 'AuthRefused',
      message: `authentication of etcd ${version} protects nothing: ${bypass.because}`,
      cure: `set spec.version to ${bypass.use} or a later patch first`,
      field,
    }
  );
}
