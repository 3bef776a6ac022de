import type { Kube } from '../reconcile/kube.ts';

/** The same API server for whoever must not change anything: a write is a defect of ours, and is never sent. */
export function readOnly(kube: Kube): Kube {
  return {
    ...kube,
    create: never,
    update: never,
    updateStatus: never,
    apply: never,
    delete: never,
    evict: never,
  };
}

async function never(): Promise<never> {
  throw new Error('nothing may be written here');
}
