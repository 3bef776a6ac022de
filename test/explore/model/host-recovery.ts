import type { RecoveryHost } from '../../../reconcile/cluster/act/requests/host.ts';
import { nodeOf, podOfRestore, recoveryPodName } from './look-recovery.ts';
import { recordIn } from './objects.ts';
import { lacking, placeOf, type World, withPlace } from './state.ts';
import { freshUid, type Referred } from './uids.ts';

function bumpIn({ clients }: World, bump: number | undefined): { readonly bump?: number } {
  return clients && bump !== undefined ? { bump } : {};
}

/** A recovery as the API server has it. */
export function recoveryIn(referred: Referred): RecoveryHost<World> {
  return {
    nodes: ({ places }) =>
      Object.fromEntries(places.flatMap(({ name, pod }) => (pod && !pod.homeless ? [[name, [nodeOf(name)]]] : []))),
    job: (world, name, work) => {
      const job = placeOf(world, name)?.job;
      if (job?.work !== work) return undefined;
      const { begins, ...seen } = job;
      return { ...seen, ...(begins !== undefined && { begins: true as const }) };
    },
    // Owned by a peer: one that has gone takes it along at once.
    makeJob: (world, name, attempt, { work, bump, trial, begins }) =>
      withPlace(world, name, (place) => {
        const token = work === 'restore' ? recordIn(place)?.token : undefined;
        const job = {
          uid: freshUid('job', place, referred),
          work,
          attempt,
          ...(token !== undefined && { token }),
          ...(trial && { trial }),
          ...(begins && { begins: begins.token }),
          ...bumpIn(world, bump ?? begins?.bump),
        };
        return place.peer ? { ...place, job } : place;
      }),
    makeLogJob: (world, name, job) =>
      withPlace(world, name, (place) => (place.peer ? { ...place, logJob: job } : place)),
    removeJob: (world, name) => withPlace(world, name, (place) => lacking(place, 'job')),
    pods: ({ places }) =>
      places.flatMap(({ name, jobPod }) => {
        if (!jobPod) return [];
        const { uid, work, stage } = jobPod;
        return [{ name: recoveryPodName(name, work), uid, ready: stage === 'ready', ...podOfRestore(jobPod) }];
      }),
  };
}
