import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseOptions } from '../../explore/options.ts';

test('the seed of the random walks may be any that is printed', () => {
  for (const seed of [0, 1785103347, 2 ** 31 - 2]) assert.equal(parseOptions(['--seed', String(seed)]).seed, seed);
  assert.throws(() => parseOptions(['--seed', '-1']), TypeError);
});
