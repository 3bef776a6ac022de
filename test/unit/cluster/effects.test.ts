import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { decide } from '../../../reconcile/cluster/decide/decide.ts';
import { carriedOut, momentsOf } from '../../../reconcile/cluster/foresee/run.ts';
import { recordOf } from '../../../reconcile/cluster/know/life.ts';
import type { Observation } from '../../../reconcile/cluster/know/observation.ts';
import { endpoint, healthy, prepared, unborn, unsealed, withEndpoint } from './observations.ts';

/** What each write of the present decision leaves behind. */
function writesOf(observation: Observation): readonly Observation[] {
  const decision = decide(observation);
  const action = decision.kind === 'act' ? decision.action : assert.fail(`${decision.reason}: ${decision.message}`);
  return momentsOf(action, observation);
}

const closed = { shared: { clientService: { state: 'missing' } } } as const;

describe('the effects of an action', () => {
  test('are one for each write: a birth makes volumes, peers, ConfigMaps, and only then starts any', () => {
    const [, first, ...rest] = writesOf(unborn(3));
    assert.deepEqual(
      first?.slots.map(({ name, volume, peer }) => [name, volume?.bound, peer]),
      [['orders-0', false, undefined]],
    );
    const started = rest.findIndex(({ slots }) => slots.some(({ statefulSet }) => statefulSet));
    assert.equal(started, 11, 'eight more objects, and three volumes that say so');
    const last = rest[7];
    assert.deepEqual(
      last?.slots.map((slot) => Object.keys(slot).sort()),
      [
        ['configMap', 'endpoint', 'name', 'ordinal', 'peer', 'volume'],
        ['configMap', 'endpoint', 'name', 'ordinal', 'peer', 'volume'],
        ['configMap', 'endpoint', 'name', 'ordinal', 'peer', 'volume'],
      ],
    );
    assert.deepEqual(new Set(last?.slots.map((slot) => recordOf(slot)?.state)), new Set(['bootstrapping']));
  });

  test('leave the world as it was when they come a second time', () => {
    for (const observation of [unborn(3), prepared(3), healthy(3, { ...closed, every: started })]) {
      const decision = decide(observation);
      const action = decision.kind === 'act' ? decision.action : assert.fail(decision.reason);
      const once = carriedOut(action, observation);
      assert.deepEqual(carriedOut(action, once), once);
    }
  });

  test('tell all volumes of a birth that their members may start, before any does', () => {
    const written = writesOf(prepared(3));
    const told = written.findIndex(({ slots }) => slots.every((slot) => recordOf(slot)?.mayHaveStarted));
    const started = written.findIndex(({ slots }) => slots.some(({ statefulSet }) => statefulSet));
    assert.deepEqual([told, started], [3, 4]);
    assert.equal(written.at(-1)?.slots.filter(({ pod }) => pod).length, 0);
  });

  test('seal the volumes before the ConfigMaps follow', () => {
    const observation = healthy(3, { ...closed, every: started });
    const decision = decide(observation);
    const action = decision.kind === 'act' ? decision.action : assert.fail(decision.reason);
    const moments = momentsOf(action, observation);
    const [told, followed, opened] = [moments[3], moments[6], moments[7]];
    assert.ok(told?.slots.every((slot) => recordOf(slot)?.state === 'sealed' && !slot.configMap?.immutable));
    assert.ok(followed?.slots.every(({ configMap }) => configMap?.immutable));
    assert.equal(followed?.shared.clientService.state, 'missing');
    assert.equal(opened?.shared.clientService.state, 'present');
  });

  test('change nothing of those that they are not about', () => {
    const [before, after] = writesOf(prepared(3));
    assert.equal(after?.slots[1], before?.slots[1]);
    assert.ok(recordOf(after?.slots[0] ?? {})?.mayHaveStarted);
    assert.equal(after?.slots[0]?.statefulSet, undefined);
  });
});

function started(slot: Observation['slots'][number]) {
  return withEndpoint(endpoint(slot.ordinal))(unsealed(slot));
}
