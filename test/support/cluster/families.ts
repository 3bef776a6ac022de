import { writeFile } from 'node:fs/promises';
import { run } from './node/command.ts';

export type Family = 'IPv4' | 'IPv6';

/**
 * The primary one first: the Service `kubernetes`, and every Service that asks for nothing, has an address of that one.
 */
export type Families = readonly [Family, ...Family[]];

interface Addresses {
  /** Of Services. */
  readonly services: string;
  /** The first of these: the Service `kubernetes`. */
  readonly apiServer: string;
  readonly dns: string;
  /** Of the bridge that pods hang on, and the length of the network's prefix. */
  readonly bridge: string;
  readonly prefix: number;
  readonly podCIDR: (node: number) => string;
  readonly node: (node: number) => string;
  readonly pod: (node: number, host: number) => string;
}

/** Fixed: whoever starts a local cluster has a network namespace to itself. */
export const addressesOf: Readonly<Record<Family, Addresses>> = {
  IPv4: {
    services: '10.96.0.0/16',
    apiServer: '10.96.0.1',
    dns: '10.96.0.10',
    bridge: '10.244.0.1',
    prefix: 16,
    podCIDR: (node) => `10.244.${node}.0/24`,
    node: (node) => `10.244.${node}.1`,
    pod: (node, host) => `10.244.${node}.${host}`,
  },
  IPv6: {
    services: 'fd00:96::/112',
    apiServer: 'fd00:96::1',
    dns: 'fd00:96::a',
    bridge: 'fd00:244::1',
    prefix: 64,
    podCIDR: (node) => `fd00:244::${node}:0/112`,
    node: (node) => `fd00:244::${node}:1`,
    pod: (node, host) => `fd00:244::${node}:${host.toString(16)}`,
  },
};

/**
 * Makes the Services' addresses local, so that each can be listened on by itself. Those of IPv4 are, since the sandbox
 * was made.
 */
export async function prepareNetwork(families: Families): Promise<void> {
  if (!families.includes('IPv6')) return;
  await run('ip', ['-6', 'route', 'replace', 'local', addressesOf.IPv6.services, 'dev', 'lo']);
  // A local route is enough to be reached by IPv6; to listen there takes this too.
  await writeFile('/proc/sys/net/ipv6/ip_nonlocal_bind', '1');
}
