import { hashOf } from '../../../../manifests/render/inputs-hash.ts';
import { logJobName } from '../../../../manifests/render/names.ts';
import type { DiskLog } from '../../../jobs/disk-log.ts';
import { recordOf } from '../life.ts';
import type { DiskLogView, Slot } from '../observation.ts';
import type { Ref } from '../ref.ts';
import { isOnOtherDisk } from '../volumes/sealed-disk.ts';
import type { Loss, Voter } from './lost.ts';

/**
 * Logs on the disks of members that do not tell them: those that were started anew tell what they have applied, and
 * others nothing. One that is the only member to tell anything is the only choice, and its disk is not read.
 */
export interface LogToRead {
  readonly name: string;
  readonly peer: Ref;
  /** In which its disk is read: another time of being unwell, another pod, PVC or loss is another one. */
  readonly situation: string;
  readonly job: string;
}

export function logsToRead(loss: Loss): readonly LogToRead[] {
  const anew = loss.survivors.filter(({ others }) => others);
  const gone = loss.lost.map(({ memberId, name }) => memberId ?? name);
  const untold = loss.silent.filter(({ slot }) => slot?.endpoint.kind === 'unknown' && !slot.endpoint.metrics);
  return [...(anew.length > 1 ? anew : []), ...untold].flatMap(({ slot, since }) => {
    if (!slot?.peer || !slot.volume || !isReadable(slot)) return [];
    const { name, pod, peer, volume } = slot;
    const situation = hashOf({ volume: volume.uid, pod: pod?.uid, since, gone });
    return [{ name, peer: { name, uid: peer.uid }, situation, job: logJobName(name, situation) }];
  });
}

/** A sealed member's, as far as it is known. A Job goes with its peer, and starts on no PVC that is being deleted. */
function isReadable(slot: Slot): boolean {
  const { volume, peer } = slot;
  const record = recordOf(slot);
  if (!peer?.current || peer.leaving || !volume?.bound || volume.lost || volume.leaving) return false;
  return record?.state === 'sealed' && record.memberId !== undefined && !isOnOtherDisk(slot);
}

/** As it was read in this very situation. */
export function logOf({ slot }: Voter, loss: Loss): DiskLogView | undefined {
  const wanted = logsToRead(loss).find(({ name }) => name === slot?.name);
  return slot?.log && slot.log.job === wanted?.job ? slot.log : undefined;
}

/** As {@link logOf}, where it was read. */
export function readOf(voter: Voter, loss: Loss): DiskLog | undefined {
  const view = logOf(voter, loss);
  return view?.kind === 'read' ? view.log : undefined;
}

/**
 * With the survivor first of whose log the most is kept, where the disk of each was read: what a member says it has
 * applied may be below that, where entries change no revision. Else, and where one tells more by now, in the order of
 * what they tell.
 */
export function byDisks(loss: Loss): Loss {
  const read = loss.survivors.map((survivor) => ({ survivor, log: readOf(survivor, loss) }));
  const known = read.flatMap(({ survivor, log }) => (log && keptOf(log) >= survivor.index ? [{ survivor, log }] : []));
  if (known.length < read.length) return loss;
  return { ...loss, survivors: known.toSorted((a, b) => byLog(a.log, b.log)).map(({ survivor }) => survivor) };
}

/** Negative: of the first more is kept. What follows is dropped, and tells only which disk is the newer one. */
export function byLog(a: DiskLog, b: DiskLog): number {
  return Number(keptOf(b) - keptOf(a)) || Number(b.lastTerm - a.lastTerm) || Number(b.lastIndex - a.lastIndex);
}

/** With --force-new-cluster etcd keeps the log up to here, and drops what follows. */
export function keptOf({ commit, consistentIndex }: DiskLog): bigint {
  return commit > consistentIndex ? commit : consistentIndex;
}
