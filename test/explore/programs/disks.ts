import type { VolumeRecord } from '../../../manifests/build/volume-record.ts';
import type { ActionOf } from '../../../reconcile/cluster/actions.ts';
import { noteOf } from '../../../reconcile/cluster/simulate/effects/disks.ts';
import { lacking, placeOf, type World, withPlace } from '../model/state.ts';
import { lettingPodGo } from './members.ts';
import { type Operation, type Program, refused } from './program.ts';
import { followsRecord, writesRecord } from './records.ts';

/** actions/note-disks.ts */
export function noteDisks({ volumes }: ActionOf<'note-disks'>): Program {
  return volumes.map(({ name, uid }) => notes(name, uid, 1));
}

/** actions/accept-disks.ts: one after the other. */
export function acceptDisks({ volumes }: ActionOf<'accept-disks'>): Program {
  return volumes.flatMap(({ name, uid }, index) => [
    notes(name, uid, 2 * index + 1),
    followsRecord(name, 2 * index + 2),
  ]);
}

function notes(name: string, uid: string, beside: number): Operation {
  return writesRecord(
    name,
    `notes on volume ${name} which disk is behind it`,
    ({ disk: _, ...record }, { volume }): VolumeRecord | { readonly refused: string } =>
      volume?.uid === uid ? { ...record, ...noteOf(volume) } : refused(`volume ${name} is another one`),
    { beside },
  );
}

/** actions/bar-members.ts: the ConfigMap first. */
export function barMembers({ members }: ActionOf<'bar-members'>): Program {
  return members.flatMap(({ name, configMap, pod }): Operation[] => [
    {
      what: `deletes ConfigMap ${name}`,
      name,
      check: (world) => (configMap !== undefined && hasConfigMap(world, name, configMap) ? 'go' : 'skip'),
      write: {
        fence: 'uid',
        object: 'configMap',
        apply: (world) => withPlace(world, name, (place) => lacking(place, 'configMap')),
      },
    },
    {
      what: `deletes the pod of ${name}`,
      name,
      check: (world) => (pod !== undefined && placeOf(world, name)?.pod?.uid === pod ? 'go' : 'skip'),
      write: { fence: 'uid', object: 'pod', apply: (world) => lettingPodGo(world, name) },
    },
  ]);
}

function hasConfigMap(world: World, name: string, uid: string): boolean {
  return placeOf(world, name)?.configMap?.uid === uid;
}
