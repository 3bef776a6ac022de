import { isIPv4, ownNamesDomain } from '../api/dns-names.ts';
import { clientServiceName, headlessServiceName, podHost } from './names.ts';

/** Which certificates a cluster has, who signs them and what they are for: names only, nothing secret. */

/** Members among themselves, and clients with members: apart, so that no client's certificate makes it a member. */
export type Authority = 'peer' | 'client';

/** What one leaf is presented for. */
type Purpose = 'peer' | 'server' | 'reconciler' | 'application' | 'backup' | 'gateway' | 'user';

export type Usage = 'serverAuth' | 'clientAuth';

/** Everything that a leaf says, but for its key and its time. */
export interface LeafPlan {
  readonly purpose: Purpose;
  readonly authority: Authority;
  /** In the cluster's namespace, with the keys `tls.crt`, `tls.key` and `ca.crt`. */
  readonly secretName: string;
  /** The member's, for `peer` and `server`. */
  readonly peer?: string;
  /** Absent: it must have none. */
  readonly commonName?: string;
  readonly dnsNames: readonly string[];
  /** The one of these that no member asks for yet: a leaf without it is good as well. */
  readonly ahead?: string;
  readonly ipAddresses: readonly string[];
  readonly usages: readonly Usage[];
}

export function authoritySecretName(cluster: string, authority: Authority): string {
  return `${cluster}-${authority}-ca`;
}

/** For applications: mounted as it is. */
export function applicationSecretName(cluster: string): string {
  return `${cluster}-client-tls`;
}

/** For clients of etcd's HTTP gateway. `-gateway-client-tls` would be that of a cluster `…-gateway`. */
export function gatewaySecretName(cluster: string): string {
  return `${cluster}-gateway-tls`;
}

/** For our own Jobs, which take snapshots: applications have no use for it. */
export function backupSecretName(cluster: string): string {
  return `${cluster}-backup-tls`;
}

/** For one user of etcd. No name of a cluster or user has a dot, so no two have the same. */
export function userSecretName(cluster: string, user: string): string {
  return `${user}.${cluster}-user-tls`;
}

export function reconcilerSecretName(cluster: string): string {
  return `${cluster}-reconciler-tls`;
}

export function memberSecretName(peer: string, purpose: 'peer' | 'server'): string {
  return `${peer}-${purpose}-tls`;
}

/** The Certificate, and where cert-manager writes its leaf. It is mounted once every holder of the CA trusts it. */
export function issuedSecretName({ secretName }: Pick<LeafPlan, 'secretName'>): string {
  return `${secretName}-issued`;
}

/** Some DNS names that the schema accepts look like IPv4 addresses; of the rest only IPv6 addresses have colons. */
function isAddress(name: string): boolean {
  return name.includes(':') || isIPv4(name);
}

/** DNS names of one cluster that no other one's leaves have, and no host: members look for them, where they do. */
export interface OwnNames {
  /** Of leaves that members show each other. */
  readonly members: string;
  /** Of ours, of the one for applications, and of that of backups. */
  readonly clients: string;
  /** Of the one for the HTTP gateway, which is off where members look for names: it lets in nowhere. */
  readonly gateway: string;
}

/** No name has a dot of its own, so no two clusters have the same ones, and no wildcard covers those of two. */
export function ownNamesOf({ namespace, cluster }: { namespace: string; cluster: string }): OwnNames {
  const domain = `${cluster}.${namespace}.${ownNamesDomain}`;
  return { members: `members.${domain}`, clients: `clients.${domain}`, gateway: `gateway.${domain}` };
}

/**
 * Such names in leaves. `Ahead`: no member asks for them yet. `Approval`: a person let members ask for them later.
 * Absent: since the birth.
 */
export interface NamesOfLeaves extends OwnNames {
  readonly since?: 'Approval' | 'Ahead';
}

interface OfMembers {
  readonly namespace: string;
  readonly cluster: string;
  readonly dnsNames?: readonly string[];
  /** Where members let in nothing else, or will. */
  readonly own?: NamesOfLeaves | undefined;
}

export function memberLeaves(
  { namespace, cluster, dnsNames = [], own }: OfMembers,
  peer: string,
): readonly [peer: LeafPlan, server: LeafPlan] {
  const host = podHost(namespace, cluster, peer);
  // TLS clients look for an address among the addresses only.
  const [addresses, names] = [dnsNames.filter(isAddress), dnsNames.filter((name) => !isAddress(name))];
  return [
    {
      purpose: 'peer',
      authority: 'peer',
      secretName: memberSecretName(peer, 'peer'),
      peer,
      commonName: peer,
      // No IP addresses, and no wildcard: etcd looks the name up and compares it with where the connection comes from.
      // The host first: etcd looks names up in this order.
      dnsNames: [host, ...(own ? [own.members] : [])],
      ...(own?.since === 'Ahead' && { ahead: own.members }),
      ipAddresses: [],
      usages: ['serverAuth', 'clientAuth'],
    },
    {
      purpose: 'server',
      authority: 'client',
      secretName: memberSecretName(peer, 'server'),
      peer,
      commonName: peer,
      dnsNames: once([
        host,
        ...inDomains(`${clientServiceName(cluster)}.${namespace}`),
        clientServiceName(cluster),
        `${clientServiceName(cluster)}.${namespace}`,
        ...inDomains(`${headlessServiceName(cluster)}.${namespace}`),
        `${host}.cluster.local`,
        'localhost',
        ...names,
      ]),
      ipAddresses: once(['127.0.0.1', '::1', ...addresses]),
      // clientAuth as well: etcd's own gateway dials the member with the server's certificate. With names it is off.
      usages: own && own.since === undefined ? ['serverAuth'] : ['serverAuth', 'clientAuth'],
    },
  ];
}

/** Leaves of the cluster itself: ours, the one for applications, and the one of our Jobs that take snapshots. */
export function clusterLeaves(
  cluster: string,
  own?: NamesOfLeaves,
): readonly [reconciler: LeafPlan, application: LeafPlan, backup: LeafPlan] {
  // Of an issuer that is shared, the name root would open other clusters that trust it. Where etcd may know only that
  // user by now, it stays.
  const ours = own && own.since === undefined ? `${cluster}-reconciler` : 'root';
  return [
    clientLeaf('reconciler', reconcilerSecretName(cluster), ours, own),
    clientLeaf('application', applicationSecretName(cluster), applicationName(cluster), own),
    // With authentication on, etcd gives a snapshot to users of the role root only.
    clientLeaf('backup', backupSecretName(cluster), ours, own),
  ];
}

/** The user of etcd whom applications are taken for. */
function applicationName(cluster: string): string {
  return `${cluster}-client`;
}

/** Of users of etcd, but for the one that has its certificate anyway. */
export function userLeaves(cluster: string, users: readonly string[], own?: NamesOfLeaves): readonly LeafPlan[] {
  return users
    .filter((user) => user !== applicationName(cluster))
    .map((user) => clientLeaf('user', userSecretName(cluster, user), user, own));
}

function clientLeaf(purpose: Purpose, secretName: string, commonName: string, own?: NamesOfLeaves): LeafPlan {
  return {
    purpose,
    authority: 'client',
    secretName,
    // With etcd's authentication on, this is the name of the user; ours must still reach maintenance and membership.
    commonName,
    dnsNames: own ? [own.clients] : [],
    ...(own?.since === 'Ahead' && { ahead: own.clients }),
    ipAddresses: [],
    usages: ['clientAuth'],
  };
}

/**
 * With etcd's authentication on, its HTTP gateway refuses every certificate that has a common name, and tells users
 * by a token. The DNS name is for cert-manager, which takes no request without any name.
 */
export function gatewayLeaf(place: { namespace: string; cluster: string }): LeafPlan {
  return {
    purpose: 'gateway',
    authority: 'client',
    secretName: gatewaySecretName(place.cluster),
    dnsNames: [ownNamesOf(place).gateway],
    ipAddresses: [],
    usages: ['clientAuth'],
  };
}

/** People name also what is there already: twice in a plan, it would never be what a certificate says. */
function once(names: readonly string[]): readonly string[] {
  return [...new Set(names)];
}

function inDomains(name: string): readonly string[] {
  return [`${name}.svc`, `${name}.svc.cluster.local`];
}
