import { ownNamesDomain } from '../api/dns-names.ts';
import { issuerDefaults } from '../api/spec-defaults.ts';
import type { CertManagerSpec, IssuerRef } from './cert-manager-certificate.ts';
import { memberLeaves, ownNamesOf } from './certificate-names.ts';
import { headlessServiceName } from './names.ts';

/** What an installation lets clusters ask of an issuer, besides their own names. */
export interface NameAllowance {
  /** `<Kind>/<name>`, of another group than cert-manager's `<Kind>.<group>/<name>`; `*` for either. */
  readonly kind: string;
  readonly issuer: string;
  /** `db.example.com`, `*.example.com` (all below it), `10.0.0.7`, `*`; `{namespace}`, `{cluster}` are filled in. */
  readonly names: readonly string[];
  /** That issuer may sign CAs of clusters. */
  readonly authority: boolean;
}

/** Lets an issuer sign CAs. Not among names: who has listed every name has not thought of CAs. OpenSSL's spelling. */
export const authorityWord = 'CA:TRUE';

export interface ReadAllowances {
  readonly allowances: readonly NameAllowance[];
  /** Entries that say nothing. They allow nothing. */
  readonly wrong: readonly string[];
}

/** @param text entries like `ClusterIssuer/company=*.{namespace}.example.com,10.0.0.7,CA:TRUE`, white space between */
export function readAllowances(text: string | undefined): ReadAllowances {
  const entries = (text ?? '').split(/\s+/).filter((entry) => entry !== '');
  const read = entries.map((entry) => ({ entry, allowance: allowanceOf(entry) }));
  return {
    allowances: read.flatMap(({ allowance }) => (allowance ? [allowance] : [])),
    wrong: read.flatMap(({ entry, allowance }) => (allowance ? [] : [entry])),
  };
}

function allowanceOf(entry: string): NameAllowance | undefined {
  const [, kind, issuer, names] = /^([A-Za-z0-9.-]+|\*)\/([a-z0-9.-]+|\*)=([^=]+)$/.exec(entry) ?? [];
  if (kind === undefined || issuer === undefined || names === undefined) return undefined;
  const listed = names.split(',');
  const patterns = listed.filter((one) => one !== authorityWord).map((name) => name.toLowerCase());
  const good =
    /^(\*|(\*\.)?([a-z0-9-]|\{(namespace|cluster)\})([a-z0-9.-]|\{(namespace|cluster)\})*|[0-9a-f:]*:[0-9a-f:.]*)$/;
  if (!patterns.every((pattern) => good.test(pattern))) return undefined;
  return { kind, issuer, names: patterns, authority: listed.includes(authorityWord) };
}

export interface Asking {
  readonly namespace: string;
  readonly cluster: string;
  readonly issuerRef: IssuerRef;
  /** By a Certificate of ours, as it is now. Absent: there is none. */
  readonly asked?: Asked;
}

/** What a Certificate asks for, and of which issuer. */
export interface Asked {
  readonly issuerRef: IssuerRef;
  /** DNS names and addresses. */
  readonly names: readonly string[];
}

export function askedBy({ issuerRef, dnsNames = [], ipAddresses = [] }: CertManagerSpec): Asked {
  return { issuerRef, names: [...dnsNames, ...ipAddresses] };
}

/**
 * The names that a cluster may not have from its issuer: neither its own nor allowed. Only new names can be refused:
 * those that its Certificate has already asked that issuer for stay, as clients rely on them.
 */
export function namesRefused(
  names: readonly string[],
  asking: Asking,
  allowances: readonly NameAllowance[],
): readonly string[] {
  const { asked: before, issuerRef } = asking;
  const kept = before && isSameIssuer(before.issuerRef, issuerRef) ? before.names : [];
  const own = ownNames(asking);
  const patterns = allowances
    .filter((one) => isOf(one, asking.issuerRef))
    .flatMap((one) => one.names.map((pattern) => filledIn(pattern, asking)));
  return names.filter((name) => {
    const asked = name.toLowerCase();
    // Those let into the cluster that they name: no list of the installation may give them to another.
    if (asked.endsWith(`.${ownNamesDomain}`)) return !own(asked);
    return !kept.includes(name) && !own(asked) && !patterns.some((pattern) => matches(pattern, asked));
  });
}

/** Whether the issuer may be asked to sign a CA of this cluster, which can sign any name. */
export function mayHaveAuthority(asking: Asking, allowances: readonly NameAllowance[]): boolean {
  return allowances.some((one) => isOf(one, asking.issuerRef) && one.authority);
}

/** A name that one issuer was let have may be forbidden with another. */
function isSameIssuer(one: IssuerRef, other: IssuerRef): boolean {
  const full = ({ name, kind, group }: IssuerRef) => [name, kind || issuerDefaults.kind, group || issuerDefaults.group];
  return full(one).join('/') === full(other).join('/');
}

function isOf({ kind, issuer }: NameAllowance, { name, kind: asked, group }: IssuerRef): boolean {
  const [wanted, of] = [asked ?? issuerDefaults.kind, group ?? issuerDefaults.group];
  const full = of === issuerDefaults.group ? wanted : `${wanted}.${of}`;
  return (kind === '*' || kind === full) && (issuer === '*' || issuer === name);
}

/** Neither a namespace nor the name of a cluster holds a character that means more than itself here. */
function filledIn(pattern: string, { namespace, cluster }: Asking): string {
  return pattern.replaceAll('{namespace}', namespace).replaceAll('{cluster}', cluster);
}

function matches(pattern: string, name: string): boolean {
  if (pattern === '*') return true;
  return pattern.startsWith('*.') ? name.endsWith(pattern.slice(1)) : name === pattern;
}

/** Of its Services in its namespace, of this machine, and those that let in: what its certificates may have anyway. */
function ownNames({ namespace, cluster }: Asking): (name: string) => boolean {
  const [, { dnsNames, ipAddresses }] = memberLeaves({ namespace, cluster }, `${cluster}-0`);
  const known = new Set([...dnsNames, ...ipAddresses, ...Object.values(ownNamesOf({ namespace, cluster }))]);
  const headless = `.${headlessServiceName(cluster)}.${namespace}.svc`;
  return (name) => known.has(name) || name.endsWith(headless) || name.endsWith(`${headless}.cluster.local`);
}
