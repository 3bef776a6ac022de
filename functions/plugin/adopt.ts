import type { ExistingCluster } from '../../manifests/api/existing-cluster.ts';
import type { Pod } from '../../manifests/kube-types.ts';
import { annotations, labelSelector, labels } from '../../manifests/render/names.ts';
import type { Intent } from '../../reconcile/cluster/foresee/plan-clusters.ts';
import { approvalOfAdoption } from '../../reconcile/cluster/know/inherited.ts';
import { KubeError, type KubeObject, resources } from '../../reconcile/kube.ts';
import type { ShownCluster } from '../page/check-report.ts';
import { printable } from '../printable.ts';
import { clusterPlanText } from '../tick/plan-output.ts';
import { type Asked, type ExitCode, Refusal } from './command.ts';
import { dataText } from './objects.ts';
import { codeOf, dataOf, foresee, intentFor, tell } from './plan.ts';
import { table } from './table.ts';

interface AdoptOptions {
  readonly plan: boolean;
  readonly file?: string;
  readonly exitCode: boolean;
}

/** More pods than any etcd cluster has members are not shown. */
const mostPods = 20;

/**
 * What an adoption would be: which pods, what manages them, and every step, also those that an approval is asked for.
 * Nothing is changed, and everything is read with the person's rights.
 */
export async function adopt(name: string, asked: Asked, { plan, file, exitCode }: AdoptOptions): Promise<ExitCode> {
  if (!plan) {
    throw new Refusal(
      'adopt only tells what would be done: add --plan. The adoption begins when the EtcdCluster is applied, and the members leave when you approve it (docs/how-to/adopt.md)',
    );
  }
  const intent = await intentFor(name, asked, file);
  const existing = (intent.kind === 'update' ? intent.desired : intent.cluster).spec.bootstrap?.existing;
  if (!existing) {
    throw new Refusal(
      `${file ?? `EtcdCluster ${asked.namespace}/${name}`} has no spec.bootstrap.existing: it says which etcd cluster is taken over (docs/how-to/adopt.md)`,
    );
  }
  const pods = await podsOf(existing, asked);
  const { made, unread } = await foresee(approving(intent, existing), asked);
  const approvalBefore = made.planned?.steps.findIndex(({ reason }) => reason === 'RemovingInherited') ?? -1;
  const found = { pods, approvalBefore: approvalBefore < 0 ? undefined : approvalBefore + 1 };
  const { clusterID, memberIDs } = existing;
  if (asked.output === 'text') asked.out(textOf(made, existing, found, asked.colours));
  else
    asked.out(
      dataText({ takesOver: { clusterID, memberIDs }, ...found, ...made, unread: dataOf(unread) }, asked.output),
    );
  tell(unread, asked);
  return exitCode ? codeOf(made) : 0;
}

interface Managed {
  readonly name: string;
  /** Its controller, the controller of that, and so on; like `StatefulSet old`. */
  readonly managedBy: readonly string[];
}

/** The plan goes on where the real steps wait for a person: as if that person had approved. */
function approving(intent: Intent, existing: ExistingCluster): Intent {
  const given = { [annotations.adopt]: approvalOfAdoption(existing) };
  const { metadata } = intent.cluster;
  const cluster = { ...intent.cluster, metadata: { ...metadata, annotations: { ...metadata.annotations, ...given } } };
  return { ...intent, cluster };
}

async function podsOf({ podLabels }: ExistingCluster, asked: Asked): Promise<readonly Managed[]> {
  const { kube, namespace, stop } = asked;
  const { items } = await kube.list<Pod>(resources.pods, {
    namespace,
    labelSelector: labelSelector(podLabels),
    limit: mostPods,
    signal: stop,
  });
  const others = items.filter(({ metadata }) => metadata.labels?.[labels.managedBy] !== 'etcd-ratchet');
  const known = new Map<string, Promise<readonly string[]>>();
  return Promise.all(
    others.map(async (pod) => {
      const owner = controllerOf(pod);
      if (!owner) return { name: pod.metadata.name, managedBy: [] };
      const word = `${owner.kind} ${owner.name}`;
      const above =
        known.get(word) ?? (owner.kind === 'StatefulSet' ? managersOf(owner.name, asked) : Promise.resolve([]));
      known.set(word, above);
      return { name: pod.metadata.name, managedBy: [word, ...(await above)] };
    }),
  );
}

/** What manages a StatefulSet: an operator's resource, which would repair what an adoption takes away. */
async function managersOf(name: string, { kube, namespace, stop }: Asked): Promise<readonly string[]> {
  try {
    const owner = controllerOf(await kube.get<KubeObject>(resources.statefulSets, namespace, name, { signal: stop }));
    return owner ? [`${owner.kind} ${owner.name} (${owner.apiVersion})`] : [];
  } catch (error) {
    if (!(error instanceof KubeError) || error.reason !== 'Forbidden') throw error;
    return ['unknown: you may not read StatefulSets'];
  }
}

function controllerOf(object: KubeObject | undefined) {
  return object?.metadata.ownerReferences?.find(({ controller }) => controller);
}

function textOf(
  made: ShownCluster,
  { clusterID, memberIDs }: ExistingCluster,
  { pods, approvalBefore }: { readonly pods: readonly Managed[]; readonly approvalBefore: number | undefined },
  colours: boolean,
): string {
  const { namespace, name } = made;
  const rows = pods.map((pod) => [pod.name, pod.managedBy.join(', of ') || 'nothing']);
  return [
    `takes over etcd cluster ${clusterID}, of members ${memberIDs.join(', ')}:`,
    rows.length === 0
      ? 'no pod of others has the podLabels of spec.bootstrap.existing\n'
      : table(['POD', 'MANAGED BY'], rows, colours),
    `leaves as they are: these pods, what manages them, their PVCs, Services and Secrets. None of them is restarted.`,
    `makes: the objects of EtcdCluster ${namespace}/${name}, whose members join as learners and then vote.`,
    '',
    ...clusterPlanText(made).split('\n').map(printable),
    ...(approvalBefore === undefined
      ? []
      : [
          '',
          `Before step ${approvalBefore} it waits for you: stop what manages the pods (docs/how-to/adopt.md#what-to-stop-first), move the clients to ${name}.${namespace}.svc, then: kubectl ratchet -n ${namespace} approve ${name}`,
        ]),
    '',
  ].join('\n');
}
