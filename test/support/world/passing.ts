import type { PassContext } from '../../../functions/pass/pass-context.ts';
import type { TickOptions } from '../../../functions/tick/options.ts';
import { etcdOf } from './etcd.ts';
import { wireOf } from './wire.ts';
import { namespace, type World } from './world.ts';

/** Of a tick that waits for nothing. */
export const tickOptions = {
  clusters: [],
  dryRun: false,
  output: 'text',
  detailedExitcode: false,
  wait: 0,
  timeout: 50,
} as const satisfies TickOptions;

/** A tick's pass in the world, once, where node-reboots is installed. */
export function passIn(world: World, change: Partial<PassContext> = {}, id = 'one'): PassContext {
  return {
    kube: world.kube,
    namespace,
    clusters: [],
    followUp: false,
    dryRun: false,
    waitMs: 0,
    rebootsIn: 'etcd-ratchet-reboots',
    etcd: async (tls) => etcdOf(world.state, tls),
    wire: wireOf(world.state),
    holder: { pod: `etcd-ratchet/${id}`, uid: id },
    nonce: () => id.padEnd(32, 'f'),
    log: () => undefined,
    signal: AbortSignal.timeout(20_000),
    deadline: Date.now() + 20_000,
    ...change,
  };
}
