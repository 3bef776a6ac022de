import type { Pod } from '../../../manifests/kube-types.ts';
import { labelSelector, labels } from '../../../manifests/render/names.ts';
import type { Sought } from '../../../reconcile/cluster/observe/ask-existing.ts';
import { resources } from '../../../reconcile/interfaces/kube.ts';
import { type Asked, Refusal } from '../command.ts';

type Labels = Readonly<Record<string, string>>;

/** What makes etcd clusters in Kubernetes, as its code says in 2026. docs/how-to/adopt.md has a row for each. */
interface Maker {
  readonly name: string;
  /** The API group of an operator's resource: it repairs what an adoption takes away. Absent: a chart. */
  readonly group?: string;
  /** Labels that pods of one cluster have in common. */
  readonly keys: readonly [string, ...string[]];
  /** One more, which only some of its versions set. */
  readonly lateKey?: string;
  /** Whether a pod with these keys is a member. Absent: no other pod has them. */
  readonly isMember?: (of: Labels, pod: Pod) => boolean;
  /** What a person must know before the members leave, and the plan does not say. */
  readonly warns?: string;
}

const component = 'app.kubernetes.io/component';

export const makers: readonly Maker[] = [
  {
    name: 'etcd-io/etcd-operator',
    group: 'operator.etcd.io',
    keys: ['app', 'controller'],
    isMember: ({ app, controller }) => app === controller,
  },
  {
    name: 'cozystack/etcd-operator',
    group: 'etcd-operator.cozystack.io',
    keys: ['etcd-operator.cozystack.io/cluster'],
  },
  {
    name: 'aenix-io/etcd-operator',
    group: 'etcd.aenix.io',
    keys: [labels.instance, labels.name, labels.managedBy],
    isMember: (of) => of[labels.name] === 'etcd' && of[labels.managedBy] === 'etcd-operator',
  },
  {
    name: 'improbable-eng/etcd-cluster-operator',
    group: 'etcd.improbable.io',
    keys: ['etcd.improbable.io/cluster-name'],
  },
  {
    name: 'gardener/etcd-druid',
    group: 'druid.gardener.cloud',
    keys: ['app.kubernetes.io/part-of', component],
    isMember: (of) => of[labels.managedBy] === 'etcd-druid' && of[component] === 'etcd-statefulset',
  },
  {
    name: 'the chart bitnami/etcd',
    keys: [labels.instance, labels.name],
    lateKey: component,
    // Its CronJobs have the same instance and name.
    isMember: (of, { spec }) =>
      of[labels.name] === 'etcd' &&
      [undefined, 'etcd'].includes(of[component]) &&
      spec.containers.some(({ env = [] }) => env.some(({ value }) => value?.startsWith('/bitnami/etcd'))),
    warns:
      'a pod of the chart bitnami/etcd takes its member off the list when it ends, and joins as another when it starts (removeMemberOnContainerTermination): restart none of them before all have left',
  },
  {
    name: 'the chart kamaji-etcd',
    keys: [labels.instance, labels.name],
    isMember: (of) => of[labels.name] === 'kamaji-etcd',
  },
];

/** The operator whose resource this is, like `operator.etcd.io/v1alpha1`. */
export function operatorOf(apiVersion: string): string | undefined {
  const group = apiVersion.split('/')[0];
  return makers.find((maker) => maker.group === group)?.name;
}

/** What made a pod, by its labels; `undefined`: nothing that is known. */
export function makerOf(pod: Pod): Maker | undefined {
  const of = pod.metadata.labels ?? {};
  return makers.find(({ keys, isMember = () => true }) => keys.every((key) => of[key]) && isMember(of, pod));
}

/** A cluster that was found without being named. */
interface Known {
  readonly by: string;
  readonly pods: number;
  readonly podLabels: Sought['podLabels'];
}

/** Pods of a namespace that are looked at. */
const mostPods = 1000;
const mostTold = 10;

/**
 * The etcd cluster of others in this namespace.
 * @param because what a refusal begins with
 * @throws {Refusal} when there is none of a known maker, or more than one: with the words that name each
 */
export async function findKnown({ kube, namespace, stop }: Asked, because: string): Promise<Known> {
  const { items } = await kube.list<Pod>(resources.pods, { namespace, limit: mostPods, signal: stop });
  const found = new Map<string, Known>();
  for (const pod of items) {
    const isOver = pod.status?.phase === 'Succeeded' || pod.status?.phase === 'Failed';
    const maker = isOver || pod.metadata.labels?.[labels.managedBy] === 'etcd-ratchet' ? undefined : makerOf(pod);
    if (!maker) continue;
    const of = pod.metadata.labels ?? {};
    const keys = [...maker.keys, ...(maker.lateKey === undefined ? [] : [maker.lateKey])];
    const podLabels = Object.fromEntries(keys.flatMap((key) => (of[key] ? [[key, of[key]]] : [])));
    const selector = labelSelector(podLabels);
    found.set(selector, { by: maker.name, pods: (found.get(selector)?.pods ?? 0) + 1, podLabels });
  }
  if (items.length >= mostPods)
    throw new Refusal(
      `${because}namespace ${namespace} has more than ${mostPods} pods: name those of the etcd cluster by --pods`,
    );
  const [only, ...more] = found.values();
  if (!only) {
    throw new Refusal(
      `${because}in namespace ${namespace} no pod has the labels of an etcd cluster that is known (${makers.map(({ name }) => name).join(', ')}). --pods KEY=VALUE finds one by any labels, -n looks elsewhere (docs/how-to/adopt.md)`,
    );
  }
  if (more.length === 0) return only;
  const told = [...found.values()].slice(0, mostTold);
  const choices = told.map((one) => `--pods ${labelSelector(one.podLabels)} (${podsOf(one.pods)} of ${one.by})`);
  const beyond = found.size > mostTold ? ` and ${found.size - mostTold} more` : '';
  throw new Refusal(
    `${because}namespace ${namespace} has several etcd clusters of others; name one: ${choices.join(', or ')}${beyond}`,
  );
}

export function knownText({ by, pods, podLabels }: Known): string {
  return `found ${podsOf(pods)} of ${by}, by the labels ${labelSelector(podLabels)}`;
}

function podsOf(count: number): string {
  return count === 1 ? '1 pod' : `${count} pods`;
}
