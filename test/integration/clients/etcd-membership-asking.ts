import assert from 'node:assert/strict';
import { connectEtcd } from '../../../reconcile/clients/etcd.ts';
import { EtcdError, type EtcdTls, type Refusal } from '../../../reconcile/interfaces/etcd.ts';
import type { EtcdAdmin } from '../../../reconcile/interfaces/etcd-admin.ts';
import { until } from '../../e2e/support/until.ts';
import { post } from './etcd-members.ts';

export function open(tls?: EtcdTls): EtcdAdmin & Disposable {
  const etcd = connectEtcd(tls ? { tls } : {});
  return { ...etcd, [Symbol.dispose]: () => etcd.close() };
}

export function within<T extends object>(ms: number, more?: T): { signal: AbortSignal } & T {
  return { signal: AbortSignal.timeout(ms), ...(more as T) };
}

export async function failing(promise: Promise<unknown>): Promise<EtcdError> {
  const outcome = await promise.then(
    () => 'it succeeded',
    (error: unknown) => error,
  );
  assert.ok(outcome instanceof EtcdError, String(outcome));
  return outcome;
}

/** Why it was refused; fails when it was not. */
export async function refusal(promise: Promise<unknown>): Promise<Refusal | undefined> {
  const error = await failing(promise);
  assert.equal(error.outcome, 'refused', error.message);
  return error.reason;
}

/** Asks again while it is refused for this one reason; any other end is the outcome. */
export async function insist<T>(passing: Refusal, ask: () => Promise<T>): Promise<T> {
  const settled = await until(`no ${passing} any more`, async () => {
    try {
      return { value: await ask() };
    } catch (error) {
      if (error instanceof EtcdError && error.reason === passing) throw error;
      return { error };
    }
  });
  if ('error' in settled) throw settled.error;
  return settled.value;
}

/** Through etcd's JSON gateway; whether etcd took it. */
export async function put(clientUrl: string, key: string, value: string): Promise<boolean> {
  const base64 = (text: string) => Buffer.from(text).toString('base64');
  return 'header' in (await post(clientUrl, '/v3/kv/put', { key: base64(key), value: base64(value) }));
}
