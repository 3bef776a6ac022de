import assert from 'node:assert/strict';
import type { Etcd3 } from 'etcd3';

/** Writes that may go without an answer in a row, as while etcd elects a leader. */
const patience = 20;

/**
 * Writes until etcd takes no more. Large values leave free pages, because their neighbours are written anew with them:
 * a defragmentation would free them, and they may be all that is needed.
 *
 * @returns the keys that it took.
 */
export async function fill(client: Etcd3, key: (number: number) => string, size: number): Promise<readonly string[]> {
  const taken: string[] = [];
  let unanswered = 0;
  for (let number = 0; number < 5000; number += 1) {
    try {
      await client.put(key(number)).value('x'.repeat(size));
      taken.push(key(number));
      unanswered = 0;
    } catch (error) {
      if (/database space exceeded/.test(String(error))) return taken;
      unanswered += 1;
      assert.ok(unanswered < patience, `etcd takes nothing, and is not full: ${error}`);
    }
  }
  return assert.fail('etcd takes everything');
}
