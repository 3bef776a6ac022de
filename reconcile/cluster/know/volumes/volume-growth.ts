import { parseQuantity } from '../../../../manifests/api/quantity.ts';
import type { PersistentVolumeClaim } from '../../../../manifests/kube-types.ts';
import type { GrowthView } from '../observation.ts';

/**
 * The progress of a PVC that grows: its driver enlarges the volume, then kubelet the file system, and only then
 * `status.capacity` says so.
 * @see https://kubernetes.io/docs/concepts/storage/persistent-volumes/#expanding-persistent-volumes-claims
 */
export function growthOf({ spec, status }: PersistentVolumeClaim): GrowthView | undefined {
  const has = status?.capacity?.storage;
  const asked = spec.resources.requests?.storage;
  if (has === undefined || asked === undefined || parseQuantity(has) >= parseQuantity(asked)) return undefined;
  const said = status?.conditions?.find(({ type, status }) => growing.has(type) && status === 'True');
  const allocated = status?.allocatedResourceStatuses?.storage ?? '';
  const infeasible = allocated.endsWith('Infeasible');
  return { phase: infeasible ? allocated : (said?.type ?? allocated), message: said?.message ?? '', infeasible };
}

/** The conditions of a PVC that report its growth. */
const growing: ReadonlySet<string> = new Set([
  'ControllerResizeError',
  'NodeResizeError',
  'FileSystemResizePending',
  'Resizing',
]);
