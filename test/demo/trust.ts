import type { Secret } from '../../manifests/kube-types.ts';
import { type Kube, resources } from '../../reconcile/interfaces/kube.ts';
import { inspectAuthority, inspectLeaf } from '../../reconcile/x509/inspect.ts';
import { renewalTime } from '../../reconcile/x509/judge.ts';
import type { Narrator } from './narrator.ts';

/** Tells the trust within a cluster, and its end, from the certificates of its Secrets; keys are not looked at. */
export async function sayTrust(kube: Kube, namespace: string, cluster: string, { say }: Narrator): Promise<void> {
  for (const authority of ['peer', 'client'] as const) {
    const found = inspectAuthority(await dataOf(`${cluster}-${authority}-ca`));
    if (found.kind !== 'readable') throw new Error(`Secret ${cluster}-${authority}-ca cannot be read`);
    const { commonName, notAfter, fingerprint } = found.authority;
    say(`${commonName} (${fingerprint.slice(0, 12)}) until ${day(notAfter)} signs for ${audience[authority]}:`);
    for (const name of secretsOf[authority](cluster)) {
      const leaf = inspectLeaf(await dataOf(name));
      if (leaf.kind !== 'readable') throw new Error(`Secret ${name} cannot be read`);
      const { commonName, dnsNames, trust } = leaf.leaf;
      const as = dnsNames[0] === undefined ? `as user ${commonName}` : `as ${dnsNames[0]}`;
      const trusts = trust.includes(fingerprint) ? 'trusts this CA' : 'trusts somebody else';
      say(
        `  ${name.padEnd(22)} ${as}; ${trusts}; until ${day(leaf.leaf.notAfter)}, renewed from ${day(renewalTime(leaf.leaf))}`,
      );
    }
  }

  async function dataOf(name: string): Promise<Readonly<Record<string, string>>> {
    return (await kube.get<Secret>(resources.secrets, namespace, name))?.data ?? {};
  }
}

const audience = { peer: 'members among themselves', client: 'members towards clients, and clients' } as const;

const secretsOf = {
  peer: (cluster: string) => [0, 1, 2].map((ordinal) => `${cluster}-${ordinal}-peer-tls`),
  client: (cluster: string) => [
    ...[0, 1, 2].map((ordinal) => `${cluster}-${ordinal}-server-tls`),
    `${cluster}-client-tls`,
    `${cluster}-reconciler-tls`,
    `${cluster}-backup-tls`,
  ],
} as const;

function day(date: Date): string {
  return date.toISOString().slice(0, 10);
}
