import { Document, visit } from 'yaml';
import type { EtcdCluster } from '../../manifests/api/etcd-cluster.ts';
import type { EtcdFleet } from '../../manifests/api/etcd-fleet.ts';
import { printable } from '../../manifests/printable.ts';
import { kubectlRatchet } from '../../manifests/render/kubectl.ts';
import { isReason, type KubeObject, type Resource, resources } from '../../reconcile/interfaces/kube.ts';
import { type Asked, Refusal } from './command.ts';
import { forKubectl } from './yaml.ts';

const mostNamed = 20;

/** @throws {Refusal} when there is none of that name, naming those that there are. */
export async function objectNamed<T extends KubeObject>(
  resource: Resource,
  name: string,
  { kube, namespace: own, stop }: Asked,
): Promise<T> {
  const namespace = resource.clusterScoped ? undefined : own;
  const found = await kube.get<T>(resource, namespace, name, { signal: stop });
  if (found) return found;
  const { items } = await kube.list<T>(resource, { namespace, limit: mostNamed, signal: stop });
  if (items.length === 0 && namespace !== undefined) await refuseMissing({ kube, namespace, stop });
  const names = items.map(({ metadata }) => metadata.name).join(', ');
  const place = namespace === undefined ? '' : `${namespace}/`;
  const elsewhere = namespace === undefined ? 'there is none' : 'there is none in this namespace; name another by -n';
  throw new Refusal(
    `there is no ${resource.kind} ${place}${name}; ${names === '' ? elsewhere : `there are: ${names}`}`,
  );
}

/** @throws {Refusal} as above */
export function clusterNamed(name: string, asked: Asked): Promise<EtcdCluster> {
  return objectNamed(resources.clusters, name, asked);
}

/** @throws {Refusal} when there is none of that name. */
export async function fleetNamed(name: string, { kube, namespace, stop }: Asked): Promise<EtcdFleet> {
  const found = await kube.get<EtcdFleet>(resources.fleets, namespace, name, { signal: stop });
  if (found) return found;
  await refuseMissing({ kube, namespace, stop });
  throw new Refusal(`there is no EtcdFleet ${namespace}/${name}; name another namespace by -n`);
}

/**
 * Nothing was found: perhaps only the namespace is wrong. A person without rights on namespaces is not told.
 * @throws {Refusal} when there is no such namespace
 */
export async function refuseMissing({
  kube,
  namespace,
  stop,
}: Pick<Asked, 'kube' | 'namespace' | 'stop'>): Promise<void> {
  try {
    if (await kube.get(resources.namespaces, undefined, namespace, { signal: stop })) return;
  } catch (error) {
    if (isReason(error, 'Forbidden')) return;
    throw error;
  }
  throw new Refusal(`there is no namespace ${namespace}; name another by -n: kubectl get namespaces`);
}

/** A command to type next, which holds wherever the kubeconfig's context leads. */
export function nextCommand({ namespace }: Pick<Asked, 'namespace'>, command: string): string {
  return kubectlRatchet(namespace, command);
}

/** For a program: the same in both. A terminal may show it, so that what would steer one is escaped in its strings. */
export function dataText(data: unknown, output: 'json' | 'yaml'): string {
  const text = output === 'json' ? `${JSON.stringify(data, null, 2)}\n` : String(quoted(data));
  return text.split('\n').map(printable).join('\n');
}

/** Only a string in double quotes has escapes. */
function quoted(data: unknown): Document {
  const document = new Document(data, forKubectl);
  visit(document, {
    Scalar(_, node) {
      const lines = typeof node.value === 'string' ? node.value.split('\n') : [];
      if (lines.some((line) => printable(line) !== line)) node.type = 'QUOTE_DOUBLE';
    },
  });
  return document;
}

/** The result of a command that has one thing to say: a sentence for a person, the same as data for a program. */
export function say({ out, output }: Asked, sentence: string, data: object): void {
  out(output === 'text' ? `${sentence}\n` : dataText(data, output));
}
