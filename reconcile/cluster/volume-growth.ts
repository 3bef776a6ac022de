import { parseQuantity } from '../../manifests/api/quantity.ts';
import type { PersistentVolumeClaim } from '../../manifests/kube-types.ts';
import type { GrowthView } from './observation.ts';

/**
 * How far a claim is that asks for more than it has: its driver enlarges the volume, then the kubelet the file system, and only then
 * does `status.capacity` say so.
 *
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

/** Of a claim's conditions, those that tell of its growth. */
const growing: ReadonlySet<string> = new Set([
  'ControllerResizeError',
  'NodeResizeError',
  'FileSystemResizePending',
  'Resizing',
]);
