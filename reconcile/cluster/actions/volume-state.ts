import { type VolumeRecord, withVolumeRecord } from '../../../manifests/build/volume-record.ts';
import type { PersistentVolumeClaim } from '../../../manifests/kube-types.ts';
import { resources } from '../../kube.ts';
import type { ActContext } from './context.ts';

/** What a volume remembers from now on; refused by the API server if somebody has touched the claim since it was read. */
export async function writeRecord(
  claim: PersistentVolumeClaim,
  record: VolumeRecord,
  { kube, signal }: ActContext,
): Promise<PersistentVolumeClaim> {
  const annotations = withVolumeRecord(claim.metadata.annotations, record);
  const changed = { ...claim, metadata: { ...claim.metadata, annotations } };
  return kube.update<PersistentVolumeClaim>(resources.volumeClaims, changed, { signal });
}
