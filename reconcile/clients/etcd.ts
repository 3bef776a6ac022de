/** `EtcdAdmin` with etcd3, behind the guards of `etcd-calls.ts`: no retries, deadlines, one chosen endpoint a call. */

import type { EtcdAdmin } from '../interfaces/etcd-admin.ts';
import { authentication } from './etcd-auth.ts';
import { type EtcdOptions, guardedCalls } from './etcd-calls.ts';
import { maintenance } from './etcd-maintenance.ts';
import { membership } from './etcd-membership.ts';
import { reading } from './etcd-reading.ts';

export type { EtcdOptions } from './etcd-calls.ts';

/** Connects to nothing yet; etcd3 itself is loaded by the first call. */
export function connectEtcd(options: EtcdOptions = {}): EtcdAdmin {
  const calls = guardedCalls(options);
  return {
    ...reading(calls),
    ...membership(calls),
    ...maintenance(calls),
    ...authentication(calls),
    close: calls.close,
  };
}
