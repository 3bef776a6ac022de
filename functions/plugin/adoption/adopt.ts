import type { EtcdCluster } from '../../../manifests/api/etcd-cluster.ts';
import type { ExistingCluster } from '../../../manifests/api/existing-cluster.ts';
import type { Pod } from '../../../manifests/kube-types.ts';
import { printable } from '../../../manifests/printable.ts';
import { annotations, labelSelector, labels } from '../../../manifests/render/names.ts';
import type { Intent } from '../../../reconcile/cluster/foresee/plan-clusters.ts';
import { approvalOfAdoption } from '../../../reconcile/cluster/know/adoption/inherited.ts';
import type { Asking, Sought } from '../../../reconcile/cluster/observe/ask-existing.ts';
import { resources } from '../../../reconcile/interfaces/kube.ts';
import { type Asked, type ExitCode, Refusal } from '../command.ts';
import { dataText } from '../objects.ts';
import { codeOf, dataOf, foresee, intentFor, tell } from '../plan.ts';
import { type Answers, askPods } from './ask-pods.ts';
import { differences, existingFound, type FoundPod, foundPods } from './found.ts';
import { findKnown, knownText } from './makers.ts';
import { managersOf } from './managers.ts';
import { existingText, planText, podsText, warningsOf } from './text.ts';

interface AdoptOptions {
  readonly plan: boolean;
  readonly file?: string;
  /** Labels of the pods that are looked at, for a document that does not name a cluster yet. */
  readonly pods?: Readonly<Record<string, string>>;
  readonly exitCode: boolean;
}

/** More pods than any etcd cluster has members are not shown. */
const mostPods = 20;

/**
 * Shows an adoption, with the person's rights: the pods, what manages them, every step and approval. Changes nothing.
 */
export async function adopt(name: string, asked: Asked, options: AdoptOptions): Promise<ExitCode> {
  const { plan, file, pods } = options;
  if (!plan) {
    throw new Refusal(
      'adopt only tells what would be done: add --plan. The adoption begins when the EtcdCluster is applied, and the members leave when you approve it (docs/how-to/adopt.md)',
    );
  }
  if (pods && file === undefined) return look(name, asked, pods);
  const { kube, namespace, stop } = asked;
  const live =
    file === undefined && (await kube.get<EtcdCluster>(resources.clusters, namespace, name, { signal: stop }));
  if (live === undefined && !options.exitCode) {
    if (asked.output === 'text') asked.out(`there is no EtcdCluster ${namespace}/${name} yet\n`);
    return look(name, asked, await known(asked));
  }
  const given: Intent = live ? { kind: 'keep', cluster: live } : await intentFor(name, asked, file);
  const place = file ?? `EtcdCluster ${namespace}/${name}`;
  const named = wanted(given).spec.bootstrap?.existing;
  if (named && pods) throw new Refusal(`${place} has spec.bootstrap.existing: leave --pods out, it has podLabels`);
  if (named) return foretell(given, named, await lookAt(wanted(given), named, asked), asked, options);
  const lacks = `${place} has no spec.bootstrap.existing`;
  if (!pods && (wanted(given).spec.bootstrap || given.cluster.status?.clusterID)) {
    throw new Refusal(
      `${lacks}: it says which etcd cluster is taken over. --pods KEY=VALUE finds it (docs/how-to/adopt.md)`,
    );
  }
  const sought = { podLabels: pods ?? (await known(asked, `${lacks}, and `)) };
  const looked = await lookAt(wanted(given), sought, asked);
  const existing = existingFound(looked.found, looked.answers, sought);
  if (asked.output === 'text') asked.out(`add to the spec of ${place}:\n${existingText(existing)}\n`);
  return foretell(taking(given, existing), existing, looked, asked, options);
}

/** Of the etcd cluster of others that is there, where nothing says which one. */
async function known(asked: Asked, because = ''): Promise<Sought['podLabels']> {
  const found = await findKnown(asked, because);
  if (asked.output === 'text') asked.out(`${printable(knownText(found))}\n`);
  return found.podLabels;
}

/** Before there is any document: what is there, and what a document has to say of it. Without TLS. */
async function look(name: string, asked: Asked, podLabels: Sought['podLabels']): Promise<ExitCode> {
  const asking = { metadata: { name, namespace: asked.namespace }, spec: { tls: { mode: 'Disabled' as const } } };
  const { answers, found } = await lookAt(asking, { podLabels }, asked);
  const existing = existingFound(found, answers, { podLabels });
  if (asked.output !== 'text') asked.out(dataText({ existing, pods: found }, asked.output));
  else {
    const warnings = warningsOf(found).map((line) => `! ${printable(line)}\n`);
    asked.out(`${podsText(found, asked.colours)}${warnings.join('')}\nfor the spec:\n${existingText(existing)}`);
  }
  return 0;
}

async function foretell(
  intent: Intent,
  existing: ExistingCluster,
  { answers, found }: Looked,
  asked: Asked,
  { exitCode }: AdoptOptions,
): Promise<ExitCode> {
  const differs = differences(existing, found, answers);
  const { made, unread } = await foresee(approving(intent, existing), asked, { approved: true });
  const next = made.planned?.steps.findIndex(({ reason }) => reason === 'RemovingInherited') ?? -1;
  const approvalBefore = next < 0 ? undefined : next + 1;
  const { clusterID, memberIDs } = existing;
  if (asked.output === 'text') asked.out(planText(made, existing, { found, differs, approvalBefore }, asked.colours));
  else {
    const data = { takesOver: { clusterID, memberIDs }, pods: found, differs, approvalBefore, ...made };
    asked.out(dataText({ ...data, unread: dataOf(unread) }, asked.output));
  }
  tell(unread, asked);
  return exitCode ? codeOf(made) : 0;
}

interface Looked {
  readonly answers: Answers;
  readonly found: readonly FoundPod[];
}

async function lookAt(cluster: Asking, sought: Sought, asked: Asked): Promise<Looked> {
  const answers = await askPods(cluster, sought, asked);
  const { kube, namespace, stop } = asked;
  const selector = { namespace, labelSelector: labelSelector(sought.podLabels), limit: mostPods, signal: stop };
  const { items } = await kube.list<Pod>(resources.pods, selector);
  const others = items.filter(({ metadata }) => metadata.labels?.[labels.managedBy] !== 'etcd-ratchet');
  const managers = await managersOf(others, asked);
  const pods = others.flatMap(({ metadata }, index) => {
    const of = managers[index];
    return of ? [{ name: metadata.name, managers: of }] : [];
  });
  return { answers, found: foundPods(pods, answers) };
}

function wanted(intent: Intent): EtcdCluster {
  return intent.kind === 'update' ? { ...intent.cluster, spec: intent.desired.spec } : intent.cluster;
}

/** The document as it would be with what was found. */
function taking(intent: Intent, existing: ExistingCluster): Intent {
  const spec = { ...wanted(intent).spec, bootstrap: { existing } };
  if (intent.kind === 'create') return { kind: 'create', cluster: { ...intent.cluster, spec } };
  return { kind: 'update', cluster: intent.cluster, desired: { ...intent.cluster, spec } };
}

/** The plan goes on where the real steps wait for a person: as if that person had approved. */
function approving(intent: Intent, existing: ExistingCluster): Intent {
  const given = { [annotations.adopt]: approvalOfAdoption(existing) };
  const { metadata } = intent.cluster;
  const cluster = { ...intent.cluster, metadata: { ...metadata, annotations: { ...metadata.annotations, ...given } } };
  return { ...intent, cluster };
}
