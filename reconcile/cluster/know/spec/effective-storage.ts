import type { EtcdClusterSpec } from '../../../../manifests/api/etcd-cluster.ts';
import type { Storage } from '../../../../manifests/api/member-settings.ts';
import { canonicalJson } from '../../../../manifests/render/canonical-json.ts';
import { hasDeparted, type Life } from '../life.ts';
import type { Slot } from '../observation.ts';
import type { Refusal } from './refusal.ts';

/**
 * The parts of `spec.storage` that no volume can change after its creation: its storage class, and the template of its
 * PVC.
 *
 * `kept`: the storage of a replacement for a lost member, because it has served here. `refusals`: the volumes that
 * differ.
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
        ? `; or move the members one by one: ${move}. The member keeps voting until a member on a new volume votes in its place; then the next one`
        : ''
    }`;
  const classes = others.filter((slot) => !isAs.storageClassName(slot, storage));
  const templates = others.filter((slot) => !isAs.volumeClaimTemplate(slot, storage));
  return {
    kept: isProven ? storage : kept,
    refusals: [
      ...(classes.length > 0
        ? [
            {
              reason: 'StorageClassRefused' as const,
              message: `${names}: volumes of storage class ${volume.storageClassName ?? 'none'}, and a volume keeps its class; new members get ${storage.storageClassName}`,
              cure: cure('spec.storage.storageClassName', volume.storageClassName ?? 'none'),
              field: 'spec.storage.storageClassName',
            },
          ]
        : []),
      ...(templates.length > 0
        ? [
            {
              reason: 'ClaimTemplateRefused' as const,
              message: `${names}: volumes from another PVC template than spec.storage.volumeClaimTemplate.spec, and a PVC keeps its template; new members get the new one`,
              cure: cure('spec.storage.volumeClaimTemplate.spec', 'what it was'),
              field: 'spec.storage.volumeClaimTemplate.spec',
            },
          ]
        : []),
    ],
  };
}

/**
 * By field: whether an existing volume has what is asked for. A new field of `spec.storage` without a row is an error.
 */
const isAs: { readonly [K in keyof Required<Storage>]: (slot: Slot, storage: Storage) => boolean } = {
  // It can grow (`grow-volumes`); a size that would shrink is refused in `effective.ts`.
  size: () => true,
  storageClassName: isOfClass,
  volumeClaimTemplate: isOfTemplate,
};

function isAsAsked(slot: Slot, storage: Storage): boolean {
  return Object.values(isAs).every((isSo) => isSo(slot, storage));
}

/** A class that is left out means the default one, whichever that is: it says nothing about existing volumes. */
function isOfClass({ volume }: Slot, { storageClassName }: Storage): boolean {
  return storageClassName === undefined || volume?.storageClassName === storageClassName;
}

/** As its peer recorded it; the labels and annotations of a template are for new PVCs. */
function isOfTemplate({ peer }: Slot, { volumeClaimTemplate }: Storage): boolean {
  const asked = (storage: Pick<Storage, 'volumeClaimTemplate'> | undefined) =>
    canonicalJson(storage?.volumeClaimTemplate?.spec ?? {});
  return asked(peer?.inputs.storage) === asked({ ...(volumeClaimTemplate && { volumeClaimTemplate }) });
}
