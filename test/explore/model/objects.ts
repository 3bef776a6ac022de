import { memberSecretName } from '../../../manifests/render/certificate-names.ts';
import type { VolumeRecord } from '../../../manifests/render/volume-record.ts';
import type { ObjectKind } from '../../../reconcile/cluster/act/requests/read-at.ts';
import { type Place, placeOf, type World } from './state.ts';

/** The object itself: the same one as long as nothing was written to it. */
export function objectOf(world: World, kind: ObjectKind | undefined, name: string | undefined): object | undefined {
  switch (kind) {
    case undefined:
      return undefined;
    case 'headlessService':
    case 'clientService':
    case 'disruptionBudget':
    case 'networkPolicy':
    case 'externalService':
    case 'revocations':
      return world.shared[kind].state === 'missing' ? undefined : world.shared[kind];
    case 'secret':
      return secretOf(world, name);
    case 'certificate':
    case 'certificateRequest':
      throw new Error(`the model has no ${kind}s`);
    default:
      return name === undefined ? undefined : placeOf(world, name)?.[kind];
  }
}

function secretOf({ ours, places }: World, name: string | undefined): object | undefined {
  const member = places.find((place) => name === memberSecretName(place.name, 'peer'));
  return member ? member.leaf : ours;
}

export function recordIn({ volume }: Pick<Place, 'volume'>): VolumeRecord | undefined {
  return volume?.record.kind === 'valid' ? volume.record.record : undefined;
}
