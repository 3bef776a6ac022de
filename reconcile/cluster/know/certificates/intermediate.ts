import { parseDuration } from '../../../../manifests/api/duration.ts';
import type { EtcdCluster } from '../../../../manifests/api/etcd-cluster.ts';
import { issuerDefaults, tlsDefaults } from '../../../../manifests/api/spec-defaults.ts';
import type { IssuerRef } from '../../../../manifests/render/cert-manager-certificate.ts';
import {
  authorityWord,
  mayHaveAuthority,
  type NameAllowance,
} from '../../../../manifests/render/certificate-allowance.ts';
import { authoritySecretName } from '../../../../manifests/render/certificate-names.ts';
import { hashOf } from '../../../../manifests/render/inputs-hash.ts';
import { kubectl } from '../../../../manifests/render/kubectl.ts';
import type { IntermediateOrder } from '../actions/certificates.ts';
import type { AuthorityView, ReadCertificates, Trouble } from '../observation.ts';
import { isSilent } from './cert-manager-trouble.ts';
import { isDue } from './due.ts';

/**
 * The client CA of a cluster, signed by an issuer of cert-manager too (`spec.tls.managed.issuerRef`): clients of that
 * issuer's CA can verify members. Members trust the cluster's own CAs and no other: nothing here changes their trust.
 */

/** How long a refused request stays, for people to read, before the issuer is asked again. Milliseconds. */
const pauseAfterRefusal = 3600e3;

/** What its issuer is to sign now; `undefined`: nothing is due, or both CAs are trusted still. */
export function intermediateDue(
  { metadata, spec }: EtcdCluster,
  { authorities: { client } }: Pick<ReadCertificates, 'authorities'>,
  at: Date,
): IntermediateOrder | undefined {
  const issuerRef = spec.tls?.managed?.issuerRef;
  const facts = client?.state === 'ours' ? client.facts : undefined;
  if (!issuerRef || !facts || facts.trust.length > 1) return undefined;
  const issuer = issuerText(issuerRef);
  const { current, chain } = facts.intermediate ?? {};
  const isThere = current === true && chain !== undefined && client?.record?.issuer === issuer;
  if (isThere && !isDue(chain[0], at)) return undefined;
  // One name for each answer: what a crash left of an earlier one is never taken for this one.
  const answer = hashOf([metadata.uid, facts.fingerprint, issuer, chain?.[0].fingerprint ?? '']).slice(0, 8);
  return {
    name: `${authoritySecretName(metadata.name, 'client')}-${answer}`,
    issuerRef,
    issuer,
    lifetime: parseDuration(spec.tls?.managed?.authorityLifetime ?? tlsDefaults.authorityLifetime),
  };
}

/** `ClusterIssuer/company`, of another group than cert-manager's `Kind.group/name`. */
function issuerText({ name, kind = issuerDefaults.kind, group = issuerDefaults.group }: IssuerRef): string {
  return `${kind}${group === issuerDefaults.group ? '' : `.${group}`}/${name}`;
}

/** A CA can sign any name, so it takes a permission of its own. */
export function mayBeSigned(
  { metadata: { name, namespace = '' } }: EtcdCluster,
  { issuerRef }: IntermediateOrder,
  allowances: readonly NameAllowance[] = [],
): boolean {
  return mayHaveAuthority({ namespace, cluster: name, issuerRef }, allowances);
}

export function refusedToSign({ issuer }: IntermediateOrder): { readonly message: string; readonly cure: string } {
  return {
    message: `${issuer} is not asked to sign the client CA: a CA can sign any name, and this installation does not let that issuer sign CAs of clusters`,
    cure: `have an admin of the installation list ${issuer}=${authorityWord} in RATCHET_CERTIFICATE_NAMES, or remove spec.tls.managed.issuerRef`,
  };
}

export function mayBeAskedAgain(signing: AuthorityView['signing'], at: Date): boolean {
  const isOfNoUse = signing?.state === 'failed' || (signing?.state === 'signed' && signing.flaw !== undefined);
  return isOfNoUse && at.getTime() >= signing.createdAt.getTime() + pauseAfterRefusal;
}

/** Why the issuer's signature is not there; without a cure it is under way. `undefined`: it is there, or not due. */
export function signingTrouble(
  place: { readonly cluster: EtcdCluster; readonly at: Date; readonly nameAllowances?: readonly NameAllowance[] },
  read: Pick<ReadCertificates, 'authorities'>,
): Trouble | undefined {
  const { cluster, at, nameAllowances } = place;
  const order = intermediateDue(cluster, read, at);
  if (!order) return undefined;
  if (!mayBeSigned(cluster, order, nameAllowances)) {
    return { reason: 'CertificateNamesRefused', ...refusedToSign(order) };
  }
  const signing = read.authorities.client?.signing;
  const { name, issuer } = order;
  const look = `correct what ${issuer} reports: ${kubectl(cluster.metadata, `describe certificaterequest ${name}`)}`;
  switch (signing?.state) {
    case undefined:
    case 'missing':
      return { reason: 'AwaitingCertificates', message: `${issuer} is not asked to sign the client CA yet` };
    case 'unknown':
      return signing.trouble;
    case 'foreign': {
      const message = `CertificateRequest ${name} belongs to another owner; it is left alone, and ${issuer} cannot be asked to sign the client CA`;
      return { reason: 'NameTaken', message, cure: 'delete that CertificateRequest' };
    }
    case 'failed': {
      const message = `${issuer} does not sign the client CA: ${signing.said.reason}: ${signing.said.message}`;
      const again = kubectl(cluster.metadata, `delete certificaterequest ${name}`);
      return {
        reason: 'IssuanceFailed',
        message,
        cure: `let ${issuer} sign CAs (isCA), then ask it again: ${again}; or remove spec.tls.managed.issuerRef`,
      };
    }
    case 'pending': {
      const message = `${issuer} has not signed the client CA yet: ${signing.said.reason}: ${signing.said.message}`;
      return isSilent(signing.said, signing.createdAt, at)
        ? { reason: 'CertManagerSilent', message, cure: look }
        : { reason: 'AwaitingCertificates', message };
    }
    case 'signed': {
      if (signing.flaw === undefined) {
        return { reason: 'AwaitingCertificates', message: `what ${issuer} signed for the client CA is not in use yet` };
      }
      const again = kubectl(cluster.metadata, `delete certificaterequest ${name}`);
      return {
        reason: 'IssuanceFailed',
        message: `what ${issuer} signed for the client CA ${signing.flaw}`,
        cure: `let ${issuer} sign CAs as they ask for it, and answer only with what leads to its CA; then ask it again: ${again}; or remove spec.tls.managed.issuerRef`,
      };
    }
  }
}
