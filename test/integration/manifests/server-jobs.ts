import assert from 'node:assert/strict';
import { type CronJob, jobOf } from '../../../functions/pass/follow-up/chain.ts';
import { type Kube, KubeError, resources } from '../../../reconcile/interfaces/kube.ts';

export type Fields = Record<string, unknown>;

export interface Whole {
  readonly metadata: Fields;
  readonly spec: Fields & {
    readonly template: { readonly metadata: Fields; readonly spec: Fields & { containers: Fields[] } };
  };
}

let made = 0;

/** As the webhook server makes one, for a fleet. */
export function jobOfServer(cronJob: CronJob, args: readonly string[]): Whole {
  const labels = { 'etcd.ratchet.dev/trigger': 'webhook', 'etcd.ratchet.dev/fleet': 'uid' };
  return structuredClone(jobOf(cronJob, { suffix: `t-${made++}`, labels, args })) as unknown as Whole;
}

/** `made`, or how the API server refused it. */
export async function tried(kube: Kube, wanted: Whole, signal: AbortSignal): Promise<string> {
  try {
    await kube.create(resources.jobs, wanted as never, { signal });
    return 'made';
  } catch (error) {
    assert.ok(error instanceof KubeError, String(error));
    return `${error.status} ${error.message}`;
  }
}
