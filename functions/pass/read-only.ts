import type { Kube } from '../../reconcile/interfaces/kube.ts';

/** The same API server for code that must not change anything: a write is a defect of ours, and is never sent. */
export function readOnly(kube: Kube): Kube {
  return {
    ...kube,
    create: never,
    update: never,
    updateStatus: never,
    apply: never,
    dryRun: never,
    delete: never,
    evict: never,
    as: (serviceAccount) => readOnly(kube.as(serviceAccount)),
    bounded: () => readOnly(kube.bounded()),
  };
}

/** The same for a check, which may ask what would come of a write. */
export function dryRunOnly(kube: Kube): Kube {
  return {
    ...readOnly(kube),
    dryRun: kube.dryRun.bind(kube),
    apply: async (resource, object, options) => (options.dryRun ? kube.apply(resource, object, options) : never()),
    as: (serviceAccount) => dryRunOnly(kube.as(serviceAccount)),
    bounded: () => dryRunOnly(kube.bounded()),
  };
}

async function never(): Promise<never> {
  throw new Error('nothing may be written here');
}
