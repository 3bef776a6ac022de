import type { DiskLogView } from '../../../know/observation.ts';
import { byLog, keptOf, logOf, readOf } from '../../../know/recovery/disk-logs.ts';
import type { Loss, Survivor, Voter } from '../../../know/recovery/lost.ts';

/** Before one of the members that are left is chosen, a person is told of the disk of each. */

/** Beside what the member tells of itself. */
export function alsoOnDisk(survivor: Survivor, loss: Loss): string {
  const view = logOf(survivor, loss);
  return view ? `, on its disk ${diskInWords(view)}` : '';
}

/** Of members that do not tell what they have. */
export function silentDisks(loss: Loss): string {
  const { silent, survivors } = loss;
  const told = silent.flatMap((one) => {
    const view = logOf(one, loss);
    return view ? [`; ${one.name} does not answer, and has on its disk ${diskInWords(view)}`] : [];
  });
  const most = fullestSilent(loss);
  const better = most && survivors[0] ? `; ${most.name} has more than ${survivors[0].name}` : '';
  return `${told.join('')}${better}`;
}

/** Nothing at all is known of what these have. */
export function unseenIn(loss: Loss): readonly Voter[] {
  return loss.silent.filter((one) => !logOf(one, loss));
}

/** The one whose disk has the most, where that is more than any member tells that answers. */
export function fullestSilent(loss: Loss): Voter | undefined {
  const [fullest] = loss.silent
    .flatMap((voter) => {
      const log = readOf(voter, loss);
      return log ? [{ voter, log }] : [];
    })
    .toSorted((a, b) => byLog(a.log, b.log));
  const [best] = loss.survivors;
  if (!fullest || !best) return fullest?.voter;
  const log = readOf(best, loss);
  return keptOf(fullest.log) > (log ? keptOf(log) : best.index) ? fullest.voter : undefined;
}

/** Entries of its log that are lost when the cluster goes on from it. */
export function droppedOf(survivor: Survivor, loss: Loss): string {
  const log = readOf(survivor, loss);
  if (!log || log.lastIndex <= keptOf(log)) return '';
  return `; and entries ${keptOf(log) + 1n} to ${log.lastIndex} of its own log, which it does not know to be committed, although clients may have been told of them`;
}

function diskInWords(view: DiskLogView): string {
  if (view.kind !== 'read') return `what is not known${view.kind === 'unread' ? ` (${view.why})` : ''}`;
  const { commit, consistentIndex, lastIndex, lastTerm } = view.log;
  const applied = consistentIndex > commit ? `, applied up to ${consistentIndex}` : '';
  return `a log that is committed up to ${commit}${applied}, with the last entry ${lastIndex} of term ${lastTerm}`;
}
