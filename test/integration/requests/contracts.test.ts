/** Both halves of every request, on a real API server and on etcd of each minor, and on plain state. */

import assert from 'node:assert/strict';
import { after, describe, test } from 'node:test';
import type { Subject } from '../../../reconcile/requests/define.ts';
import { clusterPart } from './cluster-part.ts';
import type { Contracts } from './contract.ts';
import { contracts } from './contracts.ts';
import { nodeContracts } from './nodes/contracts.ts';
import { nodesPart } from './nodes/part.ts';
import type { Part } from './part.ts';
import type { SomeScene } from './scene.ts';
import { startStage } from './stage.ts';
import { tryContract } from './try-contract.ts';

const stage = await startStage();
after(() => stage[Symbol.asyncDispose]());

test('no request has two contracts of one name', () => {
  for (const table of [contracts, nodeContracts]) {
    for (const [kind, list] of Object.entries<readonly { readonly when: string }[]>(table)) {
      assert.equal(new Set(list.map(({ when }) => when)).size, list.length, `${kind} has two contracts of one name`);
    }
  }
});

describe('live and model do the same', { concurrency: 10 }, () => {
  tryAll('', contracts, clusterPart);
  tryAll('of nodes, ', nodeContracts, nodesPart);
});

function tryAll<A extends Subject, At extends SomeScene, S>(
  of: string,
  table: Readonly<Record<string, Contracts<At, S>>>,
  part: Part<A, At, S>,
): void {
  for (const [kind, list] of Object.entries(table))
    for (const contract of list) test(`${of}${kind}: ${contract.when}`, () => tryContract(kind, contract, part, stage));
}
