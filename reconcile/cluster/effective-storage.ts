import type { EtcdClusterSpec } from '../../manifests/api/etcd-cluster.ts';
import type { Storage } from '../../manifests/api/member-settings.ts';
import { canonicalJson } from '../../manifests/build/canonical-json.ts';
import type { Refusal } from './effective.ts';
import { hasDeparted, type Life } from './life.ts';
import type { Slot } from './observation.ts';

/**
 * What of `spec.storage` no volume can change after birth: its storage class, and what its claim was made with.
 *
 * `kept`: what a member that is lost is replaced with, because it has served here. `refusals`: the volumes that are otherwise.
 */
export function judgeVolumes(
  { storage, replicas }: EtcdClusterSpec,
  { slots, life, namespace }: { readonly slots: readonly Slot[]; readonly life: Life; readonly namespace: string },
): { readonly kept: Storage; readonly refusals: readonly Refusal[] } {
  const bound = slots.filter(
    (slot) => slot.peer?.current && slot.volume?.bound && !slot.volume.leaving && !hasDeparted(slot),
  );
  const others = life.stage === 'born' ? bound.filter((slot) => !isAsAsked(slot, storage)) : [];
  const [first] = others;
  if (!first?.peer || !first.volume) return { kept: storage, refusals: [] };
  const { volume, peer } = first;
  const isProven = bound.length > others.length;
  const { storageClassName: _, volumeClaimTemplate: __, ...rest } = storage;
  const { volumeClaimTemplate } = peer.inputs.storage;
  const kept = {
    ...rest,
    ...(volume.storageClassName !== undefined && { storageClassName: volume.storageClassName }),
    ...(volumeClaimTemplate && { volumeClaimTemplate }),
  };
  const names = others.map(({ name }) => name).join(', ');
  const move = `kubectl -n ${namespace} delete pvc ${first.name} --wait=false`;
  const cure = (field: string, value: string) =>
    `set ${field} back to ${value}${
      replicas > 0
        ? `; or move the members one by one: ${move}. It votes on until a member on a new volume votes in its place; then the next one`
        : ''
    }`;
  const classes = others.filter((slot) => !isOfClass(slot, storage));
  const templates = others.filter((slot) => !isOfTemplate(slot, storage));
  return {
    kept: isProven ? storage : kept,
    refusals: [
      ...(classes.length > 0
        ? [
            {
              reason: 'StorageClassRefused',
              message: `${names}: volumes of storage class ${volume.storageClassName ?? 'none'}, and a volume keeps its class; members that are added get ${storage.storageClassName}`,
              cure: cure('spec.storage.storageClassName', volume.storageClassName ?? 'none'),
              field: 'spec.storage.storageClassName',
            },
          ]
        : []),
      ...(templates.length > 0
        ? [
            {
              reason: 'ClaimTemplateRefused',
              message: `${names}: volumes that were claimed otherwise than spec.storage.volumeClaimTemplate.spec says now, and a claim stays as it was made; members that are added get what it says`,
              cure: cure('spec.storage.volumeClaimTemplate.spec', 'what it was'),
              field: 'spec.storage.volumeClaimTemplate.spec',
            },
          ]
        : []),
    ],
  };
}

function isAsAsked(slot: Slot, storage: Storage): boolean {
  return isOfClass(slot, storage) && isOfTemplate(slot, storage);
}

/** A class that is left out is the default one, whichever that is: it says nothing about volumes that are there. */
function isOfClass({ volume }: Slot, { storageClassName }: Storage): boolean {
  return storageClassName === undefined || volume?.storageClassName === storageClassName;
}

/** As its peer recorded it; the labels and annotations of a template are for new claims. */
function isOfTemplate({ peer }: Slot, { volumeClaimTemplate }: Storage): boolean {
  const asked = (storage: Pick<Storage, 'volumeClaimTemplate'> | undefined) =>
    canonicalJson(storage?.volumeClaimTemplate?.spec ?? {});
  return asked(peer?.inputs.storage) === asked({ ...(volumeClaimTemplate && { volumeClaimTemplate }) });
}
