import { randomUUID } from 'node:crypto';
import type { Scene } from './scene.ts';

/** What no list and no member's health tells, a full look sees: it is asked for, as a person does who waits. */
export async function lookNow({ kubectl, namespace }: Scene, cluster: string): Promise<void> {
  const asked = `etcd.ratchet.dev/reconcile=${randomUUID()}`;
  await kubectl(['-n', namespace, 'annotate', '--overwrite', 'etcdcluster', cluster, asked]);
}
