import { AsnConvert } from '@peculiar/asn1-schema';
import { CertificateList } from '@peculiar/asn1-x509';
import type { ConfigMap, Pod, Secret } from '../../../manifests/kube-types.ts';
import { revocationsKey } from '../../../manifests/render/names.ts';
import { plainSerial } from '../../../manifests/render/revocations.ts';
import { resources } from '../../../reconcile/interfaces/kube.ts';
import { chainOf } from '../../../reconcile/x509/chain.ts';
import type { CertificateFacts } from '../../../reconcile/x509/facts.ts';
import { inspectLeaf, type LeafFacts, type SecretData } from '../../../reconcile/x509/inspect.ts';
import { missingNames } from '../../../reconcile/x509/names.ts';
import type { Process, State } from './state.ts';
import type { MemberTls, Party, Port, Revocations } from './tls-state.ts';

/**
 * TLS as etcd does it (measured on real ones, see facts/etcd.md): which CAs a member trusts it reads once, at its
 * start; its certificates and keys at every handshake, from files that the kubelet brings up to date some time after
 * the Secret.
 *
 * Every connection counts as one that is made at this moment, which is harder than life: there, what stands goes on.
 */

export type Loaded =
  | { readonly kind: 'plaintext' }
  | { readonly kind: 'loaded'; readonly tls: MemberTls }
  /** The kubelet can not mount what is not there. */
  | { readonly kind: 'unmounted' }
  | { readonly kind: 'exits'; readonly words: string };

/** What a container finds when it starts. */
export function loadTls(state: State, pod: Pod): Loaded {
  const [peer, server] = ['peer-tls', 'server-tls'].map(
    (volume) => pod.spec.volumes?.find(({ name }) => name === volume)?.secret?.secretName,
  );
  if (peer === undefined || server === undefined) return { kind: 'plaintext' };
  const ports = [peer, server].map((secretName) => {
    const secret = secretOf(state, pod.metadata.namespace, secretName);
    if (!secret) return undefined;
    const files = secret.data ?? {};
    const leaf = leafIn(state, files);
    return { secretName, files, leaf };
  });
  const [forPeers, forClients] = ports;
  if (!forPeers || !forClients) return { kind: 'unmounted' };
  for (const { secretName, leaf } of [forPeers, forClients]) {
    if (!leaf?.keyMatches) return { kind: 'exits', words: `tls: cannot load the certificate in ${secretName}` };
  }
  const portOf = ({ secretName, files, leaf }: typeof forPeers): Port => ({
    secretName,
    files,
    trusts: leaf?.authorities ?? [],
  });
  const tls = { peer: portOf(forPeers), server: portOf(forClients), allowed: allowedBy(pod) };
  const configMapName = pod.spec.volumes?.find(({ name }) => name === 'revocations')?.configMap?.name;
  if (configMapName === undefined) return { kind: 'loaded', tls };
  const list = listIn(state, pod.metadata.namespace, configMapName);
  if (list === undefined) return { kind: 'unmounted' };
  return { kind: 'loaded', tls: { ...tls, revocations: { configMapName, list } } };
}

/** As flags, which etcd reads once. */
function allowedBy(pod: Pod): MemberTls['allowed'] {
  const args = pod.spec.containers.flatMap((container) => container.args ?? []);
  const listed = (flag: string) =>
    args.flatMap((arg) => (arg.startsWith(`--${flag}=`) ? arg.slice(flag.length + 3).split(',') : []));
  return { peers: listed('peer-cert-allowed-hostname'), clients: listed('client-cert-allowed-hostname') };
}

function listIn({ kube }: State, namespace: string | undefined, wanted: string): string | undefined {
  return kube
    .stored<ConfigMap>(resources.configMaps)
    .find(({ metadata }) => metadata.name === wanted && metadata.namespace === namespace)?.binaryData?.[revocationsKey];
}

/** The kubelet brings the files of one mounted Secret, or ConfigMap, up to date: never two in one moment. */
export function refreshFiles(state: State): void {
  if (![...state.processes.values()].some(({ tls }) => tls)) return;
  const secrets = state.kube.stored<Secret>(resources.secrets);
  for (const process of state.processes.values()) {
    if (!process.tls || state.neglected.has(process.pod)) continue;
    const [namespace] = process.pod.split('/');
    const { revocations } = process.tls;
    const list = revocations && listIn(state, namespace, revocations.configMapName);
    if (revocations && list !== undefined && list !== revocations.list) {
      revocations.list = list;
      state.changes += 1;
      return;
    }
    for (const port of [process.tls.peer, process.tls.server]) {
      const files = secrets.find(
        ({ metadata }) => metadata.name === port.secretName && metadata.namespace === namespace,
      )?.data;
      if (files === undefined || sameFiles(files, port.files)) continue;
      port.files = files;
      state.changes += 1;
      return;
    }
  }
}

export function peerParty(state: State, { tls }: Process): Party | undefined {
  return tls && { shows: leafIn(state, tls.peer.files), trusts: tls.peer.trusts };
}

export function serverParty(state: State, { tls }: Process): Party | undefined {
  return tls && { shows: leafIn(state, tls.server.files), trusts: tls.server.trusts };
}

/** The party that holds these three texts. */
export function partyOf(state: State, data: SecretData): Party {
  const shows = leafIn(state, data);
  return { shows, trusts: shows?.authorities ?? [] };
}

/** Why two members cannot talk, each dialling the other; `undefined`: they can. */
export function whyNotPeers(state: State, a: Process, b: Process): string | undefined {
  const [mine, theirs] = [peerParty(state, a), peerParty(state, b)];
  if (!mine && !theirs) return undefined;
  if (!mine || !theirs) return 'one of them speaks plaintext';
  const both = ['serverAuth', 'clientAuth'] as const;
  return (
    refusal(state, mine, theirs, both, hostOf(a)) ??
    refusal(state, theirs, mine, both, hostOf(b)) ??
    // The one that dials and the one that is dialled ask alike.
    whyUnnamed(theirs, a.tls?.allowed.peers) ??
    whyUnnamed(mine, b.tls?.allowed.peers)
  );
}

/** Only the leaf counts, and of that only its DNS names. */
function whyUnnamed({ shows }: Party, allowed: readonly string[] = []): string | undefined {
  const isNamed = shows && allowed.some((name) => missingNames({ ...shows, ipAddresses: [] }, [name]).length === 0);
  return allowed.length === 0 || isNamed ? undefined : `the certificate has none of ${allowed.join(', ')}`;
}

/** Why this client cannot talk to the member; `undefined`: it can. */
export function whyNotClient(state: State, process: Process, client: Party | undefined): string | undefined {
  const server = serverParty(state, process);
  if (!server && !client) return undefined;
  if (!server || !client) return 'one of them speaks plaintext';
  return (
    refusal(state, server, client, ['serverAuth'], hostOf(process)) ?? whyTurnedAway(state, process, client, server)
  );
}

/** etcd compares each certificate that is shown. */
function whyListed({ tls }: Process, { shows }: Party): string | undefined {
  if (!tls?.revocations || !shows) return undefined;
  const serials = serialsIn(tls.revocations);
  return [shows, ...shows.intermediates].some(({ serial }) => serial !== undefined && serials.has(serial))
    ? 'the certificate is revoked'
    : undefined;
}

function serialsIn({ list }: Revocations): ReadonlySet<string> {
  const { revokedCertificates = [] } = AsnConvert.parse(Buffer.from(list, 'base64'), CertificateList).tbsCertList;
  return new Set(
    revokedCertificates.map(({ userCertificate }) => plainSerial(Buffer.from(userCertificate).toString('hex'))),
  );
}

/** Whether it is the member that turns this client away, and not the other way round. */
export function isTurnedAway(state: State, process: Process, client: Party | undefined): boolean {
  const server = serverParty(state, process);
  if (server === undefined || client === undefined) return false;
  return whyTurnedAway(state, process, client, server) !== undefined;
}

/** The member's side of it. */
function whyTurnedAway(state: State, process: Process, client: Party, server: Party): string | undefined {
  return (
    refusal(state, client, server, ['clientAuth']) ??
    whyUnnamed(client, process.tls?.allowed.clients) ??
    whyListed(process, client)
  );
}

/** Why the one who asks turns away the one who shows. */
function refusal(
  state: State,
  { shows }: Party,
  { trusts }: Party,
  usages: readonly ('serverAuth' | 'clientAuth')[],
  host?: string,
): string | undefined {
  if (!shows?.keyMatches) return 'no certificate is shown';
  if (usages.some((usage) => !shows.usages.includes(usage))) return 'the certificate is for something else';
  if (host !== undefined && missingNames(shows, [host]).length > 0) return `the certificate is not for ${host}`;
  for (const clock of [state.clock() - state.skew, state.clock() + state.skew]) {
    const why = whyNotAt(state, shows, trusts, usages, clock);
    if (why !== undefined) return why;
  }
  return undefined;
}

function whyNotAt(
  state: State,
  shows: LeafFacts,
  trusts: readonly CertificateFacts[],
  usages: readonly ('serverAuth' | 'clientAuth')[],
  clock: number,
): string | undefined {
  if (clock < shows.notBefore.getTime()) return 'the certificate is not yet valid';
  if (clock >= shows.notAfter.getTime()) return 'the certificate has ended';
  const key = [shows, ...shows.intermediates, '|', ...trusts, ...usages]
    .map((part) => (typeof part === 'string' ? part : part.fingerprint))
    .join();
  const known = state.verified.get(key);
  if (known && clock >= known.from && clock < known.until) return undefined;
  const chain = chainOf({
    leaf: shows,
    intermediates: shows.intermediates,
    trust: trusts,
    usages,
    now: new Date(clock),
    skewMs: 0,
  });
  if (chain.kind === 'adrift') return chain.why;
  // Once every certificate of a chain has begun, it holds until the first of them ends.
  state.verified.set(key, { from: Math.min(known?.from ?? clock, clock), until: chain.endsAt.getTime() });
  return undefined;
}

/** `<pod>.<headless service>.<namespace>.svc`, as other members know it. */
function hostOf({ pod, cluster }: Process): string {
  const [namespace, name] = pod.split('/');
  return `${name}.${cluster}-peers.${namespace}.svc`;
}

function secretOf({ kube }: State, namespace: string | undefined, name: string): Secret | undefined {
  return kube
    .stored<Secret>(resources.secrets)
    .find(({ metadata }) => metadata.name === name && metadata.namespace === namespace);
}

/** Reading a certificate takes longer than everything else that this world does. */
export function leafIn(state: State, data: SecretData): LeafFacts | undefined {
  const key = [data['tls.crt'], data['tls.key'], data['ca.crt']].join();
  const known = state.read.get(key);
  if (known !== undefined) return known === 'unreadable' ? undefined : known;
  const found = inspectLeaf(data);
  state.read.set(key, found.kind === 'readable' ? found.leaf : 'unreadable');
  return found.kind === 'readable' ? found.leaf : undefined;
}

function sameFiles(a: SecretData, b: SecretData): boolean {
  return (['tls.crt', 'tls.key', 'ca.crt'] as const).every((key) => a[key] === b[key]);
}
