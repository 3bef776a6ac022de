import { pass } from '../../../functions/pass/pass.ts';
import type { PassContext, PassResult } from '../../../functions/pass/pass-context.ts';
import { createReader } from '../../../functions/read/reader.ts';
import type { Scene } from './scene.ts';

/** A whole pass over all fleets of the scene, as a tick makes it; no member of any cluster runs. */
export async function wholePass({ kube }: Scene, overrides: Partial<PassContext> = {}): Promise<PassResult> {
  // A busy machine may hold a thread up for longer than a file should, and what is then read again is fetched again.
  using reader = createReader({ stuckMs: 30_000 });
  return await pass({
    kube,
    reader,
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
