import { kubectl } from '../../../../manifests/render/kubectl.ts';
import { annotations } from '../../../../manifests/render/names.ts';
import { keptName } from '../../../../manifests/render/restore-paths.ts';
import { isOfRecovery } from '../../../../manifests/render/volume-record.ts';
import { recordOf } from '../life.ts';
import type { Slot } from '../observation.ts';

/**
 * How to undo a rollback whose member does not come to serve. No client was let in, so nothing goes but what was
 * restored. Former volumes are superseded, and have their data: once it is gone, the ways to go on are told.
 */
export function wayBack(slot: Slot): string | undefined {
  const record = recordOf(slot);
  if (record?.state !== 'restored' || !record.gaveUp) return undefined;
  const { name } = slot;
  const { gaveUp, recovery } = record;
  if (isOfRecovery(record))
    return `what the recovery went on from is as it was, in ${keptName(recovery?.id ?? '…')} on volume ${name}: keep that volume`;
  const gone = `${kubectl(slot, `delete statefulset ${name}`)}; ${kubectl(slot, `delete pvc ${name}`)}`;
  return `to go back, remove annotation ${annotations.rollBack}, or name another snapshot in spec.rollback, and let only ${name} go: ${gone}; what the former volumes hold of etcd cluster ${gaveUp.at(-1)}, and what spec.rollback names, is offered then`;
}
