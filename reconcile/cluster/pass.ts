import type { EtcdCluster } from '../../manifests/api/etcd-cluster.ts';
import type { EtcdFleet } from '../../manifests/api/etcd-fleet.ts';
import type { ConfigMap } from '../../manifests/kube-types.ts';
import type { LeftOut } from '../interfaces/kube.ts';
import { sayLeftOut } from '../objects/left-out.ts';
import type { Reason } from '../reasons/reasons.ts';
import { inTurns } from '../stepping/in-turns.ts';
import type { Listed } from '../stepping/lists.ts';
import { traced } from '../stepping/traced.ts';
import { wait } from './know/decision.ts';
import { failureOf } from './know/outcome.ts';
import { knownFleets } from './observe/read-four-eyes.ts';
import { clustersWithoutRoom } from './observe/room.ts';
import { type ClusterObjects, readObjects } from './observe/snapshot.ts';
import type { ClusterResult } from './result.ts';
import { type StepObjects, step } from './step.ts';
import type { StepContext } from './step-context.ts';

export interface Scope {
  readonly namespace?: string | undefined;
  /** Those that get a step. Freshly listed, before anything else that the steps look at. */
  readonly clusters: readonly EtcdCluster[];
  /** All there are, and the fleets that they belong to: how many may change what works at once. */
  readonly all?: readonly EtcdCluster[];
  readonly fleets?: readonly EtcdFleet[];
  /** Told of every ConfigMap of ours: this list serves others, too. */
  readonly onConfigMaps?: (listed: Listed<ConfigMap>) => void;
}

/** Steps under way at once. Each is mostly waiting; more would only queue at the API server. */
const parallel = 32;

/**
 * One step for each of these clusters: a LIST per kind for all of them, then the steps side by side.
 *
 * @throws {KubeError} when not even the lists could be read; a single cluster's failure is in its result.
 */
export async function stepClusters(context: StepContext, scope: Scope): Promise<ClusterResult[]> {
  const { namespace, clusters, all = clusters, fleets = [], onConfigMaps } = scope;
  const objects = await readObjects(context.kube, all, { namespace, signal: context.signal, onConfigMaps });
  const without = clustersWithoutRoom(objects, fleets);
  const chosen = new Set(clusters.map(({ metadata }) => metadata.uid));
  const leftOut = context.kube.leftOut();
  const known = knownFleets(context.kube, fleets, context.signal);
  const waiting = objects
    .filter(({ cluster }) => chosen.has(cluster.metadata.uid))
    .map((one) => ({ ...withoutRoom(one, without.get(one.cluster.metadata.uid ?? '')), fleets: known }));
  const results = await inTurns(
    waiting.map(spaced),
    { atOnce: parallel, kube: context.kube, isSlow: ({ next }) => wasSilent(next.cluster) },
    async ({ next, metadata }) => {
      const why = leftOut.get(metadata.namespace ?? '');
      const result = why
        ? notSeen(context, next, 'NamespaceLeftOut', tooLarge(next.cluster, why))
        : await stepOne(context, next);
      context.onStep?.(result);
      return result;
    },
  );
  return results.toSorted((a, b) => `${a.namespace}/${a.name}`.localeCompare(`${b.namespace}/${b.name}`));
}

function spaced(next: StepObjects) {
  return { next, metadata: next.cluster.metadata };
}

/** Reasons of a cluster whose members were waited for in vain, which takes the longest. */
const silences: ReadonlySet<string | undefined> = new Set<Reason>([
  'EndpointSilent',
  'ExistingUnreachable',
  'InheritedMemberDown',
  'NoQuorum',
  'QuorumLost',
  'WaitingForQuorum',
]);

function wasSilent({ status }: EtcdCluster): boolean {
  return silences.has(status?.lastDecision?.reason);
}

function withoutRoom(objects: ClusterObjects, crowdedBy: readonly string[] | undefined): StepObjects {
  return { ...objects, ...(crowdedBy && { crowdedBy }) };
}

function stepOne(context: StepContext, objects: StepObjects): Promise<ClusterResult> {
  const { namespace = '', name } = objects.cluster.metadata;
  return traced('step', { cluster: `${namespace}/${name}` }, async (note) => {
    using _ = await context.asking?.(`${namespace}/${name}`);
    const result = await stepOrSayWhyNot(context, objects);
    note({ decision: result.decision.kind, reason: result.decision.reason, outcome: result.outcome });
    return result;
  });
}

async function stepOrSayWhyNot(context: StepContext, objects: StepObjects): Promise<ClusterResult> {
  const { namespace = '', name } = objects.cluster.metadata;
  try {
    const result = await step(context, objects);
    const { kind, reason, message } = result.decision;
    context.log(
      { cluster: `${namespace}/${name}`, decision: kind, reason, outcome: result.outcome, problem: result.problem },
      message,
    );
    return result;
  } catch (error) {
    return notSeen(context, objects, 'StepFailed', failureOf(error).message);
  }
}

function tooLarge({ metadata: { namespace = '' } }: EtcdCluster, why: LeftOut): string {
  return `no step: ${sayLeftOut(namespace, why)}`;
}

/** Nothing is decided of it in this pass, and its status stays as it is. */
function notSeen(
  { log }: StepContext,
  { cluster }: StepObjects,
  reason: 'StepFailed' | 'NamespaceLeftOut',
  message: string,
): ClusterResult {
  const { namespace = '', name } = cluster.metadata;
  const decision = wait(reason, message, { on: 'time', afterSeconds: reason === 'StepFailed' ? 5 : 60 });
  log({ cluster: `${namespace}/${name}`, outcome: 'failed', problem: message }, 'the step could not be taken');
  return {
    namespace,
    name,
    decision,
    reason: decision.reason,
    message,
    outcome: 'failed',
    problem: message,
    workRemains: true,
    cluster,
  };
}
