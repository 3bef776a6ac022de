import { recoveryJobName } from '../../../manifests/render/names.ts';
import type { RecoveryPodView, RecoveryView } from '../../../reconcile/cluster/know/observation.ts';
import { recordIn } from './objects.ts';
import type { Place, World } from './state.ts';

/** What an invocation sees of a recovery, as `read-recovery.ts` reads it. */
export function recoveryOf({ places }: World): RecoveryView | undefined {
  const chosen = places.find((place) => ['recovering', 'recovered'].includes(recordIn(place)?.state ?? ''));
  const pods = places.filter(({ jobPod }) => jobPod);
  const asked = chosen ?? pods[0];
  if (!asked) return undefined;
  const { job, name } = asked;
  const recovery = chosen && recordIn(chosen)?.recovery;
  const jobName = recoveryJobName(name);
  return {
    kind: 'known',
    ...(job && {
      job: { name: jobName, uid: job.uid, leaving: false, attempt: job.attempt, failed: job.failed === true },
    }),
    pods: pods.flatMap(podOf),
    nodes: recovery?.attempt === 0 ? nodesOf(places) : {},
  };
}

function podOf({ name, jobPod, nodeDead }: Place): readonly RecoveryPodView[] {
  if (!jobPod) return [];
  const { uid, leaving, stage, exit } = jobPod;
  return [
    {
      name: recoveryPodName(name),
      uid,
      leaving,
      ready: stage === 'ready' && !nodeDead,
      ...(nodeDead && stage === 'waiting' && { unscheduled: 'Unschedulable' }),
      ...(exit && { failure: { ...exit, words: 'no' } }),
    },
  ];
}

/** As the Job controller makes it up. */
export function recoveryPodName(name: string): string {
  return `${recoveryJobName(name)}-0`;
}

/** One for each member, with its disk. */
export function nodeOf(name: string): string {
  return `node-of-${name}`;
}

function nodesOf(places: readonly Place[]): Extract<RecoveryView, { kind: 'known' }>['nodes'] {
  return Object.fromEntries(
    places.map(({ name, nodeDead, off }) => [nodeOf(name), !nodeDead ? 'ready' : off ? 'outOfService' : 'silent']),
  );
}
