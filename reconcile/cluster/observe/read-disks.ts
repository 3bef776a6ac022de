import type { PersistentVolume } from '../../../manifests/kube-types.ts';
import { wantsReconcile } from '../../../manifests/render/reconcile-request.ts';
import { type Kube, KubeError, resources } from '../../interfaces/kube.ts';
import { looksInOne } from '../at-rest.ts';
import { itsTurn } from '../know/certificates/occasion.ts';
import { downFor, graceOf, hasOutlasted } from '../know/health/grace.ts';
import type { DiskView, NodeView, Observation, Slot } from '../know/observation.ts';
import { isBeforeItsStart } from '../know/pods/blocked.ts';
import { isBoundToNodes, isHomeOf } from '../know/volumes/node-affinity.ts';
import {
  isComparedByTurns,
  isOnOtherDisk,
  isToBeCompared,
  isUnnoted,
  lacksHandle,
} from '../know/volumes/sealed-disk.ts';
import { readNodes } from './read-nodes.ts';

/** What nodes and disks there are, as far as there was an occasion to ask. */
export interface Places {
  readonly nodes?: Readonly<Record<string, NodeView>>;
  /** By the name of the member's slot. */
  readonly disks: ReadonlyMap<string, DiskView>;
}

type When = Pick<Observation, 'at' | 'cluster'>;

/** For which slots the disk is read. Told from what is seen anyway: a cluster that is well costs no request. */
const occasions: readonly ((slot: Slot, when: When) => boolean)[] = [
  isLost,
  isLongHomeless,
  isOnOtherDisk,
  isToBeCompared,
  isUnnoted,
  isLongUnmounted,
];

/** One PersistentVolume and, where anything depends on them, the nodes. */
interface Read {
  readonly slot: Slot;
  readonly found: ReadDisk;
}

/** What one GET tells of a PersistentVolume. */
export interface ReadDisk extends Omit<DiskView, 'homes'> {
  readonly object?: PersistentVolume;
}

/**
 * Of so many looks at a cluster that is well, each of its PersistentVolumes is read at one; sooner while a handle is
 * not noted.
 */
const looksPerTurn = { noted: 60, unnoted: 10 };

/** Asked where some pod is not where it should be (see `occasions`), and else by turns. */
export async function readPlaces(
  kube: Kube,
  slots: readonly Slot[],
  when: When,
  signal: AbortSignal,
): Promise<Places | undefined> {
  const due = slots.filter((slot) => occasions.some((isOne) => isOne(slot, when)));
  const isHeldUp = slots.some((slot) => hasOutlasted(slot, when) || isLongUnmounted(slot, when));
  const [read, byTurns] = await Promise.all([
    Promise.all(due.flatMap((slot) => readOf(kube, slot, signal))),
    readByTurns(
      kube,
      slots.filter((slot) => !due.includes(slot) && isComparedByTurns(slot)),
      when,
      signal,
    ),
  ]);
  if (due.length + byTurns.length === 0 && !isHeldUp) return undefined;
  const depends = isHeldUp || read.some(({ found }) => found.object !== undefined && isBoundToNodes(found.object));
  const nodes = depends ? await readNodes(kube, signal) : undefined;
  const disks = new Map([...read, ...byTurns].map(({ slot, found }) => [slot.name, diskView(found, nodes)]));
  return { ...(nodes && { nodes }), disks };
}

/** Where one can be read whose handle is not noted, so can the others of the cluster: all are noted at once. */
async function readByTurns(
  kube: Kube,
  slots: readonly Slot[],
  { cluster, at }: When,
  signal: AbortSignal,
): Promise<readonly Read[]> {
  const looks = Math.ceil(looksPerTurn[slots.some(lacksHandle) ? 'unnoted' : 'noted'] / looksInOne(cluster, at));
  const idle = Math.max(0, looks - slots.length);
  const turn = itsTurn([...slots, ...Array.from({ length: idle }, () => undefined)], at);
  const chosen = wantsReconcile(cluster) ? slots : turn ? [turn] : [];
  const read = await Promise.all(chosen.flatMap((slot) => readOf(kube, slot, signal)));
  if (!read.some(({ slot, found }) => lacksHandle(slot) && found.state === 'present')) return read;
  const others = slots.filter((slot) => lacksHandle(slot) && !chosen.includes(slot));
  return [...read, ...(await Promise.all(others.flatMap((slot) => readOf(kube, slot, signal))))];
}

/** The slots with what was read of their disks. */
export function withDisks(slots: readonly Slot[], disks: Places['disks'] | undefined): readonly Slot[] {
  if (!disks || disks.size === 0) return slots;
  return slots.map((slot) => {
    const disk = disks.get(slot.name);
    // Read again meanwhile, it may have another disk.
    return disk && slot.volume?.disk?.pv === disk.pv ? { ...slot, volume: { ...slot.volume, disk } } : slot;
  });
}

/** By name; what may not be read, or is not answered, is unknown. */
export async function readDisk(kube: Kube, pv: string, signal: AbortSignal): Promise<ReadDisk> {
  try {
    const object = await kube.get<PersistentVolume>(resources.persistentVolumes, undefined, pv, { signal });
    if (!object) return { pv, state: 'gone' };
    const handle = object.spec?.csi?.volumeHandle;
    const made = object.metadata.creationTimestamp;
    return {
      pv,
      ...(handle !== undefined && { handle }),
      ...(made !== undefined && { createdAt: new Date(made) }),
      state: 'present',
      object,
    };
  } catch (error) {
    if (error instanceof KubeError) return { pv, state: 'unknown' };
    throw error;
  }
}

function readOf(kube: Kube, slot: Slot, signal: AbortSignal): Promise<Read>[] {
  const pv = slot.volume?.disk?.pv;
  return pv === undefined ? [] : [readDisk(kube, pv, signal).then((found) => ({ slot, found }))];
}

function diskView({ object, ...disk }: ReadDisk, nodes: Places['nodes']): DiskView {
  return { ...disk, homes: homesOf(object, nodes) };
}

function homesOf(pv: PersistentVolume | undefined, nodes: Places['nodes']): DiskView['homes'] {
  if (!pv) return 'unknown';
  if (!isBoundToNodes(pv)) return 'some';
  if (!nodes) return 'unknown';
  const found = Object.entries(nodes).some(([name, { labels }]) => isHomeOf(pv, { name, labels }));
  return found ? 'some' : 'none';
}

function isLost({ volume }: Slot): boolean {
  return volume?.lost === true;
}

/** It has found no node for longer than any pod of a birth takes. */
function isLongHomeless({ pod, volume }: Slot, { at, cluster }: When): boolean {
  if (pod?.unscheduled === undefined || !volume?.bound) return false;
  return at.getTime() - pod.createdAt.getTime() >= graceOf({ cluster }).pod;
}

/** kubelet has not come so far as to start anything: its node, or its disk, may be why. */
function isLongUnmounted(slot: Slot, when: When): boolean {
  return isBeforeItsStart(slot) && downFor(slot, when) >= graceOf(when).pod;
}
