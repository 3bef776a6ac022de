import { createHash } from 'node:crypto';
import type { EtcdCluster } from '../../manifests/api/etcd-cluster.ts';
import type { EtcdFleet } from '../../manifests/api/etcd-fleet.ts';
import { fleetDefaults } from '../../manifests/api/spec-defaults.ts';
import { annotations } from '../../manifests/render/names.ts';
import { keyOf } from './names.ts';
import type { DesiredTree } from './reading.ts';
import { shaOf } from './reading.ts';

/** Why an object that Git no longer lists stays. In the order in which they are asked. */
export type KeptBecause =
  | 'PruneOff'
  | 'TreeIncomplete'
  | 'DocumentsBroken'
  | 'TreeEmpty'
  | 'SourceMoved'
  | 'SourceUnknown'
  | 'FileStillThere'
  | 'ListedElsewhere'
  | 'NeedsConfirmation';

export interface Unlisted {
  readonly cluster: EtcdCluster;
  readonly because: KeptBecause;
}

export interface PrunePlan {
  readonly prune: readonly EtcdCluster[];
  readonly keep: readonly Unlisted[];
  /** The value of the confirm-prune annotation that would let go what is kept for want of it. */
  readonly confirmation?: string;
}

interface Context {
  readonly fleet: EtcdFleet;
  readonly revision: string;
  readonly tree: DesiredTree;
  readonly fleets: readonly EtcdFleet[];
}

/**
 * What Git no longer lists: delete or keep (I8).
 *
 * A mistake here costs data, so every condition must hold, and what can't be known keeps the object. `unlisted` are the
 * live clusters that this fleet owns and that no document of the tree names.
 */
export function planPrune(unlisted: readonly EtcdCluster[], context: Context): PrunePlan {
  const judged = unlisted.map((cluster) => ({ cluster, because: keptBecause(cluster, context) }));
  const keep = judged.flatMap(({ cluster, because }) => (because ? [{ cluster, because }] : []));
  const free = judged.flatMap(({ cluster, because }) => (because ? [] : [cluster]));

  // One file that goes is an everyday commit; several at once may be a moved folder or a bad merge.
  if (free.length < 2) return { prune: free, keep };
  const confirmation = confirmationFor(context.revision, free);
  if (context.fleet.metadata.annotations?.[annotations.confirmPrune] === confirmation) return { prune: free, keep };
  return {
    prune: [],
    keep: [...keep, ...free.map((cluster) => ({ cluster, because: 'NeedsConfirmation' as const }))],
    confirmation,
  };
}

function keptBecause(cluster: EtcdCluster, { fleet, tree, fleets }: Context): KeptBecause | undefined {
  const entry = fleet.status?.inventory?.find(({ uid }) => uid === cluster.metadata.uid);
  // Most likely its own document: then it is not unlisted at all, and "switch pruning on" would be bad advice.
  if (tree.problems.some(({ file }) => file === entry?.source)) return 'DocumentsBroken';
  if (!fleet.spec.prune) return 'PruneOff';
  if (!tree.complete) return 'TreeIncomplete';
  // Which cluster a broken document meant is not always known: a mistyped name would read as a deletion.
  if (tree.problems.length > 0) return 'DocumentsBroken';
  if (tree.specs.length === 0) return 'TreeEmpty';
  if (sourceMoved(fleet)) return 'SourceMoved';

  if (!entry || entry.source === '') return 'SourceUnknown';
  if (tree.files.has(entry.source)) return 'FileStillThere';
  if (fleets.some((other) => other.metadata.uid !== fleet.metadata.uid && lists(other, cluster))) {
    return 'ListedElsewhere';
  }
  return undefined;
}

/** Whether the repository, the ref or the path is another than the inventory came from (or that is not known). */
export function sourceMoved({ spec, status }: EtcdFleet): boolean {
  const source = status?.source;
  if (!source) return true;
  return (
    source.url !== spec.git.url || source.ref !== spec.git.ref || source.path !== (spec.git.path ?? fleetDefaults.path)
  );
}

function lists(fleet: EtcdFleet, cluster: EtcdCluster): boolean {
  return fleet.status?.inventory?.some(({ namespace, name }) => `${namespace}/${name}` === keyOf(cluster)) ?? false;
}

/** Bound to the commit and to the very set of objects: a confirmation never covers what a person did not see. */
export function confirmationFor(revision: string, clusters: readonly EtcdCluster[]): string {
  const set = clusters.map((cluster) => `${keyOf(cluster)} ${cluster.metadata.uid}`).sort();
  const hash = createHash('sha256').update(set.join('\n')).digest('hex').slice(0, 12);
  return `${shaOf(revision)}/${hash}`;
}
