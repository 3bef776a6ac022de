import { join } from 'node:path';
import { build } from '../../functions/build.ts';
import { agentRun } from '../../manifests/render/agent-container.ts';
import type { AgentResult } from '../../reconcile/backup/agent/result.ts';
import { localSettings } from '../support/network.ts';
import { type Measured, measure } from './measure.ts';
import { fillCompileCache } from './pod-like.ts';

const deadlineSeconds = 3600;

/** One request carried out, and what that took. */
export type BundledAgent = (request: object) => Promise<Measured & { readonly result: AgentResult }>;

/**
 * The agent as in a pod: the bundle with its compile cache in the directory `app`, Node's options, a process of its own
 * each time.
 */
export async function bundledAgent(app: string): Promise<BundledAgent> {
  await build(app);
  await fillCompileCache(app);
  const env = {
    ...localSettings,
    PATH: process.env.PATH,
    NODE_ENV: 'production',
    NODE_COMPILE_CACHE: join(app, '.compile-cache'),
    RATCHET_TERMINATION_LOG: join(app, 'no-termination-log'),
    ...Object.fromEntries(agentRun.env.map(({ name, value }) => [name, value])),
  };
  return async (request) => {
    const RATCHET_BACKUP_REQUEST = JSON.stringify({ deadlineSeconds, ...request });
    const measured = await measure(join(app, 'backup.js'), [], { ...env, RATCHET_BACKUP_REQUEST }, agentRun.options);
    return { ...measured, result: JSON.parse(measured.stdout) as AgentResult };
  };
}
