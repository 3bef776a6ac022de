import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { bugs } from '../../explore/bugs.ts';
import { realCode } from '../../explore/model/code.ts';
import { scenarios } from '../../explore/scenarios.ts';
import { swarm } from '../../explore/swarm.ts';

describe('a swarm', () => {
  const among = scenarios.filter(({ name }) => name === 'grow 1 to 3' || name === 'heal 3');

  test('goes the same way for the same seed, and another for another', () => {
    const [first, again, other] = [7, 7, 8].map((seed) => swarm(3, seed, { among }));
    assert.deepEqual(first, again);
    assert.notEqual(first?.trace, other?.trace);
    assert.ok((first?.events ?? 0) > 30, `${first?.events} events`);
  });

  test('finds a bug that is put in on purpose, and tells the way there', () => {
    const bug = bugs.find(({ name }) => name === 'adds-voters') ?? assert.fail();
    const { found } = swarm(50, 7, { among, code: bug.seed(realCode()) });
    assert.equal(found?.violation.invariant, bug.violates);
    assert.notEqual(found?.story.length, 0);
  });
});
