import { bootstrapVariables, isSealed } from '../../../manifests/build/bootstrap-variables.ts';
import type { VolumeRecord } from '../../../manifests/build/volume-record.ts';
import type { Place, World } from '../model/state.ts';
import { placeOf } from '../model/state.ts';
import { freshUid } from '../model/uids.ts';
import { type Check, changing, type Operation, refused } from './program.ts';

/** Volumes' annotations, and the ConfigMaps that follow them. */

export function recordIn({ volume }: Pick<Place, 'volume'>): VolumeRecord | undefined {
  return volume?.record.kind === 'valid' ? volume.record.record : undefined;
}

export function livePlace(world: World, name: string): Place | { readonly refused: string } {
  const place = placeOf(world, name);
  if (!place?.peer?.current || place.peer.leaving) return refused(`peer ${name} has gone`);
  return place;
}

/** A record that is read, judged and written back. `undefined`: it says so already. */
export function writesRecord(
  name: string,
  what: string,
  change: (record: VolumeRecord, place: Place, world: World) => VolumeRecord | undefined | { readonly refused: string },
  options: { readonly beside?: number; readonly alsoLeaving?: boolean } = {},
): Operation {
  const wanted = (world: World) => {
    const place = placeOf(world, name);
    const record = place && recordIn(place);
    if (!place || !record || (place.volume?.leaving && !options.alsoLeaving)) return refused(`volume ${name} has gone`);
    return change(record, place, world);
  };
  return {
    what,
    name,
    ...(options.beside !== undefined && { beside: options.beside }),
    check: (world): Check => {
      const record = wanted(world);
      if (record === undefined) return 'skip';
      return 'refused' in record ? record : 'go';
    },
    write: {
      fence: 'version',
      object: 'volume',
      say: wanted,
      apply: (world, _, said) =>
        changing(world, name, 'volume', (volume) => ({
          ...volume,
          record: { kind: 'valid', record: said as VolumeRecord },
        })),
    },
  };
}

/** The ConfigMap says what the volume said when it was read, and is sealed with it; it is never unsealed. */
export function followsRecord(name: string, beside: number): Operation {
  const wanted = (world: World) => {
    const place = livePlace(world, name);
    if ('refused' in place) return place;
    const record = recordIn(place);
    if (!record || place.volume?.leaving) return refused(`volume ${name} has gone`);
    const variables = bootstrapVariables(record, name);
    return {
      owner: place.volume?.uid,
      initialCluster: variables.ETCD_INITIAL_CLUSTER,
      initialClusterState: variables.ETCD_INITIAL_CLUSTER_STATE as string,
      immutable: isSealed(record.state),
    };
  };
  return {
    what: `lets ConfigMap ${name} follow its volume`,
    name,
    beside,
    check: (world) => {
      const data = wanted(world);
      if ('refused' in data) return data;
      const found = placeOf(world, name)?.configMap;
      if (found && !found.current) return refused(`there is another ConfigMap ${name}`);
      if (!found?.immutable) return 'go';
      return data.immutable ? 'skip' : refused(`ConfigMap ${name} is sealed`);
    },
    write: {
      fence: 'version',
      object: 'configMap',
      say: wanted,
      apply: (world, referred, said) => {
        const place = placeOf(world, name);
        const { owner, ...data } = said as Exclude<ReturnType<typeof wanted>, { readonly refused: string }>;
        if (!place) return world;
        const uid = place.configMap?.uid ?? freshUid('config', place, referred);
        const configMap = { uid, leaving: false, current: place.volume?.uid === owner, ...data };
        return { ...world, places: world.places.map((one) => (one === place ? { ...one, configMap } : one)) };
      },
    },
  };
}
