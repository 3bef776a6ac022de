import { createHash } from 'node:crypto';
import type { EtcdFleet } from '../../manifests/api/etcd-fleet.ts';
import type { FleetInventoryEntry } from '../../manifests/api/etcd-fleet-status.ts';
import { fleetDefaults } from '../../manifests/api/spec-defaults.ts';
import { annotations } from '../../manifests/render/names.ts';
import type { LeftOut } from '../interfaces/kube.ts';
import { isSame, type RefusedApproval } from '../objects/approvals.ts';
import { refusedApprovals } from './four-eyes.ts';
import { type FleetObject, identityOf, identityOfObject, kindOfEntry } from './objects.ts';
import type { DesiredTree } from './reading.ts';
import { shaOf } from './reading.ts';
import type { ShownPlans } from './shown.ts';

/** Why an object that Git no longer lists stays. In the order in which they are asked. */
export type KeptBecause =
  | 'PruneOff'
  | 'TreeIncomplete'
  | 'DocumentsBroken'
  | 'TreeEmpty'
  | 'SourceMoved'
  | 'SourceUnknown'
  | 'FileStillThere'
  | 'NamespaceLeftOut'
  | 'LabelChanged'
  | 'ListedElsewhere'
  | 'PruneDisabled'
  | 'NeedsConfirmation';

export interface Unlisted {
  readonly object: FleetObject;
  readonly because: KeptBecause;
}

export interface PrunePlan {
  readonly prune: readonly FleetObject[];
  readonly keep: readonly Unlisted[];
  /** The value of the confirm-prune annotation that would let go what is kept for want of it. */
  readonly confirmation?: string;
  /** It is there, and does not count. */
  readonly refused?: RefusedApproval;
}

interface Context {
  readonly fleet: EtcdFleet;
  readonly revision: string;
  readonly tree: DesiredTree;
  readonly fleets: readonly EtcdFleet[];
  readonly leftOut?: ReadonlyMap<string, LeftOut>;
  readonly shown?: ShownPlans;
}

/**
 * Objects that Git no longer lists: delete or keep (I8). A mistake costs data, so every condition must hold, and any
 * doubt keeps the object. `unlisted` are live objects that this fleet owns and no document of the tree names.
 */
export function planPrune(unlisted: readonly FleetObject[], context: Context): PrunePlan {
  const known = knownOf(context);
  const judged = unlisted.map((object) => ({ object, because: keptBecause(object, known) }));
  const keep = judged.flatMap(({ object, because }) => (because ? [{ object, because }] : []));
  const free = judged.flatMap(({ object, because }) => (because ? [] : [object]));

  const asked = toConfirm(free, known);
  if (asked.length === 0) return { prune: free, keep };
  const confirmation = confirmationFor(context.revision, asked);
  const { fleet, revision } = context;
  const annotation = annotations.confirmPrune;
  const approval = { annotation, value: confirmation };
  const refused = refusedApprovals(fleet, fleet, { revision }).find((one) => isSame(one, approval));
  if (fleet.metadata.annotations?.[annotation] === confirmation && !refused) return { prune: free, keep };
  return {
    ...(refused && { refused }),
    prune: free.filter((object) => !asked.includes(object)),
    keep: [...keep, ...asked.map((object) => ({ object, because: 'NeedsConfirmation' as const }))],
    confirmation,
  };
}

/**
 * One file that goes is an everyday commit; several at once may be a moved folder or a bad merge. A schedule or a
 * backup takes no data with it, so a cluster may go together with its own. Data that a plan showed to stay do not go.
 */
function toConfirm(free: readonly FleetObject[], known: Pick<Known, 'shown' | 'inventory'>): readonly FleetObject[] {
  if (free.filter(({ kind }) => kind === 'EtcdCluster').length > 1) return free;
  return free.filter((object) => {
    if (object.metadata.annotations?.[annotations.prune] === 'confirm') return true;
    return dataGoWith(object) && wasShownToStay(object, known);
  });
}

/** Of a request's plan, also after the request is closed: what was held once is held until a person confirms it. */
export function wasShownToStay(object: FleetObject, { shown, inventory }: Pick<Known, 'shown' | 'inventory'>): boolean {
  const isHeld = inventory.get(object.metadata.uid ?? '')?.shownToStay === true;
  return isHeld || shown?.deletions.get(identityOfObject(object))?.dataGo === false;
}

/** Its deletion takes the volumes as well. */
export function dataGoWith(object: FleetObject): boolean {
  return object.kind === 'EtcdCluster' && object.spec.volumeRetention?.whenDeleted === 'Delete';
}

interface Known extends Context {
  readonly inventory: ReadonlyMap<string, FleetInventoryEntry>;
  readonly brokenFiles: ReadonlySet<string>;
  /** Identities that other fleets list: asked for where nothing else keeps an object. */
  readonly elsewhere: () => ReadonlySet<string>;
}

/** Once for all objects: there may be ten thousand. */
function knownOf(context: Context): Known {
  const { fleet, tree, fleets } = context;
  let listed: ReadonlySet<string> | undefined;
  return {
    ...context,
    inventory: new Map((fleet.status?.inventory ?? []).map((entry) => [entry.uid, entry])),
    brokenFiles: new Set(tree.problems.map(({ file }) => file)),
    elsewhere: () => {
      listed ??= new Set(fleets.flatMap((other) => (other.metadata.uid === fleet.metadata.uid ? [] : listedBy(other))));
      return listed;
    },
  };
}

function keptBecause(
  object: FleetObject,
  { fleet, tree, inventory, brokenFiles, elsewhere, leftOut }: Known,
): KeptBecause | undefined {
  const entry = inventory.get(object.metadata.uid ?? '');
  // Most likely its own document: then it is not unlisted at all, and "switch pruning on" would be bad advice.
  if (entry && brokenFiles.has(entry.source)) return 'DocumentsBroken';
  if (!fleet.spec.prune) return 'PruneOff';
  if (!tree.complete) return 'TreeIncomplete';
  // Which cluster a broken document meant is not always known: a mistyped name would read as a deletion.
  if (tree.problems.length > 0) return 'DocumentsBroken';
  if (tree.specs.length === 0) return 'TreeEmpty';
  if (sourceMoved(fleet)) return 'SourceMoved';

  if (!entry || entry.source === '') return 'SourceUnknown';
  if (tree.files.has(entry.source)) return 'FileStillThere';
  // A fleet of that namespace may list it.
  if (leftOut && leftOut.size > 0) return 'NamespaceLeftOut';
  if (elsewhere().has(identityOfObject(object))) return 'ListedElsewhere';
  // Its last document said so, or a person did. A word that is neither protects as well.
  const word = object.metadata.annotations?.[annotations.prune];
  if (word !== undefined && word !== 'confirm') return 'PruneDisabled';
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

function listedBy({ status }: EtcdFleet): readonly string[] {
  return (status?.inventory ?? []).map((entry) => identityOf(kindOfEntry(entry), entry));
}

/** Bound to the commit and to the very set of objects: a confirmation never covers what a person did not see. */
export function confirmationFor(revision: string, objects: readonly FleetObject[]): string {
  const set = objects.map((object) => `${identityOfObject(object)} ${object.metadata.uid}`).sort();
  const hash = createHash('sha256').update(set.join('\n')).digest('hex').slice(0, 12);
  return `${shaOf(revision)}/${hash}`;
}
