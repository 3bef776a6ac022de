import { isRecord } from '../../manifests/render/is-record.ts';
import { jsonIn } from './json-in.ts';

/**
 * kured's lock: an annotation of its DaemonSet, of one node, or (`--concurrency`) of several. As kured reads it, an
 * expired lock does not count. Pure.
 */

export const kuredLockAnnotation = 'weave.works/kured-node-lock';

/** @returns the nodes that hold it; {@link unreadable} stands for one that can't be told. */
export function kuredHolders(text: string | undefined, at: Date): readonly string[] {
  if (text === undefined) return [];
  const found = jsonIn(text);
  if (!isRecord(found)) return [unreadable];
  const locks: readonly unknown[] = Array.isArray(found.locks) ? found.locks : 'nodeID' in found ? [found] : [];
  return locks.flatMap((lock) => holderOf(lock, at) ?? []);
}

const unreadable = 'a node that can not be read from it';

function holderOf(lock: unknown, at: Date): string | undefined {
  if (!isRecord(lock)) return unreadable;
  const { nodeID, created, TTL: nanoseconds } = lock;
  const since = typeof created === 'string' ? Date.parse(created) : Number.NaN;
  const isOver = typeof nanoseconds === 'number' && nanoseconds > 0 && at.getTime() - since >= nanoseconds / 1_000_000;
  if (isOver) return undefined;
  // As a Node is named, and nothing else.
  return typeof nodeID === 'string' && /^[a-z0-9.-]{1,253}$/.test(nodeID) ? nodeID : unreadable;
}
