import { pass } from '../../../functions/pass/pass.ts';
import type { PassContext, PassResult } from '../../../functions/pass/pass-context.ts';
import type { Scene } from './scene.ts';

/** A whole pass over all fleets of the scene, as a tick makes it; no member of any cluster runs. */
export function wholePass({ kube }: Scene, overrides: Partial<PassContext> = {}): Promise<PassResult> {
  return pass({
    kube,
    etcd: async () => {
      throw new Error('no member runs here');
    },
    wire: async () => undefined,
    holder: { pod: 'p', uid: 'u' },
    nonce: () => 'n',
    log: () => {},
    clusters: [],
    dryRun: false,
    followUp: false,
    waitMs: 0,
    signal: AbortSignal.timeout(50_000),
    deadline: Date.now() + 50_000,
    ...overrides,
  });
}
