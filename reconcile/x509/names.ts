import { isIP } from 'node:net';
import type { LeafPlan } from '../../manifests/render/certificate-names.ts';
import { headlessServiceName } from '../../manifests/render/names.ts';
import { type CertificateFacts, canonicalAddress } from './facts.ts';

/**
 * The names without which our addresses of a member do not work: its pod's host name, and on the client side also
 * `<cluster>.<namespace>.svc`; and those by which members let a leaf in. Provided certificates may lack others.
 */
export function requiredNames({ purpose, dnsNames, ahead }: LeafPlan): readonly string[] {
  const [host] = dnsNames;
  // Where the only name is for the issuer's sake, no member looks for it.
  if (host === undefined || purpose === 'gateway') return [];
  if (purpose !== 'server') return dnsNames.filter((name) => name !== ahead);
  const [, headless, ...rest] = host.split('.');
  const service = dnsNames.filter((name) => {
    const [first = '', ...domain] = name.split('.');
    return headlessServiceName(first) === headless && domain.join('.') === rest.join('.');
  });
  return [host, ...service];
}

/** Those of the DNS names and IP addresses for which a TLS client would not take this certificate. */
export function missingNames(
  { dnsNames, ipAddresses }: Pick<CertificateFacts, 'dnsNames' | 'ipAddresses'>,
  wanted: readonly string[],
): readonly string[] {
  return wanted.filter((name) =>
    // Not by a name that looks like an address: TLS clients ask for addresses among the addresses only.
    isIP(name) === 0
      ? !dnsNames.some((pattern) => covers(pattern, name))
      : !ipAddresses.includes(canonicalAddress(name)),
  );
}

/** RFC 6125 as Go and Node apply it: `*` is the whole first label, and stands for exactly one. */
export function covers(pattern: string, name: string): boolean {
  const own = pattern.toLowerCase();
  const asked = name.toLowerCase();
  if (own === asked) return true;
  const dot = asked.indexOf('.');
  return own.startsWith('*.') && own.length > 2 && dot > 0 && own.slice(1) === asked.slice(dot);
}

/**
 * Whether other members would reject this certificate although its name is covered. etcd resolves exact names of a
 * connecting peer, but compares wildcards with reverse DNS (isHostInDNS of client/pkg/transport/listener_tls.go), which
 * ends in the cluster's domain: `*.c-peers.ns.svc.cluster.local` matches, `*.c-peers.ns.svc` does not.
 */
export function isWildcardOutOfReach(facts: Pick<CertificateFacts, 'dnsNames'>, { purpose, dnsNames }: LeafPlan) {
  const [host] = dnsNames;
  if (purpose !== 'peer' || host === undefined || facts.dnsNames.includes(host.toLowerCase())) return false;
  const parent = host.toLowerCase().slice(host.indexOf('.'));
  return !facts.dnsNames.some((name) => name.startsWith(`*${parent}.`));
}
