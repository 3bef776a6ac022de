import { createHash } from 'node:crypto';

/**
 * etcd as far as its beginning and its identity go (measured on real ones, see ARCHITECTURE.md): what a member does with
 * its disk and its two bootstrap variables, and which of them form one cluster.
 */

/** What a member keeps in its data directory. */
export interface Data {
  readonly clusterId: string;
  readonly memberId: string;
  /** The highest version that ever opened it. */
  readonly version: string;
}

export interface Voter {
  readonly id: string;
  readonly url: string;
  readonly name: string;
}

export interface StartParameters {
  readonly name: string;
  readonly token: string;
  readonly version: string;
  readonly initialCluster: string;
  readonly initialClusterState: string;
}

export interface Running {
  readonly kind: 'runs';
  readonly data: Data;
  /** Of the cluster that it has just begun; none when it goes on. */
  readonly voters: readonly Voter[];
}
export interface Exited {
  readonly kind: 'exits';
  readonly words: string;
}

/** What etcd does when it starts: with data it goes on, without it does as its variables say, or exits. */
export function start(
  { name, token, version, initialCluster, initialClusterState }: StartParameters,
  data: Data | undefined,
): Running | Exited {
  if (data) {
    if (minorOf(version) < minorOf(data.version)) {
      return exits('invalid downgrade; server version is lower than determined cluster version');
    }
    return { kind: 'runs', data: { ...data, version: higher(version, data.version) }, voters: [] };
  }
  const voters = votersOf(initialCluster, token);
  const me = voters.find((voter) => voter.name === name);
  if (!me) return exits(`couldn't find local name "${name}" in the initial cluster configuration`);
  if (initialClusterState !== 'new') return exits('member count is unequal');
  return { kind: 'runs', data: { clusterId: clusterIdOf(voters), memberId: me.id, version }, voters };
}

function exits(words: string): Exited {
  return { kind: 'exits', words };
}

function votersOf(initialCluster: string, token: string): readonly Voter[] {
  return initialCluster.split(',').map((entry) => {
    const [name = '', url = ''] = entry.split('=');
    return { name, url, id: idOf(`${url} ${token}`) };
  });
}

function clusterIdOf(voters: readonly Voter[]): string {
  return idOf(
    voters
      .map(({ id }) => id)
      .toSorted()
      .join(),
  );
}

function idOf(text: string): string {
  return `a${createHash('sha256').update(text).digest('hex').slice(0, 15)}`;
}

function minorOf(version: string): number {
  return Number(version.split('.')[1]);
}

function higher(a: string, b: string): string {
  return a.localeCompare(b, 'en', { numeric: true }) >= 0 ? a : b;
}
