import { setTimeout as pause } from 'node:timers/promises';
import type { connectEtcd } from '../../clients/etcd.ts';
import { EtcdError } from '../../interfaces/etcd.ts';

type Client = ReturnType<typeof connectEtcd>;

/** For a hash of all keys: a restored store may be large, and the machine of a Job small. */
export const compareTimeoutMs = 15 * 60_000;

/** Waits until an etcd answers a linearizable read. What it said last, where it does not in time. */
export async function untilServed(
  client: Client,
  endpoint: string,
  startMs: number,
  signal: AbortSignal,
): Promise<string | undefined> {
  const started = performance.now();
  for (;;) {
    const said = await refusalOf(client, endpoint, signal);
    if (said === undefined || performance.now() - started > startMs) return said;
    await pause(200, undefined, { signal });
  }
}

/** `undefined` when it answers. */
export async function refusalOf(client: Client, endpoint: string, signal: AbortSignal): Promise<string | undefined> {
  try {
    await client.members([endpoint], { signal });
    return undefined;
  } catch (error) {
    signal.throwIfAborted();
    if (error instanceof EtcdError) return error.message;
    throw error;
  }
}
