import { isDeepStrictEqual } from 'node:util';
import type { Recovery } from '../../../manifests/build/volume-record.ts';
import type { ActionOf, Ref } from '../../../reconcile/cluster/actions.ts';
import { look } from '../model/look.ts';
import { nodeOf } from '../model/look-recovery.ts';
import { lacking, type Place, placeOf, type World, withPlace } from '../model/state.ts';
import { freshUid } from '../model/uids.ts';
import { notesNextVersion } from './births.ts';
import { lettingPodGo } from './members.ts';
import { type Check, type Operation, type Program, refused } from './program.ts';
import { livePlace, recordIn, writesRecord } from './records.ts';

/** actions/begin-recovery.ts: etcd is asked once more; the chosen volume is marked, then all others. */
export function beginRecovery(action: ActionOf<'begin-recovery'>): Program {
  const { volume, id, memberId, clusterId, volumes } = action;
  const marks = writesRecord(
    volume.name,
    `marks volume ${volume.name} recovering, if a quorum is still lost`,
    (record, place, world) => {
      const why = whyNotLost(world, action);
      if (why !== undefined) return refused(why);
      if (place.volume?.uid !== volume.uid) return refused(`volume ${volume.name} is another one`);
      if (record.memberId !== memberId || record.clusterId !== clusterId)
        return refused(`volume ${volume.name} is another member's`);
      const outvoted = [...(record.outvoted ?? []), ...action.outvoted];
      return {
        ...record,
        state: 'recovering',
        outvoted,
        recovery: { id, attempt: 0, lastSeenOn: whereTheyAre(world) },
      };
    },
  );
  return [marks, ...volumes.map((ref) => outvotes(ref))];
}

function whyNotLost(world: World, { memberId, raftIndex, voters }: ActionOf<'begin-recovery'>): string | undefined {
  const { membership, slots } = look(world, { nonce: '' });
  if (membership.kind === 'known') return 'a quorum answers again';
  const answers = slots.flatMap(({ endpoint }) => (endpoint.kind === 'known' ? [endpoint.status] : []));
  const chosen = answers.find((status) => status.memberId === memberId);
  if (!chosen) return 'it does not answer any more';
  if (chosen.raftIndex !== BigInt(raftIndex)) return 'a quorum has served since';
  const isBest = answers.every((one) => !voters.includes(one.memberId) || one.raftIndex <= chosen.raftIndex);
  return isBest ? undefined : 'it is not the one with the most data any more';
}

function whereTheyAre({ places }: World): Recovery['lastSeenOn'] {
  return Object.fromEntries(places.flatMap(({ name, pod }) => (pod && !pod.homeless ? [[name, [nodeOf(name)]]] : [])));
}

/** actions/outvote-members.ts */
export function outvoteMembers({ volume, volumes }: ActionOf<'outvote-members'>): Program {
  const witness = (world: World) => {
    const place = placeOf(world, volume.name);
    return place?.volume && !place.volume.leaving ? recordIn(place) : undefined;
  };
  const looks: Operation = {
    what: `sees whom ${volume.name} has left behind`,
    name: volume.name,
    check: (world) => (witness(world) ? 'go' : refused(`volume ${volume.name} has gone`)),
  };
  // By the witness as it was read once.
  const mayBe = (world: World, memberId: string | undefined) => {
    const { state, outvoted = [] } = witness(world) ?? {};
    return state === 'recovering' || outvoted.some((one) => one.memberId === memberId);
  };
  return [looks, ...volumes.map((ref) => outvotes(ref, mayBe))];
}

/** What is on its way out is marked as well: it may be restored. What has gone is skipped. */
function outvotes(
  { name, uid }: Ref,
  mayBe: (world: World, memberId: string | undefined) => boolean = () => true,
): Operation {
  const marks = writesRecord(
    name,
    `marks volume ${name} superseded`,
    (record, _, world) => {
      if (!mayBe(world, record.memberId)) return refused(`volume ${name} is another member's`);
      return record.state === 'superseded' ? undefined : { ...record, state: 'superseded' };
    },
    { alsoLeaving: true },
  );
  const isIt = (world: World) => placeOf(world, name)?.volume?.uid === uid;
  return { ...marks, check: (world) => (isIt(world) ? (marks.check?.(world) ?? 'go') : 'skip') };
}

/** actions/stop-members.ts: where they run is noted, then all StatefulSets, and pods that have none, go side by side. */
export function stopMembers({ volume: { name }, statefulSets, pods }: ActionOf<'stop-members'>): Program {
  const notes = writesRecord(name, `notes on volume ${name} where everybody runs`, (record, _, world) => {
    const { recovery, state } = record;
    if ((state !== 'recovering' && state !== 'recovered') || !recovery) return refused(`volume ${name} is ${state}`);
    const lastSeenOn = bothOf(recovery.lastSeenOn, whereTheyAre(world));
    if (isDeepStrictEqual(lastSeenOn, recovery.lastSeenOn)) return undefined;
    return { ...record, recovery: { ...recovery, lastSeenOn } };
  });
  const sets = statefulSets.map((ref) =>
    deletes(ref, 'statefulSet', (world) => withPlace(world, ref.name, (place) => lacking(place, 'statefulSet'))),
  );
  const alone = pods.map((ref) => deletes(ref, 'pod', (world) => lettingPodGo(world, ref.name)));
  const asks: Operation = {
    what: 'sees that no quorum answers, before the first is stopped',
    name,
    check: (world): Check => {
      const place = placeOf(world, name);
      const { state, recovery } = (place && recordIn(place)) ?? {};
      if (state !== 'recovering' || recovery?.attempt !== 0) return 'skip';
      if (!statefulSets.some((ref) => ref.name === name)) return 'skip';
      return look(world, { nonce: '' }).membership.kind === 'known' ? refused('a quorum answers again') : 'go';
    },
  };
  return [asks, notes, ...sets, ...alone];
}

function bothOf(before: Recovery['lastSeenOn'], now: Recovery['lastSeenOn']): Recovery['lastSeenOn'] {
  const names = [...new Set([...Object.keys(before), ...Object.keys(now)])];
  return Object.fromEntries(names.map((name) => [name, [...new Set([...(before[name] ?? []), ...(now[name] ?? [])])]]));
}

function deletes(
  { name, uid }: Ref,
  object: 'statefulSet' | 'pod' | 'job',
  apply: (world: World) => World,
  beside = true,
): Operation {
  return {
    what: `deletes the ${object} of ${name}`,
    name,
    ...(beside && { beside: 1 }),
    check: (world) => {
      const found = placeOf(world, name)?.[object];
      return found?.uid === uid && !('leaving' in found && found.leaving) ? 'go' : 'skip';
    },
    write: { fence: 'uid', object, apply },
  };
}

/** actions/force-new-cluster.ts: nothing of it runs; the attempt is counted on the volume; then the Job is made. */
export function forceNewCluster(action: ActionOf<'force-new-cluster'>): Program {
  const { volume, peer, id, attempt } = action;
  const { name } = volume;
  const looks: Operation = {
    what: `sees that nothing of ${name} runs`,
    name,
    check: (world): Check => {
      const place = livePlace(world, name);
      if ('refused' in place) return place;
      if (place.peer?.uid !== peer.uid || place.volume?.uid !== volume.uid) return refused(`${name} was made anew`);
      return place.statefulSet || place.pod ? refused(`${name} runs`) : 'go';
    },
  };
  const counts = writesRecord(name, `writes attempt ${attempt} on volume ${name}`, (record) => {
    const { recovery, state } = record;
    if (state !== 'recovering' || recovery?.id !== id || recovery.attempt !== attempt - 1)
      return refused(`volume ${name} is ${state}, or somebody else is at it`);
    return { ...record, recovery: { ...recovery, attempt } };
  });
  return [looks, counts, notesNextVersion(name, 0), makesJob(name, `${id}/${attempt}`)];
}

function makesJob(name: string, attempt: string): Operation {
  return {
    what: `makes the Job of ${name}, attempt ${attempt.split('/')[1]}`,
    name,
    check: (world) => {
      const job = placeOf(world, name)?.job;
      if (!job) return 'go';
      return job.attempt === attempt ? 'skip' : refused(`there is another Job of ${name}`);
    },
    write: {
      fence: 'absent',
      object: 'job',
      // Owned by a peer; one that has gone takes it along.
      admits: (world) => placeOf(world, name)?.peer !== undefined,
      apply: (world, referred) =>
        withPlace(world, name, (place) => ({ ...place, job: { uid: freshUid('job', place, referred), attempt } })),
    },
  };
}

/** actions/conclude-recovery.ts: the volume says so first, so that nobody makes another Job; then the Job goes. */
export function concludeRecovery({ volume, job, pod, id, attempt }: ActionOf<'conclude-recovery'>): Program {
  const { name } = volume;
  const marks = writesRecord(name, `marks volume ${name} recovered`, (record, place) => {
    const { job: foundJob, jobPod } = place;
    if (foundJob?.uid !== job.uid || jobPod?.uid !== pod.uid || jobPod.stage !== 'ready')
      return refused(`the Job of ${name} has not come to its end`);
    if (place.volume?.uid !== volume.uid) return refused(`volume ${name} is another one`);
    const { recovery, state } = record;
    if (state !== 'recovering' || recovery?.id !== id || recovery.attempt !== attempt)
      return refused(`volume ${name} is ${state}, or at another attempt`);
    return { ...record, state: 'recovered' };
  });
  return [marks, deletesJob(name, job.uid)];
}

export function deleteRecoveryJob({ job }: ActionOf<'delete-recovery-job'>): Program {
  return [deletesJob(job.name.replace(/-recovery$/, ''), job.uid)];
}

function deletesJob(name: string, uid: string): Operation {
  const without = (place: Place) => lacking(place, 'job');
  return deletes({ name, uid }, 'job', (world) => withPlace(world, name, without), false);
}
