import { kubectl } from '../../../../manifests/render/kubectl.ts';
import { annotations } from '../../../../manifests/render/names.ts';
import { recordOf } from '../life.ts';
import type { Slot } from '../observation.ts';

/**
 * How to undo a rollback whose member does not come to serve. No client was let in, so nothing goes but what was
 * restored. Former volumes are superseded, and have their data: once it is gone, the ways to go on are told.
 */
export function wayBack(slot: Slot): string | undefined {
  const { state, gaveUp } = recordOf(slot) ?? {};
  if (state !== 'restored' || !gaveUp) return undefined;
  const { name } = slot;
  const gone = `${kubectl(slot, `delete statefulset ${name}`)}; ${kubectl(slot, `delete pvc ${name}`)}`;
  return `to go back, remove annotation ${annotations.rollBack}, or name another snapshot in spec.rollback, and let only ${name} go: ${gone}; what the former volumes hold of etcd cluster ${gaveUp.at(-1)}, and what spec.rollback names, is offered then`;
}
