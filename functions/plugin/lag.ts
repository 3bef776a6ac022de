import { abortAfter } from '../../manifests/abort-after.ts';
import type { EtcdCluster } from '../../manifests/api/etcd-cluster.ts';
import { tlsDefaults } from '../../manifests/api/spec-defaults.ts';
import type { Pod, Secret } from '../../manifests/kube-types.ts';
import { reconcilerSecretName } from '../../manifests/render/certificate-names.ts';
import { leadsTo, urlOf } from '../../manifests/render/hosts.ts';
import { labels, podHost, ports, schemeOf } from '../../manifests/render/names.ts';
import { credentialsIn, type EtcdAccess } from '../../reconcile/cluster/observe/certificates/credentials.ts';
import { type EndpointStatus, EtcdError } from '../../reconcile/interfaces/etcd.ts';
import { isReason, resources } from '../../reconcile/interfaces/kube.ts';
import { type Asked, Refusal } from './command.ts';
import { reachThrough } from './members/through.ts';
import { waysOrWhyNot } from './members/ways.ts';

/**
 * Milliseconds for all members: a person waits for the screen. At their own addresses, which often lead nowhere from
 * there; then to make ways, and for the answers that come by them.
 */
const patience = { straight: 1_500, ways: 4_000, byWays: 3_000 } as const;

export interface Lag {
  /** Entries of raft's log that each member has still to apply, by its name. */
  readonly behind: ReadonlyMap<string, number>;
  /** Why it is not known of all. */
  readonly unknown?: string;
}

interface Answer {
  readonly name: string;
  readonly says: EndpointStatus | { readonly silent: string };
}

/** Asks the members, with the rights and from the place of this person. */
export async function lagOf(cluster: EtcdCluster, pods: readonly Pod[], asked: Asked): Promise<Lag> {
  const found = pods.flatMap(({ metadata, status }) => {
    const name = metadata.labels?.[labels.peer];
    return name !== undefined && status?.podIP ? [{ name, address: status.podIP }] : [];
  });
  if (found.length === 0) return { behind: new Map() };
  const access = await accessTo(cluster, asked);
  if (access.kind === 'none') return { behind: new Map(), unknown: access.cause };
  const members = { cluster, found, access };
  const straight = await answersOf(members, asked, patience.straight);
  if (straight.some(({ says }) => 'raftIndex' in says)) return lagAmong(straight);
  return lagAmong((await answersByWays(members, asked)) ?? straight);
}

interface Members {
  readonly cluster: EtcdCluster;
  readonly found: readonly { readonly name: string; readonly address: string }[];
  readonly access: Exclude<EtcdAccess, { kind: 'none' }>;
}

async function answersOf(
  { cluster, found, access }: Members,
  { reach, stop }: Pick<Asked, 'reach' | 'stop'>,
  milliseconds: number,
): Promise<readonly Answer[]> {
  const { namespace = '', name: clusterName } = cluster.metadata;
  const serverName = (endpoint: string) => {
    const member = found.find(({ address }) => leadsTo(endpoint, address));
    return podHost(namespace, clusterName, member?.name ?? '');
  };
  const etcd = await reach.etcd(access.kind === 'tls' ? { ...access.tls, serverName } : undefined);
  const scheme = schemeOf(access.kind === 'tls' ? 'Managed' : 'Disabled');
  const signal = abortAfter(milliseconds, stop);
  try {
    return await Promise.all(
      found.map(async ({ name, address }): Promise<Answer> => {
        const says = await etcd.status(urlOf(scheme, address, ports.client), { signal }).catch(silence);
        return { name, says };
      }),
    );
  } finally {
    etcd.close();
  }
}

/** As move-leader and etcdctl reach them; `undefined` where no way leads to any of them. */
async function answersByWays(members: Members, asked: Asked): Promise<readonly Answer[] | undefined> {
  const signal = abortAfter(patience.ways, asked.stop);
  const kubectl: Asked['kubectl'] = { ...asked.kubectl, forward: (to) => asked.kubectl.forward(to, signal) };
  const made = await waysOrWhyNot(members.cluster, { ...asked, kubectl });
  if (made instanceof Refusal) return undefined;
  await using ways = made;
  const through = { reach: reachThrough(asked, ways), stop: asked.stop };
  return await answersOf(members, through, patience.byWays);
}

function lagAmong(answers: readonly Answer[]): Lag {
  const heard = answers.flatMap(({ name, says }) => ('raftIndex' in says ? [{ name, says }] : []));
  const newest = heard.map(({ says }) => says.raftIndex).reduce((one, other) => (one > other ? one : other), 0n);
  const behind = new Map(heard.map(({ name, says }) => [name, Number(newest - says.raftAppliedIndex)]));
  const silent = answers.flatMap(({ name, says }) => ('silent' in says ? [`${name} does not answer from here`] : []));
  return { behind, ...(silent.length > 0 && { unknown: silent.join(', ') }) };
}

function silence(error: unknown): { readonly silent: string } {
  if (!(error instanceof EtcdError)) throw error;
  return { silent: error.message };
}

async function accessTo(cluster: EtcdCluster, { kube, stop }: Asked): Promise<EtcdAccess> {
  const { namespace, name: clusterName } = cluster.metadata;
  const { mode = tlsDefaults.mode, provided } = cluster.spec.tls ?? {};
  if (mode === 'Disabled') return { kind: 'plaintext' };
  const name = (mode === 'Provided' && provided?.clientSecretName) || reconcilerSecretName(clusterName);
  try {
    const secret = await kube.get<Secret>(resources.secrets, namespace, name, { signal: stop });
    return credentialsIn(secret, name, cluster, []);
  } catch (error) {
    if (!isReason(error, 'Forbidden')) throw error;
    return { kind: 'none', cause: `you may not read Secret ${name}, with which members are asked` };
  }
}
