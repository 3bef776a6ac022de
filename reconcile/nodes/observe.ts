import type { EtcdCluster } from '../../manifests/api/etcd-cluster.ts';
import type { EtcdNodePolicy, NodeGrant } from '../../manifests/api/etcd-node-policy.ts';
import type { Job, Node, Pod } from '../../manifests/kube-types.ts';
import { labels } from '../../manifests/render/names.ts';
import { rebootJobName } from '../../manifests/render/reboot-job.ts';
import type { EtcdWay } from '../cluster/etcd-way.ts';
import { situate } from '../cluster/know/situation.ts';
import { observe } from '../cluster/observe/observe.ts';
import { stateOfNode } from '../cluster/observe/read-nodes.ts';
import { readObjects } from '../cluster/observe/snapshot.ts';
import type { StepContext } from '../cluster/step-context.ts';
import { resources } from '../interfaces/kube.ts';
import { inParallel } from '../stepping/in-parallel.ts';
import { clusterSeen } from './cluster-seen.ts';
import { roomOf } from './decision.ts';
import { holderOf } from './hold.ts';
import { inTurn, marksOf, needOf } from './marks.ts';
import type { ClusterSeen, JobSeen, NodeSeen, NodesObservation } from './observation.ts';
import { type AskAlerts, observeOutside } from './observe-outside.ts';
import { jobSeen, podsSeen } from './pods.ts';

export interface NodesContext extends StepContext {
  readonly askAlerts?: AskAlerts;
  /** Where the Jobs are made that reboot nodes. */
  readonly rebootsIn: string;
}

export interface NodesObserved {
  readonly seen: NodesObservation;
  /** As they were listed, by name: what is written rests on their resourceVersions. */
  readonly nodes: ReadonlyMap<string, Node>;
  /** As they were observed, by their keys: a lease rests on their resourceVersions. */
  readonly clusters: ReadonlyMap<string, EtcdCluster>;
  /** How the members of a cluster are reached, by its key. */
  readonly ways: ReadonlyMap<string, EtcdWay>;
}

/** Nodes that wait, and are looked at more closely. The first in turn. */
const mostCandidates = 50;
const parallel = 8;

/** kured's own words, where it runs with --annotate-nodes. */
const kuredInProgress = 'weave.works/kured-reboot-in-progress';

/**
 * Reads everything for one step of a policy. The policies were listed before: the lock on their versions proves that
 * nothing here is older than the last step. Pods are read of nodes that are under way or may begin; clusters with a
 * member there, each as its own step sees it. @throws {KubeError}
 */
export async function observeNodes(
  context: NodesContext,
  policy: EtcdNodePolicy,
  { nodes, policies }: { readonly nodes: readonly Node[]; readonly policies: readonly EtcdNodePolicy[] },
): Promise<NodesObserved> {
  const { kube, signal, nonce } = context;
  const grants = policy.status?.grants ?? [];
  const selected = nodes.filter((node) => selects(policy, node));
  const own = nodes.filter(({ metadata }) => grants.some(({ node }) => node === metadata.name));
  const about = [...new Set([...own, ...selected])];
  const needing = selected.filter((node) => !own.includes(node) && needOf(node) !== undefined);
  const waiting = inTurn(needing, (node) => ({
    name: node.metadata.name,
    ...groupOf(policy, node),
    marks: marksOf(node),
  }));
  // A plan goes beyond what may begin now.
  const mayBegin = context.dryRun || (!policy.spec.suspend && grants.length < roomOf(policy.spec, selected.length));
  // While a node is down there is nothing to see of its pods and clusters: a look then costs three requests.
  const close = [...own.filter((node) => !isDown(node)), ...(mayBegin ? waiting.slice(0, mostCandidates) : [])];
  const looking = new Set(close.map(({ metadata }) => metadata.name));
  const clusters = close.length === 0 ? [] : (await kube.list<EtcdCluster>(resources.clusters, { signal })).items;
  const pods = new Map(
    await inParallel(close, parallel, async (node) => {
      const fieldSelector = `spec.nodeName=${node.metadata.name}`;
      // A pod that is not seen would not be drained: the node would count as empty.
      const { items } = await kube.list<Pod>(resources.pods, { fieldSelector, whole: true, signal });
      return [node.metadata.name, items] as const;
    }),
  );
  const jobs = new Map(
    await inParallel(grants, parallel, async (grant) => [grant.node, await jobOf(context, grant)] as const),
  );
  const seenGrants = grants.filter(({ node }) => looking.has(node));
  const wanted = wantedClusters(clusters, seenGrants, [...pods.values()].flat());
  const looked = await lookAt(context, clusters, wanted);
  // A plan asks no one: its policy may be a stranger's change request.
  const mayAsk = !context.dryRun && mayBegin && waiting.length > 0;
  const outside = mayAsk ? await observeOutside(policy.spec, context) : {};
  const at = kube.now() ?? new Date();
  const others = policies.filter(({ metadata }) => metadata.uid !== policy.metadata.uid);
  const ofOthers = others.flatMap(({ status }) => status?.grants ?? []);
  const around = { policy, clusters, leftOut: kube.leftOut(), holder: context.holder, rebootsIn: context.rebootsIn };
  const seen = about.map((node): NodeSeen => {
    const found = pods.get(node.metadata.name);
    const job = jobs.get(node.metadata.name);
    return {
      ...seenPlainly(policy, { policies }, node),
      ...(found && { pods: podsSeen(found, around) }),
      ...(job && { job }),
    };
  });
  return {
    seen: {
      at,
      policy,
      nonce: nonce(),
      nodes: seen,
      ofOthers,
      clusters: looked.map(({ cluster }) => cluster),
      ...(context.unasked && { unasked: context.unasked }),
      ...outside,
    },
    nodes: new Map(nodes.map((node) => [node.metadata.name, node])),
    clusters: new Map(looked.map(({ cluster, object }) => [cluster.key, object])),
    ways: new Map(looked.map(({ cluster, way }) => [cluster.key, way])),
  };
}

/** What the Node itself and the policies say. */
export function seenPlainly(
  policy: EtcdNodePolicy,
  { policies }: { readonly policies: readonly EtcdNodePolicy[] },
  node: Node,
): NodeSeen {
  const ofOther = otherPolicy(policy, policies, node);
  return {
    ...plainly(node),
    ...groupOf(policy, node),
    selected: selects(policy, node),
    ...(ofOther !== undefined && { ofOther }),
  };
}

/** What the Node itself says. */
export function plainly(node: Node): Omit<NodeSeen, 'selected'> {
  const { name, uid = '', annotations = {} } = node.metadata;
  const needed = needOf(node);
  return {
    name,
    uid,
    ready: stateOfNode(node) === 'ready',
    unschedulable: node.spec?.unschedulable === true,
    bootId: bootOf(node),
    marks: marksOf(node),
    ...(needed !== undefined && { needed }),
    kured: annotations[kuredInProgress] !== undefined,
  };
}

function groupOf({ spec }: EtcdNodePolicy, { metadata }: Node): Pick<NodeSeen, 'group'> {
  const group = spec.groupLabel === undefined ? undefined : metadata.labels?.[spec.groupLabel];
  return group === undefined ? {} : { group };
}

function bootOf({ status }: Node): string {
  return status?.nodeInfo?.bootID ?? '';
}

/** It was told to go down, and its next boot has not come. */
function isDown(node: Node): boolean {
  const { granted, inProgress } = marksOf(node);
  return granted !== undefined && inProgress !== undefined && inProgress.word === bootOf(node);
}

function selects({ spec }: EtcdNodePolicy, { metadata }: Node): boolean {
  return Object.entries(spec.nodeSelector).every(([key, value]) => metadata.labels?.[key] === value);
}

/** Of policies that are about the same node, the first by name has it; one that has begun keeps it. */
function otherPolicy(policy: EtcdNodePolicy, policies: readonly EtcdNodePolicy[], node: Node): string | undefined {
  const others = policies.filter(({ metadata }) => metadata.name !== policy.metadata.name);
  const begun = others.find(({ status }) => status?.grants?.some((grant) => grant.node === node.metadata.name));
  const first = others.find((one) => one.metadata.name < policy.metadata.name && selects(one, node));
  return (begun ?? first)?.metadata.name;
}

async function jobOf({ kube, rebootsIn, signal }: NodesContext, { id }: NodeGrant): Promise<JobSeen | undefined> {
  const job = await kube.get<Job>(resources.jobs, rebootsIn, rebootJobName(id), { signal });
  return job && job.metadata.deletionTimestamp === undefined ? jobSeen(job) : undefined;
}

function wantedClusters(
  clusters: readonly EtcdCluster[],
  grants: readonly NodeGrant[],
  pods: readonly Pod[],
): ReadonlySet<string> {
  const named = pods.map(({ metadata }) => `${metadata.namespace}/${metadata.labels?.[labels.cluster]}`);
  const keys = new Set([...grants.flatMap((grant) => grant.clusters), ...named]);
  return new Set(clusters.map(keyOf).filter((key) => keys.has(key)));
}

interface Looked {
  readonly cluster: ClusterSeen;
  readonly object: EtcdCluster;
  readonly way: EtcdWay;
}

async function lookAt(
  context: NodesContext,
  clusters: readonly EtcdCluster[],
  wanted: ReadonlySet<string>,
): Promise<readonly Looked[]> {
  const { kube, signal } = context;
  // Not as the clusters' steps of this very pass: what they hold is held.
  const apart = { ...context, holder: holderOf(context.holder), mayTry: !context.dryRun };
  const chosen = clusters.filter((cluster) => wanted.has(keyOf(cluster)) && !context.unasked?.has(keyOf(cluster)));
  const objects = await readObjects(kube, chosen, { signal });
  return inParallel(objects, parallel, async (one) => {
    const { observation, etcd } = await observe(apart, one, signal);
    return { cluster: clusterSeen(situate(observation)), object: observation.cluster, way: etcd };
  });
}

function keyOf({ metadata }: EtcdCluster): string {
  return `${metadata.namespace}/${metadata.name}`;
}
