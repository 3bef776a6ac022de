import type { FleetInventoryEntry } from '../../manifests/api/etcd-fleet-status.ts';

/**
 * The API server takes an object of 1.5 MiB. The inventory may have this much of it, in bytes of JSON. A test adds the
 * longest of everything else in ASCII: conditions, problems, commit statuses, checks, and 256 KiB of annotations.
 */
const most = { entries: 5_000, bytes: 649_000, source: 1_024 } as const;

/** The length of a UID, and of a generation that is reached in no time that matters. */
const notYetKnown = { uid: '-'.repeat(36), generation: 999_999_999 };

type NewEntry = Omit<FleetInventoryEntry, 'uid' | 'generation'>;

/**
 * Says of one object after the other whether the inventory has room for it: a fleet owns only the objects of its
 * inventory, so the rest is not applied. Entries that are there already stay.
 */
export function inventoryRoom(
  held: readonly FleetInventoryEntry[],
): (entry: NewEntry, before: FleetInventoryEntry | undefined) => string | undefined {
  let entries = held.length;
  let bytes = held.reduce((sum, entry) => sum + sizeOf(entry), 0);
  return (entry, before) => {
    if ([...entry.source].length > most.source) {
      return `not applied: the name of its file is longer than ${most.source} characters`;
    }
    const more = before ? sizeOf({ ...before, ...entry }) - sizeOf(before) : sizeOf({ ...entry, ...notYetKnown });
    if ((!before && entries + 1 > most.entries) || (more > 0 && bytes + more > most.bytes)) {
      return `not applied: a fleet's inventory holds at most ${most.entries} objects and ${most.bytes} bytes (names, namespaces, files), and it is full: split the repository into several fleets, each with its own spec.git.path`;
    }
    if (!before) entries += 1;
    bytes += more;
    return undefined;
  };
}

function sizeOf(entry: FleetInventoryEntry): number {
  return Buffer.byteLength(JSON.stringify(entry)) + 1;
}
