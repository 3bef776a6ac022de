import { createPrivateKey, X509Certificate } from 'node:crypto';
import { isDuration, parseDuration } from '../../../manifests/api/duration.ts';
import type { Secret } from '../../../manifests/kube-types.ts';
import type { CertManagerCertificate } from '../../../manifests/render/cert-manager-certificate.ts';
import type { LeafPlan, Usage } from '../../../manifests/render/certificate-names.ts';

/** What cert-manager's controllers say and write, as pure functions: `issuer.ts` carries it out. */

export type Status = NonNullable<CertManagerCertificate['status']>;
type Condition = NonNullable<Status['conditions']>[number];

export interface Violation {
  readonly reason: string;
  readonly message: string;
}

const usages: Readonly<Record<string, Usage>> = { 'server auth': 'serverAuth', 'client auth': 'clientAuth' };

/** What a Certificate asks for, in the words of whoever signs it. */
export function planOf({ spec }: CertManagerCertificate): LeafPlan {
  return {
    purpose: 'application',
    authority: 'client',
    secretName: spec.secretName,
    ...(spec.commonName !== undefined && { commonName: spec.commonName }),
    dnsNames: spec.dnsNames ?? [],
    ipAddresses: spec.ipAddresses ?? [],
    usages: (spec.usages ?? []).flatMap((name) => usages[name] ?? []),
  };
}

/**
 * Why a Certificate must be issued (again), `undefined` if it need not.
 *
 * @param asked what was asked for when its Secret was written, as far as that is known.
 */
export function violation(
  { spec }: CertManagerCertificate,
  secret: Secret | undefined,
  { ca, asked, now }: { ca: X509Certificate; asked: string | undefined; now: number },
): Violation | undefined {
  if (!secret) return { reason: 'DoesNotExist', message: 'Issuing certificate as Secret does not exist' };
  const [certificate, key] = ['tls.crt', 'tls.key'].map((name) => secret.data?.[name]);
  if (!certificate || !key) {
    return { reason: 'MissingData', message: 'Issuing certificate as Secret does not contain a key and a certificate' };
  }
  const leaf = readLeaf(certificate);
  if (!leaf) return { reason: 'InvalidCertificate', message: 'Issuing certificate as Secret contains an invalid one' };
  if (!belongs(leaf, key)) {
    return { reason: 'InvalidKeyPair', message: 'Issuing certificate as Secret contains an invalid key-pair' };
  }
  const issuer = secret.metadata.annotations?.['cert-manager.io/issuer-name'];
  if (issuer !== undefined && issuer !== spec.issuerRef.name) {
    return { reason: 'IncorrectIssuer', message: `Issuing certificate as Secret was previously issued by ${issuer}` };
  }
  if (asked === undefined ? issuer === undefined && !leaf.checkIssued(ca) : asked !== askedBy(spec)) {
    return { reason: 'RequestChanged', message: 'Fields on existing CertificateRequest resource not up to date' };
  }
  if (now < renewalTimeOf(leaf, spec.renewBefore)) return undefined;
  return { reason: 'Renewing', message: 'Renewing certificate as its renewal was scheduled for now' };
}

/** The part of a Certificate that goes into its CertificateRequest: another one means another certificate. */
export function askedBy(spec: CertManagerCertificate['spec']): string {
  const { issuerRef, commonName, dnsNames, ipAddresses, usages: uses, duration, privateKey } = spec;
  return JSON.stringify([issuerRef, commonName, dnsNames, ipAddresses, uses, duration, privateKey]);
}

/** Before the end by what was asked, or by a third of its life where it did not get to live that long. Milliseconds. */
export function renewalTimeOf(leaf: X509Certificate, renewBefore: string | undefined): number {
  const [start, end] = [leaf.validFromDate.getTime(), leaf.validToDate.getTime()];
  const asked = isDuration(renewBefore) ? parseDuration(renewBefore) : Number.POSITIVE_INFINITY;
  const before = asked < end - start ? asked : (end - start) / 3;
  return Math.floor((end - before) / 1000) * 1000;
}

export function readLeaf(base64: string): X509Certificate | undefined {
  try {
    return new X509Certificate(Buffer.from(base64, 'base64'));
  } catch {
    return undefined;
  }
}

function belongs(leaf: X509Certificate, key: string): boolean {
  try {
    return leaf.checkPrivateKey(createPrivateKey(Buffer.from(key, 'base64')));
  } catch {
    return false;
  }
}

/** The Secret as cert-manager leaves it: keys and labels of others stay, and so does its type. */
export function secretOf(
  { metadata, spec }: CertManagerCertificate,
  found: Secret | undefined,
  data: Readonly<Record<string, string>>,
): Secret {
  const { name, kind = 'Issuer', group = 'cert-manager.io' } = spec.issuerRef;
  const annotations = {
    'cert-manager.io/certificate-name': metadata.name,
    'cert-manager.io/issuer-name': name,
    'cert-manager.io/issuer-kind': kind,
    'cert-manager.io/issuer-group': group,
    'cert-manager.io/common-name': spec.commonName ?? '',
    'cert-manager.io/alt-names': (spec.dnsNames ?? []).join(','),
    'cert-manager.io/ip-sans': (spec.ipAddresses ?? []).join(','),
    'cert-manager.io/uri-sans': '',
  };
  const labels = { ...spec.secretTemplate?.labels, 'controller.cert-manager.io/fao': 'true' };
  return {
    apiVersion: 'v1',
    kind: 'Secret',
    type: 'kubernetes.io/tls',
    ...found,
    metadata: {
      ...(found?.metadata ?? {
        name: spec.secretName,
        ...(metadata.namespace !== undefined && { namespace: metadata.namespace }),
      }),
      labels: { ...found?.metadata.labels, ...labels },
      annotations: { ...found?.metadata.annotations, ...annotations },
    },
    data: { ...found?.data, ...data },
  };
}

/** `Issuing` begins. Until a first certificate is there, or while the one that is there is wrong, it is not `Ready`. */
export function issuingStatus(certificate: CertManagerCertificate, why: Violation): Status {
  const begun = withCondition(certificate, { type: 'Issuing', status: 'True', ...why });
  const serves = why.reason === 'Renewing' || why.reason === 'ManuallyTriggered';
  return serves ? begun : withCondition({ ...certificate, status: begun }, { type: 'Ready', status: 'False', ...why });
}

export function failedStatus(certificate: CertManagerCertificate, why: Violation): Status {
  const message = `The certificate request has failed to complete and will be retried: ${why.message}`;
  return {
    ...withCondition(certificate, { type: 'Issuing', status: 'False', reason: why.reason, message }),
    lastFailureTime: seconds(Date.now()),
    failedIssuanceAttempts: (certificate.status?.failedIssuanceAttempts ?? 0) + 1,
  };
}

export function issuedStatus(certificate: CertManagerCertificate, leaf: X509Certificate): Status {
  const message = 'Certificate is up to date and has not expired';
  const { conditions } = withCondition(certificate, { type: 'Ready', status: 'True', reason: 'Ready', message });
  return {
    conditions: (conditions ?? []).filter(({ type }) => type !== 'Issuing'),
    notBefore: seconds(leaf.validFromDate.getTime()),
    notAfter: seconds(leaf.validToDate.getTime()),
    renewalTime: seconds(renewalTimeOf(leaf, certificate.spec.renewBefore)),
    revision: (certificate.status?.revision ?? 0) + 1,
  };
}

export function conditionOf(certificate: CertManagerCertificate, type: string): Condition | undefined {
  return certificate.status?.conditions?.find((condition) => condition.type === type);
}

function withCondition(certificate: CertManagerCertificate, said: Condition): Status {
  const { conditions = [], ...rest } = certificate.status ?? {};
  const before = conditionOf(certificate, said.type);
  const same = before?.status === said.status;
  const condition = {
    ...said,
    observedGeneration: certificate.metadata.generation ?? 1,
    lastTransitionTime: (same ? before.lastTransitionTime : undefined) ?? seconds(Date.now()),
  };
  return { ...rest, conditions: [...conditions.filter(({ type }) => type !== said.type), condition] };
}

/** As Kubernetes writes a time. */
function seconds(time: number): string {
  return `${new Date(time).toISOString().slice(0, 19)}Z`;
}
