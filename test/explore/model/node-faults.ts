import type { VolumeState } from '../../../manifests/api/etcd-peer.ts';
import { formationOf, settleEtcd } from './etcd.ts';
import type { Fault } from './fault.ts';
import type { NodeFault } from './fault-kind.ts';
import { isTold } from './lineage.ts';
import { recordIn } from './objects.ts';
import type { JobPod } from './recovery-state.ts';
import { lacking, type Place, type World, withPlace } from './state.ts';

/** What may go wrong with nodes, and with what a recovery stands on. */
export const nodeFaults = {
  node: {
    what: 'the node of # dies',
    strike: (world, place) => unheard(world, place, false),
  },
  cut: {
    what: 'the node of # is cut off, and its etcd runs on where nobody hears it',
    strike: (world, place) => (place.process ? unheard(world, place, true) : undefined),
  },
  returns: {
    what: 'the node of # comes back',
    strike: (world, place) => (place.nodeDead ? heardAgain(world, place) : undefined),
  },
  force: {
    what: 'somebody deletes the pod of # by force',
    strike: (world, { name, pod }) =>
      pod
        ? withPlace(world, name, (one) => ({
            ...lacking(one, 'pod'),
            ...(one.process && { orphan: true }),
            ...((one.process ?? one.hidden) && { asserted: isUnderWay(world) ? 'late' : 'early' }),
          }))
        : undefined,
  },
  restore: {
    what: 'a backup brings the volume of # back, with all that it said and held',
    strike: (world, { name, ordinal, backup, volume, disk }) =>
      backup && !volume && !disk
        ? withPlace(world, name, (one) => ({
            ...lacking(one, 'backup'),
            volume: { ...backup.volume, uid: `restored-${ordinal}` },
            disk: backup.disk,
          }))
        : undefined,
  },
  jobPod: {
    what: 'somebody deletes the pod of the Job of #',
    strike: (world, { name, jobPod }) =>
      jobPod && !jobPod.leaving
        ? withPlace(world, name, (one) => ({ ...one, jobPod: { ...jobPod, leaving: true } }))
        : undefined,
  },
  kill: {
    what: 'the Job of # is killed',
    strike: (world, { name, jobPod }) =>
      jobPod && !jobPod.leaving && jobPod.stage !== 'failed' && jobPod.stage !== 'done'
        ? withPlace(world, name, (one) => ({
            ...one,
            jobPod: {
              ...jobPod,
              stage: 'failed',
              exit: { container: jobPod.stage === 'waiting' ? 'set-aside' : 'etcd', code: 137 },
            },
          }))
        : undefined,
  },
  trial: {
    what: 'etcd does not serve a copy of what was restored to #',
    strike: (world, place) =>
      whileTried(world, place, ({ begins }) => ({ container: begins ? 'force' : 'trial', code: 2 })),
  },
  cramped: {
    what: 'there is no room for a copy of what was restored to #',
    strike: (world, place) =>
      whileTried(world, place, ({ begins }) => ({
        ...{ container: 'copy', code: 3 },
        reason: begins ? 'NoRoomForCopy' : 'NoRoomForTrial',
      })),
  },
} as const satisfies Readonly<Record<NodeFault, Fault>>;

function whileTried(
  world: World,
  { name, jobPod }: Place,
  exitOf: (pod: JobPod) => NonNullable<JobPod['exit']>,
): World | undefined {
  if (!(jobPod?.trial || jobPod?.begins !== undefined) || jobPod.leaving || jobPod.stage !== 'marked') return undefined;
  return withPlace(world, name, (one) => ({ ...one, jobPod: { ...jobPod, stage: 'failed', exit: exitOf(jobPod) } }));
}

/** The API server lets go of its pods, which nobody ends. */
function unheard(world: World, { name, pod, jobPod, process, nodeDead }: Place, runsOn: boolean): World | undefined {
  if ((!pod && !jobPod) || nodeDead) return undefined;
  return settleEtcd(
    withPlace(world, name, (one) => ({
      ...lacking(one, 'process'),
      nodeDead: true,
      ...(pod && { pod: { ...pod, leaving: true, ready: false } }),
      ...(jobPod && { jobPod: { ...jobPod, leaving: true } }),
      ...(runsOn && process && { hidden: process }),
    })),
  );
}

/** What ran on there is in touch with the others again; unless they tell it that it is no member any more. */
function heardAgain(world: World, place: Place): World {
  const { hidden, pod } = place;
  const rest = lacking(place, 'nodeDead', 'off', 'hidden');
  const formation = formationOf(world, hidden?.formation);
  const isMember = hidden && formation && place.disk && !isTold(world, formation);
  const isIts = pod !== undefined && !pod.homeless;
  const back = isMember ? { ...rest, process: hidden, ...(!isIts && { orphan: true as const }) } : rest;
  return settleEtcd(withPlace(world, place.name, () => back));
}

/** A recovery or rollback, which has recorded where the members of before were seen. */
function isUnderWay({ places }: World): boolean {
  return places.some((place) => underWay.has(recordIn(place)?.state));
}

const underWay: ReadonlySet<VolumeState | undefined> = new Set(['recovering', 'recovered', 'restoring', 'restored']);
