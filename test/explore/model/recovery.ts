import type { Disk } from './disk.ts';
import { formationBy, formationOf, memberIdOf, settleEtcd, withFormation } from './etcd.ts';
import { clusterIdOf } from './lineage.ts';
import { idOf, type JobPod, numberOf } from './recovery-state.ts';
import { completed, type RestoreNature, restoring } from './restore.ts';
import { type Formation, lacking, type Place, type World, withoutVolume, withPlace } from './state.ts';
import { freshUid, type Referred } from './uids.ts';

export interface Nature extends RestoreNature {
  /** The init container refuses an attempt that has run on the disk, or that a later one has. */
  readonly countsAttempts: boolean;
}

export interface Change {
  readonly what: string;
  readonly after: World;
}

/** What becomes of the Job and its pod, one thing at a time; `undefined`: nothing by itself. */
export function recovering(world: World, place: Place, referred: Referred, nature: Nature): Change | undefined {
  const { name, job, jobPod, peer, nodeDead } = place;
  if (job && !peer) return changed(world, name, 'the Job is collected with its peer', (one) => lacking(one, 'job'));
  const isItsOwn = job !== undefined && jobPod?.job === job.uid;
  if (jobPod && !jobPod.leaving && !isItsOwn)
    return changed(world, name, 'the pod of the Job is told to end', (one) => ({
      ...one,
      jobPod: { ...jobPod, leaving: true },
    }));
  // A pod that is being deleted counts as failed, and there is no second attempt.
  const isOver = job?.begun && (!isItsOwn || jobPod?.leaving || jobPod?.stage === 'failed');
  if (job && isItsOwn && !jobPod?.leaving && jobPod?.stage === 'done' && !job.completed)
    return completed(world, place, job);
  if (job && isOver && !job.failed && !job.completed)
    return changed(world, name, 'the Job has failed', (one) => ({ ...one, job: { ...job, failed: true } }));
  if (nodeDead) return undefined;
  if (jobPod?.leaving) return changed(world, name, 'the pod of the Job ends', endedJobPod);
  if (job && !jobPod && !job.begun && place.volume) {
    const uid = freshUid('jobPod', place, referred);
    const { attempt, work, token, bump, trial, begins } = job;
    const of = {
      uid,
      work,
      job: job.uid,
      attempt,
      ...(token !== undefined && { token }),
      ...(bump !== undefined && { bump }),
      ...(trial && { trial }),
      ...(begins !== undefined && { begins }),
    };
    const made: JobPod = { ...of, leaving: false, stage: 'waiting' };
    return changed(world, name, 'the Job gets its pod', (one) => ({
      ...one,
      job: { ...job, begun: true },
      jobPod: made,
      ...(one.volume && { volume: { ...one.volume, bound: true } }),
    }));
  }
  if (jobPod?.work === 'restore') return restoring(world, place, jobPod, nature);
  return jobPod && runs(world, place, jobPod, nature);
}

/** A PVC that was only waiting for it goes with it. */
function endedJobPod(place: Place): Place {
  const rest = lacking(place, 'jobPod');
  return rest.volume?.leaving && !rest.pod ? withoutVolume(rest) : rest;
}

function runs(world: World, place: Place, pod: JobPod, { countsAttempts }: Nature): Change | undefined {
  const { name, disk } = place;
  const becomes = (change: Partial<JobPod>, ran?: readonly string[]) => (one: Place) => ({
    ...one,
    jobPod: { ...pod, ...change },
    ...(ran && disk && { disk: { ...disk, ran } }),
  });
  const fails = (container: 'set-aside' | 'etcd', code: number) =>
    changed(
      world,
      name,
      `${container} of the Job fails with ${code}`,
      becomes({ stage: 'failed', exit: { container, code } }),
    );
  switch (pod.stage) {
    case 'waiting':
      if (!disk) return fails('set-aside', 5);
      if (countsAttempts && hasRun(disk, pod.attempt)) return fails('set-aside', 4);
      return changed(
        world,
        name,
        `the Job keeps a copy, and marks attempt ${numberOf(pod.attempt)}`,
        becomes({ stage: 'marked' }, afterRunning(disk, pod.attempt)),
      );
    case 'marked':
      if (!disk) return fails('etcd', 1);
      if (pod.begins !== undefined)
        return {
          what: 'the Job makes a new life of a copy, and gives it the name of the data',
          after: settleEtcd(withPlace(revived(world, place, pod, pod.begins), name, becomes({ stage: 'done' }))),
        };
      // etcd waits for the lock on its files, which whoever was deleted by force has for some time still.
      if (place.orphan) return undefined;
      return {
        what: 'etcd in the Job forgets all other members',
        after: withPlace(forced(world, place, pod), name, (one) => ({ ...one, jobPod: { ...pod, stage: 'forced' } })),
      };
    case 'forced':
      if (!disk) return fails('etcd', 1);
      return changed(world, name, 'etcd in the Job leads itself', becomes({ stage: 'ready' }));
    case 'ready':
      return disk ? undefined : fails('etcd', 1);
    case 'done':
    case 'failed':
      return undefined;
    default:
      return pod.stage satisfies never;
  }
}

function changed(world: World, name: string, what: string, change: (place: Place) => Place): Change {
  return { what, after: withPlace(world, name, change) };
}

function hasRun({ ran = [] }: Disk, attempt: string): boolean {
  return ran.some((one) => idOf(one) === idOf(attempt) && numberOf(one) >= numberOf(attempt));
}

function afterRunning({ ran = [] }: Disk, attempt: string): readonly string[] {
  return [...ran.filter((one) => idOf(one) !== idOf(attempt)), attempt].toSorted();
}

/** What was on the disk stays beside it; an attempt that comes after begins with that. */
function revived(world: World, { name, disk, peer }: Place, { attempt, bump = 0 }: JobPod, token: string): World {
  const original = disk?.kept && disk.made !== undefined ? disk.kept : disk;
  const before = formationOf(world, original?.formation);
  if (!disk || !original || !before) return world;
  const { revision } = before;
  const begins = revision === undefined ? undefined : revision + bump;
  const after: Formation = {
    ...formationBy(token, [name], peer?.inputs.version ?? ''),
    restored: true,
    revived: { from: before.id, by: idOf(attempt), memberId: original.memberId },
    gaveUp: [...(before.gaveUp ?? []), clusterIdOf(before)],
    ...(before.data && { data: before.data }),
    ...(begins !== undefined && { revision: begins, compacted: begins }),
  };
  const { id } = after;
  const memberId = memberIdOf(id, name);
  const { formation, behind } = original;
  const kept = { formation, memberId: original.memberId, behind };
  const made: Disk = { ...disk, formation: id, memberId, behind: false, made: `${token}/${numberOf(attempt)}`, kept };
  return withPlace(withFormation(world, after), name, (one) => ({ ...one, disk: made }));
}

/** The member on this disk is from now on the only one of a cluster that keeps its ID. */
function forced(world: World, { name, disk }: Place, { attempt }: JobPod): World {
  const before = formationOf(world, disk?.formation);
  const me = before?.members.find(({ id }) => id === disk?.memberId);
  if (!disk || !before || !me) return world;
  const by = idOf(attempt);
  // Of what nobody was let into yet nothing else has come: it is the same once more.
  if (before.forced?.by === by && !before.formed) return world;
  const id = `${before.id}/${by}`;
  const { leader: _, lost: __, led: ___, forced: ____, formed: _____, members: ______, ...rest } = before;
  const after: Formation = {
    ...rest,
    id,
    members: [{ ...me, learner: false }],
    formed: false,
    forced: { clusterId: clusterIdOf(before), from: before.id, by, memberId: me.id },
  };
  const moved = withFormation(world, after);
  return settleEtcd(withPlace(moved, name, (one) => ({ ...one, disk: { ...disk, formation: id, behind: false } })));
}
