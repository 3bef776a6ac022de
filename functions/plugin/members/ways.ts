import type { EtcdCluster } from '../../../manifests/api/etcd-cluster.ts';
import { tlsDefaults } from '../../../manifests/api/spec-defaults.ts';
import type { Pod, Secret } from '../../../manifests/kube-types.ts';
import { applicationSecretName } from '../../../manifests/render/certificate-names.ts';
import { labels, podHost, ports, schemeOf, selectorOf } from '../../../manifests/render/names.ts';
import { resources } from '../../../reconcile/interfaces/kube.ts';
import { type Asked, Refusal } from '../command.ts';

/** A member's client port, as a port of this machine. */
export interface Way {
  readonly member: string;
  readonly url: string;
  readonly pod: string;
  /** Of the pod. */
  readonly address?: string | undefined;
}

export interface Ways extends AsyncDisposable {
  readonly ways: readonly Way[];
  /** Members that there is no way to, each with its cause. */
  readonly lost: readonly string[];
}

/** PEM, out of the client Secret that this person may read. */
export interface ClientKeys {
  readonly ca: string;
  readonly cert: string;
  readonly key: string;
}

const mostPods = 32;

/** Ways to the members on loopback: their certificates bear 127.0.0.1. @throws {Refusal} where none is reached */
export async function waysTo(cluster: EtcdCluster, asked: Asked): Promise<Ways> {
  const { kube, kubectl, namespace, stop } = asked;
  const { name } = cluster.metadata;
  const labelSelector = selectorOf(name);
  const { items } = await kube.list<Pod>(resources.pods, { namespace, labelSelector, limit: mostPods, signal: stop });
  await using parts = new AsyncDisposableStack();
  const mode = cluster.spec.tls?.mode ?? tlsDefaults.mode;
  const scheme = schemeOf(mode);
  const lost: string[] = [];
  const settled = await Promise.allSettled(
    items.map(async (pod): Promise<readonly Way[]> => {
      const member = pod.metadata.labels?.[labels.peer];
      if (member === undefined || pod.status?.phase !== 'Running') return [];
      try {
        // Without certificates nothing tells whether the address leads to this pod, or to another network's.
        const address = mode === 'Disabled' ? undefined : pod.status.podIP;
        const to = { namespace, pod: pod.metadata.name, address, port: ports.client };
        const { port } = parts.use(await kubectl.forward(to, stop));
        const url = `${scheme}://127.0.0.1:${port}`;
        return [{ member, url, pod: pod.metadata.name, address: pod.status.podIP }];
      } catch (error) {
        if (!(error instanceof Refusal)) throw error;
        lost.push(error.message);
        return [];
      }
    }),
  );
  // After all of them: a way that is made late is given back, too.
  const failed = settled.find(({ status }) => status === 'rejected');
  if (failed?.status === 'rejected') throw failed.reason;
  const found = settled.flatMap((one) => (one.status === 'fulfilled' ? one.value : []));
  const ways = found.toSorted((a, b) => (a.member < b.member ? -1 : 1));
  if (ways.length === 0)
    throw new Refusal(`no member of ${namespace}/${name} is reached: ${lost.join('; ') || 'no pod of it runs'}`);
  const made = parts.move();
  return { ways, lost, [Symbol.asyncDispose]: () => made.disposeAsync() };
}

/** The same, for what can go on without them: where none is reached, why. */
export async function waysOrWhyNot(cluster: EtcdCluster, asked: Asked): Promise<Ways | Refusal> {
  try {
    return await waysTo(cluster, asked);
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    return error;
  }
}

/** `undefined`: it speaks no TLS. @throws {Refusal} for a Secret that is not there, or lacks something */
export async function clientKeysOf(cluster: EtcdCluster, asked: Asked): Promise<ClientKeys | undefined> {
  const { kube, namespace, stop } = asked;
  const { mode = tlsDefaults.mode, provided } = cluster.spec.tls ?? {};
  if (mode === 'Disabled') return undefined;
  const own = applicationSecretName(cluster.metadata.name);
  const name = mode === 'Provided' ? (provided?.clientSecretName ?? own) : own;
  const secret = await kube.get<Secret>(resources.secrets, namespace, name, { signal: stop });
  const { 'tls.crt': cert, 'tls.key': key, 'ca.crt': ca } = secret?.data ?? {};
  if (!cert || !key || !ca)
    throw new Refusal(`Secret ${namespace}/${name} with tls.crt, tls.key and ca.crt is not there yet`);
  const text = (base64: string) => Buffer.from(base64, 'base64').toString('utf8');
  return { ca: text(ca), cert: text(cert), key: text(key) };
}

/** A member is known by the name in its certificate, whatever port leads to it. */
export function serverNames({ metadata }: EtcdCluster, { ways }: Ways): (endpoint: string) => string {
  const hosts = new Map(
    ways.map(({ member, url }) => [new URL(url).port, podHost(metadata.namespace ?? '', metadata.name, member)]),
  );
  return (endpoint) => hosts.get(new URL(endpoint).port) ?? new URL(endpoint).hostname;
}
