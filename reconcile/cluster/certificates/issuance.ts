import type { EtcdCluster } from '../../../manifests/api/etcd-cluster.ts';
import { isFatal } from '../../certificates/defect.ts';
import type { Statement } from '../conditions.ts';
import type { LeafView, ReadCertificates } from '../observation.ts';
import { trustsBoth, usable } from './hand-over.ts';
import { sourceDefects } from './provided.ts';
import { issuerOf } from './requested.ts';

/** Why a leaf is not there; without a cure it is being made. */
export interface Trouble {
  readonly reason: string;
  readonly message: string;
  readonly cure?: string;
}

/** How long a Certificate may stay without a word of cert-manager's before somebody is told, in milliseconds. */
const patience = 2 * 60_000;

/** What there is to say about cert-manager's part of one leaf; `undefined` when all is well with it. */
export function issuanceTrouble(cluster: EtcdCluster, { plan, issued }: LeafView, at: Date): Trouble | undefined {
  if (!issued?.certificate) return undefined;
  const { name, certificate, secret, defects } = issued;
  const issuer = issuerOf(cluster, plan);
  const cure = `see to ${issuer} (kubectl describe certificate ${name} tells more)`;
  if (certificate.state !== 'ours') return undefined;
  const { said } = certificate;
  if (said.state === 'failed') {
    const message = `${issuer} does not give ${name} a certificate: ${said.reason}: ${said.message}`;
    return { reason: 'IssuanceFailed', message, cure };
  }
  if (said.state === 'issuing') {
    const message = `cert-manager has not issued ${name} of ${issuer} yet: ${said.reason}: ${said.message}`;
    const silent = said.reason === 'NotObserved' && at.getTime() - certificate.createdAt.getTime() > patience;
    if (!silent) return { reason: 'AwaitingCertificates', message };
    return { reason: 'CertManagerSilent', message, cure: `see that cert-manager runs, and that it knows ${issuer}` };
  }
  if (said.renewalFailed) {
    const { reason, message } = said.renewalFailed;
    return { reason: 'RenewalFailed', message: `${issuer} does not renew ${name}: ${reason}: ${message}`, cure };
  }
  const [defect] = defects.filter(isFatal);
  if (!defect) return undefined;
  if (secret === 'missing') return { reason: 'AwaitingCertificates', message: `Secret ${name} is not there yet` };
  if (defect.reason === 'KeysMissing') {
    const choice = `have ${issuer} name its CA (of ACME issuers there is none to name), or choose another issuer`;
    return { reason: 'CertificateKeysMissing', message: `${defect.message}, as ${issuer} left it`, cure: choice };
  }
  return {
    reason: `Certificate${defect.reason}`,
    message: `${defect.message}, as ${issuer} signed it`,
    cure: `see to ${issuer}, then have it issued again (cmctl renew ${name})`,
  };
}

export function followedSlowly({ certManager }: ReadCertificates): string {
  const whose = certManager ? "cert-manager's CA" : 'the provided CA';
  return `${whose} is another one now: the one before stays trusted until everybody has followed`;
}

/** The first thing that somebody must see to, else the first that is under way. */
export function firstTrouble(
  cluster: EtcdCluster,
  { certManager, leaves }: ReadCertificates,
  at: Date,
): Trouble | undefined {
  if (certManager?.kind === 'unknown') return certManager;
  const troubles = leaves.flatMap((leaf) => issuanceTrouble(cluster, leaf, at) ?? []);
  return troubles.find(({ cure }) => cure !== undefined) ?? troubles[0];
}

/** What keeps the leaves of others from being everybody's; `undefined` when nothing does, or all are of our own making. */
export function issuanceStatement(
  { cluster, at }: { readonly cluster: EtcdCluster; readonly at: Date },
  read: ReadCertificates,
): Omit<Statement, 'type'> | undefined {
  const { certManager, leaves } = read;
  if (!certManager && leaves.every(({ issued }) => !issued)) return undefined;
  const no = (reason: string, message: string) => ({ status: 'False', reason, message }) as const;
  const trouble = firstTrouble(cluster, read, at);
  if (trouble) {
    const { reason, message, cure } = trouble;
    return no(reason, cure === undefined ? message : `${message}. To go on: ${cure}`);
  }
  const unasked = certManager && leaves.find(({ issued }) => issued?.certificate?.state !== 'ours');
  if (unasked) return no('Requesting', `cert-manager is yet to be asked for ${unasked.plan.secretName}`);
  const [defect] = certManager ? [] : sourceDefects({ at }, read);
  if (defect) return no(defect.reason, `${defect.message}. To go on: ${defect.cure}`);
  if ((['peer', 'client'] as const).some((authority) => trustsBoth(read, authority))) {
    return no('RotatingAuthorities', followedSlowly(read));
  }
  const waiting = leaves.find((leaf) => leaf.facts?.fingerprint !== usable(leaf)?.fingerprint);
  if (!waiting) return undefined;
  const made = certManager ? 'cert-manager issued' : 'was provided';
  return no('Propagating', `what ${made} for ${waiting.plan.secretName} is yet to be handed over`);
}
