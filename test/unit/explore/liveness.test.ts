import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { livenessBugs } from '../../explore/liveness/bugs.ts';
import { liveness } from '../../explore/liveness/liveness.ts';
import { realCode } from '../../explore/model/code.ts';
import { modelOf } from '../../explore/model/model.ts';
import { scenarios } from '../../explore/scenarios.ts';
import { search } from '../../explore/search/search.ts';

describe('lives beside a quorum that is healed', () => {
  const among = scenarios.filter(({ name }) => name === 'grow 1 to 3' || name === 'heal 3');

  test('go the same way for the same seed, and another for another', () => {
    const [first, again, other] = [7, 7, 8].map((seed) => liveness(3, seed, { among }));
    assert.deepEqual(first, again);
    assert.notEqual(first?.trace, other?.trace);
    assert.ok((first?.events ?? 0) > 30, `${first?.events} events`);
  });

  test('come to rest with clients served, through any scenario', (t) => {
    const seed = Math.floor(Date.now() / 86_400_000);
    const { found, cores, longest, rests } = liveness(40, seed);
    assert.equal(found, undefined, JSON.stringify(found, undefined, 1));
    assert.ok(cores > 10, `${cores} cores`);
    t.diagnostic(`seed ${seed}: ${cores} of 40 healed, at rest after at most ${longest} events, ${rests.size} ways`);
  });

  for (const bug of livenessBugs) {
    const code = bug.seed(realCode());

    test(`find what a search takes for rest: ${bug.name}`, () => {
      const { found } = liveness(50, 7, { among, code });
      assert.equal(found?.violation.invariant, bug.violates);
      assert.match(found?.violation.message ?? '', /a cause that is not there/);
    });

    test(`a search finds nothing of it: ${bug.name}`, () => {
      const scenario = scenarios.find(({ name }) => name === 'heal 3') ?? assert.fail();
      const searched = search(modelOf({ ...scenario, faults: { node: 1 } }, code), { states: 500, time: 60_000 });
      assert.equal(searched.found, undefined);
    });
  }
});
