import type { EtcdCluster } from '../../../../manifests/api/etcd-cluster.ts';
import { kubectl } from '../../../../manifests/render/kubectl.ts';
import { withCure } from '../../../reasons/cure.ts';
import type { Reason } from '../../../reasons/reasons.ts';
import { isFatal } from '../../../x509/defect.ts';
import type { LeafView, ReadCertificates, Trouble } from '../observation.ts';
import type { Statement } from '../statement.ts';
import { isSilent, troubleStatement } from './cert-manager-trouble.ts';
import { trustsBoth, usable } from './hand-over.ts';
import { issuerOf } from './order.ts';
import { sourceDefects } from './provided.ts';

/** The trouble with cert-manager's part of one leaf; `undefined`: none. */
export function issuanceTrouble(cluster: EtcdCluster, { plan, issued }: LeafView, at: Date): Trouble | undefined {
  if (!issued?.certificate) return undefined;
  const { name, certificate, secret, defects } = issued;
  const issuer = issuerOf(cluster, plan);
  const cure = `correct what ${issuer} reports: ${kubectl(cluster.metadata, `describe certificate ${name}`)}`;
  if (certificate.state !== 'ours') return undefined;
  const { said } = certificate;
  if (said.state === 'failed') {
    const message = `${issuer} does not issue ${name}: ${said.reason}: ${said.message}`;
    return { reason: 'IssuanceFailed', message, cure };
  }
  if (said.state === 'issuing') {
    const message = `cert-manager has not issued ${name} of ${issuer} yet: ${said.reason}: ${said.message}`;
    if (!isSilent(said, certificate.createdAt, at)) return { reason: 'AwaitingCertificates', message };
    return { reason: 'CertManagerSilent', message, cure: `see that cert-manager runs, and that it knows ${issuer}` };
  }
  if (said.renewalFailed) {
    const { reason, message } = said.renewalFailed;
    return { reason: 'RenewalFailed', message: `${issuer} does not renew ${name}: ${reason}: ${message}`, cure };
  }
  const [defect] = defects.filter(isFatal);
  if (!defect) return undefined;
  if (secret === 'missing') return { reason: 'AwaitingCertificates', message: `Secret ${name} does not exist yet` };
  if (defect.reason === 'KeysMissing') {
    const choice = `let ${issuer} provide its CA (ACME issuers cannot), or choose another issuer`;
    return { reason: 'CertificateKeysMissing', message: `${defect.message}, as ${issuer} left it`, cure: choice };
  }
  return {
    reason: `Certificate${defect.reason}`,
    message: `${defect.message}, as ${issuer} signed it`,
    cure: `correct ${issuer}, then have the certificate issued again (cmctl renew ${name})`,
  };
}

/** A member that does not present what its Secret has. */
export function behind({ leaves }: ReadCertificates): LeafView['plan'] | undefined {
  return leaves.find(({ plan, facts, served }) => plan.peer !== undefined && facts && served !== facts.fingerprint)
    ?.plan;
}

export function followedSlowly(read: ReadCertificates): string {
  const whose = read.certManager ? "cert-manager's CA" : 'the provided CA';
  const { peer, secretName } = behind(read) ?? {};
  const who = peer === undefined ? '' : `; ${peer} does not present the certificate in ${secretName} yet`;
  return `${whose} has changed: the old one stays trusted until every member and client has had time to follow${who}`;
}

/** The first trouble that a person must correct, else the first that is under way. */
export function firstTrouble(
  cluster: EtcdCluster,
  { certManager, leaves }: ReadCertificates,
  at: Date,
): Trouble | undefined {
  if (certManager?.kind === 'unknown') return certManager;
  const troubles = leaves.flatMap((leaf) => issuanceTrouble(cluster, leaf, at) ?? []);
  return troubles.find(({ cure }) => cure !== undefined) ?? troubles[0];
}

/**
 * What keeps certificates of another signer from being in use; `undefined`: nothing does, or etcd-ratchet signs all.
 */
export function issuanceStatement(
  { cluster, at }: { readonly cluster: EtcdCluster; readonly at: Date },
  read: ReadCertificates,
): Omit<Statement, 'type'> | undefined {
  const { certManager, leaves } = read;
  if (!certManager && leaves.every(({ issued }) => !issued)) return undefined;
  const no = (reason: Reason, message: string) => ({ status: 'False', reason, message }) as const;
  const trouble = firstTrouble(cluster, read, at);
  if (trouble) return troubleStatement(trouble);
  const unasked = certManager && leaves.find(({ issued }) => issued?.certificate?.state !== 'ours');
  if (unasked) return no('Requesting', `${unasked.plan.secretName} is not requested from cert-manager yet`);
  const [defect] = certManager ? [] : sourceDefects({ at }, read);
  if (defect) return no(defect.reason, withCure(defect.message, defect.cure));
  if ((['peer', 'client'] as const).some((authority) => trustsBoth(read, authority))) {
    return no('RotatingAuthorities', followedSlowly(read));
  }
  const waiting = leaves.find((leaf) => leaf.facts?.fingerprint !== usable(leaf)?.fingerprint);
  if (!waiting) return undefined;
  const made = certManager ? 'cert-manager issued' : 'was provided';
  return no('Propagating', `the certificate that ${made} for ${waiting.plan.secretName} is not handed over yet`);
}
