import type { EtcdCluster } from '../../manifests/api/etcd-cluster.ts';
import type { EtcdFleet } from '../../manifests/api/etcd-fleet.ts';
import type { ConfigMap } from '../../manifests/kube-types.ts';
import type { Reason } from '../reasons/reasons.ts';
import { inTurns } from '../stepping/in-turns.ts';
import type { Listed } from '../stepping/lists.ts';
import { keyOf } from '../stepping/result.ts';
import { mayBeSkipped } from './at-rest.ts';
import type { Full } from './full-look.ts';
import { readMoving } from './observe/snapshot.ts';
import { type ClusterResult, told } from './result.ts';
import { skippedLook } from './skipped-look.ts';
import type { StepContext } from './step-context.ts';

export interface Scope {
  /** Where it looks. Absent: in all. */
  readonly namespaces?: readonly string[] | undefined;
  /** Those that get a step. Freshly listed, before anything else that the steps look at. */
  readonly clusters: readonly EtcdCluster[];
  /** All there are there, and the fleets that they belong to: how many may change what works at once. */
  readonly all?: readonly EtcdCluster[];
  readonly fleets?: readonly EtcdFleet[];
  /** There are more, to which others see: what belongs to those is not listed. */
  readonly listed?: readonly EtcdCluster[];
  /** No look is skipped: these clusters were named. */
  readonly inFull?: boolean;
  /** Told of every ConfigMap of ours: this list serves others, too. */
  readonly onConfigMaps?: (listed: Listed<ConfigMap>) => void;
}

/** Steps under way at once. Each is mostly waiting; more would only queue at the API server. */
const parallel = 32;

/**
 * One step for each of these clusters: a LIST per kind for all of them, then the steps side by side. Of clusters at
 * rest a look may be skipped; where all looks are, most lists are not read.
 *
 * @throws {KubeError} when not even the lists could be read; a single cluster's failure is in its result.
 */
export async function stepClusters(context: StepContext, scope: Scope): Promise<ClusterResult[]> {
  if (scope.clusters.length === 0) return [];
  const looks = await prepareLooks(context, scope);
  const results = await inTurns(
    scope.clusters.map(spaced),
    { atOnce: parallel, kube: context.kube, isSlow: ({ cluster }) => wasSilent(cluster) },
    async ({ cluster }) => {
      const look = await looks.skipped(cluster);
      const result = typeof look === 'object' ? look : await looks.full(cluster, look);
      context.onStep?.(result);
      return result;
    },
  );
  return results.toSorted((a, b) => `${a.namespace}/${a.name}`.localeCompare(`${b.namespace}/${b.name}`));
}

interface Looks {
  /** Anything else than a result: a full look is due. */
  skipped(cluster: EtcdCluster): ReturnType<typeof skippedLook>;
  /** What it looks at is read once for all, when the first one needs it. @throws {KubeError} */
  full(cluster: EtcdCluster, skipped: 'unheard' | undefined): Promise<ClusterResult>;
}

/** @throws {KubeError} */
async function prepareLooks(context: StepContext, scope: Scope): Promise<Looks> {
  const { kube, health, dryRun, signal } = context;
  const { namespaces, clusters, all = clusters, listed, inFull = false } = scope;
  const now = kube.now() ?? new Date();
  const quiet = new Set(dryRun || inFull || !health ? [] : clusters.filter((cluster) => mayBeSkipped(cluster, now)));
  let reading: Promise<Full> | undefined;
  const read = () => {
    reading ??= loaded().then(({ readFull }) => readFull(context, { ...scope, all }));
    return reading;
  };
  // Where one is to be read in full, the others are found among the same lists.
  const isQuiet = quiet.size === clusters.length;
  const moving = isQuiet
    ? await readMoving(kube, clusters, { namespaces, onlyOf: listed !== undefined, signal })
    : [...(await read()).values()];
  const byUid = new Map(moving.map((one) => [one.cluster.metadata.uid, one]));
  return {
    full: async (cluster, skipped) => (await loaded()).fullStep(context, cluster, await read(), skipped),
    skipped: async (cluster) => {
      const one = byUid.get(cluster.metadata.uid);
      const look = health && one && quiet.has(cluster) ? await skippedLook(one, { ...context, health }) : undefined;
      if (typeof look === 'object') context.log({ ...told(look), look: 'skipped' }, look.message);
      if (look === 'unheard')
        context.log({ cluster: keyOf(cluster.metadata) }, 'a member does not say that it is well');
      return look;
    },
  };
}

/** Most of what a cold invocation loads, and a look that is skipped does without. */
function loaded() {
  return import('./full-look.ts');
}

function spaced(cluster: EtcdCluster) {
  return { cluster, metadata: cluster.metadata };
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
