/** Both halves of every request, on a real API server and on etcd of each minor, and on plain state. */

import assert from 'node:assert/strict';
import { after, describe, test } from 'node:test';
import { type RequestKind, requests } from '../../../reconcile/cluster/act/requests/all.ts';
import type { Contracts } from './contract.ts';
import { contracts } from './contracts.ts';
import { startStage } from './stage.ts';
import { tryContract } from './try-contract.ts';

const stage = await startStage();
after(() => stage[Symbol.asyncDispose]());

test('every request has contracts, each of which says what it is about', () => {
  const table: Readonly<Record<string, Contracts>> = contracts;
  for (const kind of Object.keys(table)) assert.ok(Object.hasOwn(requests, kind), `${kind} is no request`);
  for (const [kind, list] of Object.entries(table)) {
    assert.ok(list.length > 0, `${kind} has no contract`);
    assert.equal(new Set(list.map(({ when }) => when)).size, list.length, `${kind} has two contracts of one name`);
  }
});

describe('live and model do the same', { concurrency: 18 }, () => {
  for (const [kind, list] of Object.entries(contracts) as [RequestKind, Contracts][])
    for (const contract of list) test(`${kind}: ${contract.when}`, () => tryContract(kind, contract, stage));
});
