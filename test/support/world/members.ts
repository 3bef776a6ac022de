import { createHash } from 'node:crypto';

/**
 * etcd as far as its beginning and its identity go (measured on real ones, see ARCHITECTURE.md): what a member does
 * with its disk and its two bootstrap variables, and which of them form one cluster.
 */

/** What a member keeps in its data directory. */
export interface Data {
  readonly clusterId: string;
  readonly memberId: string;
  /** The version that opened it last. */
  readonly version: string;
  /** What its last snapshot holds: the entries after it are replayed at a start. */
  snapshot: number;
  /** How many of the writes that its cluster acknowledged are in it. */
  applied: number;
  /** Restored from a snapshot, by this attempt of this birth, like `<token>/1`; no etcd has opened it yet. */
  readonly made?: string;
  /** Of a recovery: what it was made of, which lies beside it. */
  readonly madeOf?: Data;
  /** How its data differ; absent or 0: they do not. */
  spoiled?: number;
}

export interface Member {
  readonly id: string;
  readonly url: string;
  readonly isLearner: boolean;
}

/** The cluster that answers at the peer URLs which a joining member was given. */
export interface Living {
  readonly clusterId: string;
  readonly members: readonly Member[];
  readonly version: string | undefined;
}

export interface StartParameters {
  readonly name: string;
  readonly token: string;
  readonly version: string;
  readonly initialCluster: string;
  readonly initialClusterState: string;
  /** Of the cluster that its data belong to: its version, and up to which entry 3.5 may have written to it. */
  readonly formation: { readonly version?: string; readonly ancient: number } | undefined;
}

export interface Running {
  readonly kind: 'runs';
  readonly data: Data;
  /** Of the cluster that it has just begun; none when it goes on, or joins one. */
  readonly voters: readonly Member[];
}
export interface Exited {
  readonly kind: 'exits';
  readonly words: string;
}

/** What etcd does when it starts: with data it goes on, without it does as its variables say, or exits. */
export function start(
  { name, token, version, initialCluster, initialClusterState, formation }: StartParameters,
  data: Data | undefined,
  living: (urls: readonly string[]) => Living | undefined,
): Running | Exited {
  if (data) {
    const why = whyNotOn(version, data, formation);
    if (why !== undefined) return exits(why);
    const { made: _, madeOf: __, ...opened } = data;
    return { kind: 'runs', data: { ...opened, version }, voters: [] };
  }
  const recorded = recordedIn(initialCluster);
  const me = recorded.find((member) => member.name === name);
  if (!me) return exits(`couldn't find local name "${name}" in the initial cluster configuration`);
  if (initialClusterState !== 'new') return join(me.url, recorded, version, living);
  const voters = recorded.map(({ url }) => ({ id: idOf(`${url} ${token}`), url, isLearner: false }));
  const memberId = idOf(`${me.url} ${token}`);
  return { kind: 'runs', data: { clusterId: clusterIdOf(voters), memberId, version, snapshot: 0, applied: 0 }, voters };
}

export const downgraded = 'invalid downgrade; server version is lower than determined cluster version';
export const incompatible = 'incompatible with current running cluster';
export const unreadable = 'unmarshal should never fail';
export const skippedMinor = 'the data is of a minor that this one does not follow';

/** What etcd says of data of another version (all three seen on real ones). */
function whyNotOn(version: string, { snapshot }: Data, formation: StartParameters['formation']): string | undefined {
  const { version: settled = version, ancient = 0 } = formation ?? {};
  if (minorOf(version) < minorOf(settled)) return downgraded;
  if (minorOf(version) > minorOf(settled) + 1) return skippedMinor;
  return minorOf(version) > 6 && snapshot < ancient ? unreadable : undefined;
}

/** Its list must be the living one, URL by URL, and it must be in it. */
function join(
  url: string,
  recorded: readonly { readonly url: string }[],
  version: string,
  living: (urls: readonly string[]) => Living | undefined,
): Running | Exited {
  const cluster = living(recorded.flatMap((other) => (other.url === url ? [] : [other.url])));
  if (!cluster) return exits('could not get cluster response: no peer answers');
  if (minorOf(version) < minorOf(cluster.version ?? version)) return exits(incompatible);
  if (cluster.members.length !== recorded.length) return exits('member count is unequal');
  const urls = new Set(recorded.map((other) => other.url));
  if (!cluster.members.every((member) => urls.has(member.url)))
    return exits('PeerURLs: no match found for existing member');
  const me = cluster.members.find((member) => member.url === url);
  if (!me) return exits('PeerURLs: no match found for existing member');
  return {
    kind: 'runs',
    data: { clusterId: cluster.clusterId, memberId: me.id, version, snapshot: 0, applied: 0 },
    voters: [],
  };
}

function exits(words: string): Exited {
  return { kind: 'exits', words };
}

function recordedIn(initialCluster: string): readonly { readonly name: string; readonly url: string }[] {
  return initialCluster.split(',').map((entry) => {
    const [name = '', url = ''] = entry.split('=');
    return { name, url };
  });
}

/** What etcdutl makes of a snapshot: one member, whose IDs are made of its URL and that token. */
export function aloneIn({ url, token }: { readonly url: string; readonly token: string }) {
  const member: Member = { id: idOf(`${url} ${token}`), url, isLearner: false };
  return { clusterId: clusterIdOf([member]), member };
}

function clusterIdOf(voters: readonly Member[]): string {
  return idOf(
    voters
      .map(({ id }) => id)
      .toSorted()
      .join(),
  );
}

export function idOf(text: string): string {
  return `a${createHash('sha256').update(text).digest('hex').slice(0, 15)}`;
}

export function minorOf(version: string): number {
  return Number(version.split('.')[1]);
}
