import { revisionOfSnapshots } from './clients.ts';
import type { Disk } from './disk.ts';
import { formationBy, formationOf, memberIdOf, settleEtcd, withFormation } from './etcd.ts';
import { recordIn } from './objects.ts';
import { idOf, type Job, type JobPod, numberOf } from './recovery-state.ts';
import type { Formation, Place, World } from './state.ts';
import { withPlace } from './state.ts';

/**
 * A restore's pod, which runs no etcd: what it makes lies under names of its own until the last of its containers gives
 * it the name of the data directory.
 */

export interface RestoreNature {
  /** Data that are there, and that it did not make, are left alone. */
  readonly keepsData: boolean;
}

interface Change {
  readonly what: string;
  readonly after: World;
}

export function restoring(world: World, place: Place, pod: JobPod, nature: RestoreNature): Change | undefined {
  const { name } = place;
  const becomes = (change: Partial<JobPod>) => (one: Place) => ({ ...one, jobPod: { ...pod, ...change } });
  const fails = (reason: string, code: number): Change => ({
    what: `${reason}: the Job's pod fails with ${code}`,
    after: withPlace(world, name, becomes({ stage: 'failed', exit: { container: 'place', code, reason } })),
  });
  switch (pod.stage) {
    case 'waiting':
      if (nature.keepsData && whatIsThere(place, pod) === 'others') return fails('DataPresent', 3);
      return { what: 'the Job fetches and restores', after: withPlace(world, name, becomes({ stage: 'marked' })) };
    case 'marked': {
      const there = nature.keepsData ? whatIsThere(place, pod) : 'none';
      if (there === 'others') return fails('DataPresent', 3);
      const { token } = pod;
      const placed = there === 'made' || token === undefined ? world : withData(world, place, pod, token);
      return {
        what: `${pod.trial ? 'etcd serves a copy, and ' : ''}the Job gives the data their name`,
        after: settleEtcd(withPlace(placed, name, (one) => becomes({ stage: 'done' })(one))),
      };
    }
    case 'forced':
    case 'ready':
    case 'done':
    case 'failed':
      return undefined;
    default:
      return pod.stage satisfies never;
  }
}

/** Its pod has ended well. */
export function completed(world: World, { name }: Place, job: Job): Change {
  return {
    what: 'the Job is complete',
    after: withPlace(world, name, (one) => ({ ...one, job: { ...job, completed: true } })),
  };
}

/** As the mark beside the data says it, which counts as long as no etcd has opened them. */
function whatIsThere({ disk }: Place, { attempt, token: mine }: JobPod): 'none' | 'made' | 'earlier' | 'others' {
  if (!disk) return 'none';
  const [token, number] = disk.made?.split('/') ?? [];
  if (token === undefined || token !== mine) return 'others';
  const difference = Number(number) - numberOf(attempt);
  if (difference === 0) return 'made';
  return difference < 0 ? 'earlier' : 'others';
}

/** Alone in a cluster whose IDs are made of its token and its URL: a second restore with both would be the same one. */
function withData(world: World, place: Place, { attempt, bump = 0, trial }: JobPod, token: string): World {
  const { name, peer } = place;
  const gaveUp = recordIn(place)?.gaveUp;
  const revision = revisionOfSnapshots + bump;
  const fresh: Formation = {
    ...formationBy(token, [name], peer?.inputs.version ?? ''),
    restored: true,
    wish: idOf(attempt),
    ...(gaveUp && { gaveUp }),
    ...(world.clients && { revision, compacted: revision }),
  };
  const { id } = fresh;
  const found = formationOf(world, id);
  const disk: Disk = {
    formation: id,
    memberId: memberIdOf(id, name),
    behind: found?.formed ?? false,
    made: `${token}/${numberOf(attempt)}`,
    ...(trial && { tried: true }),
  };
  const bound = (one: Place): Place => ({ ...one, disk });
  return withPlace(found ? world : withFormation(world, fresh), name, bound);
}
