import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, mkdtemp, rename, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { LeafPlan } from '../../../manifests/render/certificate-names.ts';
import type { EtcdTls } from '../../../reconcile/interfaces/etcd.ts';
import { type Authority, createAuthority, type IssuedLeaf, issueLeaf } from '../../../reconcile/x509/issue.ts';
import { until } from '../../e2e/support/until.ts';
import { ownAddress } from '../manifests-build/etcd-process.ts';

/** Days from now. */
export interface Lifetime {
  readonly from: number;
  readonly to: number;
}

export const current: Lifetime = { from: -1, to: 10 };
export const past: Lifetime = { from: -3, to: -1 };
export const future: Lifetime = { from: 1, to: 3 };

export function authority(commonName: string, previous?: Authority): Promise<Authority> {
  return createAuthority({ commonName, ...timesOf({ from: -5, to: 20 }), ...(previous && { previous }) });
}

export function leaf(
  signer: Authority,
  plan: Partial<LeafPlan> = {},
  lifetime: Lifetime = current,
): Promise<IssuedLeaf> {
  const base = { purpose: 'server', authority: 'client', secretName: 'test', commonName: 'm0' } as const;
  const whole = { ...base, dnsNames: [], ipAddresses: [], usages: ['serverAuth', 'clientAuth'], ...plan } as const;
  return issueLeaf(whole, signer, timesOf(lifetime));
}

/** What the reconciler shows, which is the name of etcd's root user, and nothing but a client. */
export function clientLeaf(signer: Authority, lifetime: Lifetime = current): Promise<IssuedLeaf> {
  return leaf(signer, { commonName: 'root', usages: ['clientAuth'] }, lifetime);
}

/** The client's side towards members that are reached by address and known by name. */
export function tlsFor(members: readonly TlsMember[], ca: string, { certificate: cert, key }: IssuedLeaf): EtcdTls {
  const serverName = (endpoint: string) => members.find(({ url }) => url === endpoint)?.host ?? 'nobody.invalid';
  return { ca, cert, key, serverName };
}

export interface TlsMember {
  readonly name: string;
  readonly address: string;
  /** `https://<address>:2379`. */
  readonly url: string;
  /** The name in its certificates, which nobody can look up. */
  readonly host: string;
  /** Plain HTTP, health and metrics. */
  readonly metricsUrl: string;
  /** Puts another leaf where etcd reads its server certificate, each file whole at every moment. */
  present(leaf: IssuedLeaf): Promise<void>;
  presentToPeers(leaf: IssuedLeaf): Promise<void>;
  /** Writes the file with the authorities of clients; etcd reads it when it starts. */
  trust(ca: string): Promise<void>;
  restart(): Promise<void>;
  kill(): Promise<void>;
}

export interface TlsCluster extends AsyncDisposable {
  /** Signs what members show each other. */
  readonly peerAuthority: Authority;
  readonly members: readonly [TlsMember, ...TlsMember[]];
}

/** Real etcd processes with client certificates required on both ports, ready when this resolves. */
export async function startTlsMembers(
  binary: string,
  count: number,
  clientAuthority: Authority,
  extra: readonly string[] = [],
  /** The CA of members, and further names in their leaves. */
  peers: { readonly authority?: Authority; readonly dnsNames?: readonly string[] } = {},
): Promise<TlsCluster> {
  const peerAuthority = peers.authority ?? (await authority('peers'));
  const directory = await mkdtemp(join(tmpdir(), 'ratchet-etcd-tls-'));
  const running = new Map<string, ChildProcess>();
  const planned = Array.from({ length: count }, (_, index) => plan(`m${index}`));
  const stop = async () => {
    await Promise.all([...running.values()].map(end));
    await rm(directory, { recursive: true, force: true });
  };
  try {
    const [first, ...others] = await Promise.all(planned.map(prepared));
    if (first === undefined) throw new Error('a cluster has at least one member');
    for (const member of planned) launch(member);
    await Promise.all(planned.map(ready));
    return { peerAuthority, members: [first, ...others], [Symbol.asyncDispose]: stop };
  } catch (error) {
    await stop();
    throw error;
  }

  async function prepared(member: Plan): Promise<TlsMember> {
    const at = (file: string) => join(directory, member.name, file);
    const write = async (file: string, text: string) => {
      await writeFile(at(`${file}.new`), text, { mode: 0o600 });
      await rename(at(`${file}.new`), at(file));
    };
    const put = async (use: 'server' | 'peer', { certificate, key }: IssuedLeaf) => {
      await write(`${use}.key`, key);
      await write(`${use}.crt`, certificate);
    };
    const shown: TlsMember = {
      ...member,
      present: (leaf) => put('server', leaf),
      presentToPeers: (leaf) => put('peer', leaf),
      trust: (ca) => write('server-ca.crt', ca),
      restart: async () => {
        await shown.kill();
        launch(member);
        await ready(member);
      },
      kill: async () => {
        const child = running.get(member.name);
        if (child) await end(child);
      },
    };
    await mkdir(at(''), { recursive: true });
    await write('peer-ca.crt', peerAuthority.certificate);
    await shown.trust(clientAuthority.certificate);
    await shown.present(await leaf(clientAuthority, { commonName: member.name, dnsNames: [member.host] }));
    // Two members on one host: what one dials comes from 127.0.0.1, against which etcd holds the addresses in the
    // certificate.
    const ipAddresses = [member.address, '127.0.0.1'];
    const { dnsNames = [] } = peers;
    await shown.presentToPeers(await leaf(peerAuthority, { commonName: member.name, ipAddresses, dnsNames }));
    return shown;
  }

  function launch(member: Plan): void {
    const file = (name: string) => join(directory, member.name, name);
    const peers = planned.map(({ name, address }) => `${name}=https://${address}:2380`).join(',');
    const args = [
      `--name=${member.name}`,
      `--data-dir=${file('data')}`,
      `--listen-client-urls=${member.url}`,
      `--advertise-client-urls=https://${member.host}:2379`,
      `--listen-peer-urls=https://${member.address}:2380`,
      `--initial-advertise-peer-urls=https://${member.address}:2380`,
      `--initial-cluster=${peers}`,
      `--listen-metrics-urls=${member.metricsUrl}`,
      `--cert-file=${file('server.crt')}`,
      `--key-file=${file('server.key')}`,
      `--trusted-ca-file=${file('server-ca.crt')}`,
      '--client-cert-auth',
      `--peer-cert-file=${file('peer.crt')}`,
      `--peer-key-file=${file('peer.key')}`,
      `--peer-trusted-ca-file=${file('peer-ca.crt')}`,
      '--peer-client-cert-auth',
      '--unsafe-no-fsync',
      '--log-level=fatal',
      ...extra,
    ];
    running.set(member.name, spawn(binary, args, { stdio: 'ignore' }));
  }

  async function ready({ name, metricsUrl }: Plan): Promise<void> {
    await until(`etcd ${name} at ${metricsUrl}`, async () => {
      const child = running.get(name);
      if (child?.exitCode !== null) throw new Error(`it exited with ${child?.exitCode}`);
      const response = await fetch(`${metricsUrl}/health`, { signal: AbortSignal.timeout(2_000) });
      return response.ok;
    });
  }
}

type Plan = Pick<TlsMember, 'name' | 'address' | 'url' | 'host' | 'metricsUrl'>;

function plan(name: string): Plan {
  const address = ownAddress();
  const host = `${name}-0.tls-peers.space.svc`;
  return { name, address, host, url: `https://${address}:2379`, metricsUrl: `http://${address}:2381` };
}

function timesOf({ from, to }: Lifetime): { readonly notBefore: Date; readonly notAfter: Date } {
  const inDays = (days: number) => new Date(Date.now() + days * 86_400_000);
  return { notBefore: inDays(from), notAfter: inDays(to) };
}

async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const ended = once(child, 'exit');
  child.kill('SIGKILL');
  await ended;
}
