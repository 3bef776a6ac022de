import type { FleetRevisionEntry } from '../../manifests/api/etcd-fleet-status.ts';
import type { FleetOutcome } from './outcome.ts';
import { notVerified } from './verified.ts';

/** As many as a person looks back; the commits themselves are in Git. */
const longest = 10;

/**
 * The history after a pass, newest first; the same list where nothing is new, so that an idle pass writes nothing. A
 * reset to an older commit is a new entry: it is a change like any other.
 */
export function historyAfter(
  before: readonly FleetRevisionEntry[] | undefined,
  outcome: Pick<FleetOutcome, 'reading' | 'applied' | 'problems'>,
  at: string,
): readonly FleetRevisionEntry[] | undefined {
  const became = outcomeOf(outcome);
  if (!became) return before;
  const [newest, ...older] = before ?? [];
  if (newest?.revision === became.revision) {
    // That it could not be read again for a while takes back nothing of what became of it.
    const isNews = newest.outcome !== became.outcome && outcome.reading.kind !== 'failed';
    return isNews ? [{ ...became, at }, ...older] : before;
  }
  return [{ ...became, at }, ...(before ?? [])].slice(0, longest);
}

function outcomeOf({
  reading,
  applied,
  problems,
}: Pick<FleetOutcome, 'reading' | 'applied' | 'problems'>): Omit<FleetRevisionEntry, 'at'> | undefined {
  switch (reading.kind) {
    case 'skipped':
      return undefined;
    case 'failed':
      // Without a revision there is no commit to blame; with one that may pass, nothing is decided about it yet.
      if (reading.revision === undefined) return undefined;
      if (notVerified.has(reading.reason)) return { revision: reading.revision, outcome: 'Unverified' };
      return { revision: reading.revision, outcome: reading.retryable ? 'Retrying' : 'Unreadable' };
    case 'unchanged':
      return { revision: reading.revision, outcome: 'Applied' };
    case 'tree':
      if (applied) return { revision: reading.revision, outcome: 'Applied' };
      return { revision: reading.revision, outcome: (problems ?? []).length > 0 ? 'Refused' : 'Retrying' };
    default:
      return reading satisfies never;
  }
}
