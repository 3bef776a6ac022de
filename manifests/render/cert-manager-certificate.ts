import { isDuration, parseDuration } from '../api/duration.ts';
import { issuerDefaults } from '../api/spec-defaults.ts';
import { isRecord } from '../json.ts';
import type { KubeCondition, KubeObject, OwnerReference } from '../kube-types.ts';
import { canonicalJson } from './canonical-json.ts';
import type { LeafPlan, Usage } from './certificate-names.ts';
import { labelsOf, peerLabels } from './names.ts';

/** Leaves that cert-manager issues: our requests, and its answers. Nothing here signs, nothing here is secret. */

export const certificateResource = {
  apiVersion: 'cert-manager.io/v1',
  kind: 'Certificate',
  plural: 'certificates',
} as const;

export interface IssuerRef {
  readonly name: string;
  /** `Issuer` if not given. */
  readonly kind?: string;
  /** `cert-manager.io` if not given. */
  readonly group?: string;
}

/** The part of cert-manager's kind that we write or look at. */
export interface CertManagerCertificate extends KubeObject {
  readonly spec: CertManagerSpec;
  readonly status?: {
    readonly conditions?: readonly (KubeCondition & { readonly observedGeneration?: number })[];
    readonly notBefore?: string;
    readonly notAfter?: string;
    readonly renewalTime?: string;
    readonly revision?: number;
    readonly lastFailureTime?: string;
    readonly failedIssuanceAttempts?: number;
    readonly nextPrivateKeySecretName?: string;
  };
}

export interface CertManagerSpec {
  readonly secretName: string;
  readonly secretTemplate?: { readonly labels?: Readonly<Record<string, string>> };
  readonly issuerRef: IssuerRef;
  readonly commonName?: string;
  readonly dnsNames?: readonly string[];
  readonly ipAddresses?: readonly string[];
  readonly usages?: readonly string[];
  readonly duration?: string;
  readonly renewBefore?: string;
  readonly privateKey?: {
    readonly algorithm?: string;
    readonly size?: number;
    readonly encoding?: string;
    readonly rotationPolicy?: string;
  };
  readonly revisionHistoryLimit?: number;
}

/** In milliseconds: what cert-manager's admission webhook refuses to go below. */
const shortestLifetime = 3600e3;
const shortestRenewBefore = 300e3;

export interface CertificateInputs {
  readonly cluster: string;
  readonly namespace: string;
  readonly owner: OwnerReference;
  readonly issuerRef: IssuerRef;
  /** Milliseconds; counted in whole seconds. */
  readonly lifetime: number;
  /** Milliseconds before the end; a third of the lifetime if not given, which is when we renew our own. */
  readonly renewBefore?: number;
}

/**
 * The Certificate for one leaf, named like its Secret. cert-manager takes over any Secret of that name: check that it
 * has no other owner first. @throws {RangeError} for a lifetime that cert-manager would refuse
 */
export function certManagerCertificate(plan: LeafPlan, inputs: CertificateInputs): CertManagerCertificate {
  const { cluster, namespace, owner, issuerRef, lifetime, renewBefore = lifetime / 3 } = inputs;
  if (!(lifetime >= shortestLifetime && renewBefore >= shortestRenewBefore && renewBefore < lifetime)) {
    throw new RangeError(
      `Certificate ${namespace}/${plan.secretName}: cert-manager issues for an hour or longer and renews five minutes or more before the end, so not for ${lifetime / 1000} s, renewed ${renewBefore / 1000} s before the end`,
    );
  }
  const labels = plan.peer === undefined ? labelsOf(cluster) : peerLabels(cluster, plan.peer);
  const dnsNames = [...new Set(plan.dnsNames)];
  return {
    apiVersion: certificateResource.apiVersion,
    kind: certificateResource.kind,
    metadata: { name: plan.secretName, namespace, labels, ownerReferences: [owner] },
    spec: {
      secretName: plan.secretName,
      secretTemplate: { labels },
      // Never left to cert-manager's defaults: where it came to fill them in (1.19.0) it issued everything anew, and a
      // controller of another group does not know an issuer without one.
      issuerRef: { ...issuerDefaults, ...issuerRef },
      ...(plan.commonName !== undefined && { commonName: plan.commonName }),
      ...(dnsNames.length > 0 && { dnsNames }),
      ...(plan.ipAddresses.length > 0 && { ipAddresses: plan.ipAddresses }),
      usages: ['digital signature', ...plan.usages.map((usage) => usageName[usage])],
      duration: goDuration(lifetime),
      renewBefore: goDuration(renewBefore),
      // A key that leaked must not outlive the certificate; before 1.18 cert-manager kept it for ever.
      privateKey: { algorithm: 'ECDSA', size: 256, encoding: 'PKCS8', rotationPolicy: 'Always' },
      // Before 1.18 every CertificateRequest was kept.
      revisionHistoryLimit: 1,
    },
  };
}

const usageName = { serverAuth: 'server auth', clientAuth: 'client auth' } as const satisfies Record<Usage, string>;

/** Fields about identity or lifetime: where we set none, there must be none. */
const ours = [
  'commonName',
  'dnsNames',
  'ipAddresses',
  'uris',
  'emailAddresses',
  'otherNames',
  'subject',
  'literalSubject',
  'isCA',
  'renewBeforePercentage',
] as const;

/**
 * Whether the live Certificate asks for what we want: every field that we set, however its duration and defaults are
 * written, and no further name. Labels and fields of others are theirs.
 */
export function isCurrent(found: CertManagerCertificate, wanted: CertManagerCertificate): boolean {
  const owners = found.metadata.ownerReferences ?? [];
  return (
    (wanted.metadata.ownerReferences ?? []).every((owner) => owners.some((one) => covers(one, owner))) &&
    covers(found.metadata.labels ?? {}, wanted.metadata.labels ?? {}) &&
    covers(plain(found.spec), plain(wanted.spec)) &&
    ours.every((field) => field in wanted.spec || isEmpty(asRecord(found.spec)[field]))
  );
}

/** The live Certificate with our fields put right, to be written back under its resourceVersion. Its owner stays. */
export function corrected(found: CertManagerCertificate, wanted: CertManagerCertificate): CertManagerCertificate {
  const others = Object.entries(found.spec).filter(([field]) => !(ours as readonly string[]).includes(field));
  return {
    ...found,
    metadata: { ...found.metadata, labels: { ...found.metadata.labels, ...wanted.metadata.labels } },
    spec: {
      ...Object.fromEntries(others),
      ...wanted.spec,
      secretTemplate: {
        ...found.spec.secretTemplate,
        labels: { ...found.spec.secretTemplate?.labels, ...wanted.spec.secretTemplate?.labels },
      },
    },
  };
}

/** As Go writes it, and so as cert-manager's clients hand it back. */
export function goDuration(milliseconds: number): string {
  const seconds = Math.floor(milliseconds / 1000);
  const hours = Math.floor(seconds / 3600);
  return `${hours > 0 ? `${hours}h` : ''}${Math.floor(seconds / 60) % 60}m${seconds % 60}s`;
}

function plain(spec: CertManagerSpec): Readonly<Record<string, unknown>> {
  return {
    ...spec,
    issuerRef: {
      ...spec.issuerRef,
      kind: spec.issuerRef?.kind || 'Issuer',
      group: spec.issuerRef?.group || 'cert-manager.io',
    },
    duration: milliseconds(spec.duration),
    renewBefore: milliseconds(spec.renewBefore),
  };
}

function milliseconds(duration: string | undefined): number | string | undefined {
  return isDuration(duration) ? parseDuration(duration) : duration;
}

function covers(found: unknown, wanted: unknown): boolean {
  if (!isRecord(wanted)) return canonicalJson(found) === canonicalJson(wanted);
  return isRecord(found) && Object.entries(wanted).every(([key, value]) => covers(found[key], value));
}

/** Go leaves out what is empty, others may not. */
function isEmpty(value: unknown): boolean {
  if (Array.isArray(value)) return value.length === 0;
  if (isRecord(value)) return Object.keys(value).length === 0;
  return value === undefined || value === null || value === '' || value === false || value === 0;
}

function asRecord(spec: CertManagerSpec): Readonly<Record<string, unknown>> {
  return { ...spec };
}
