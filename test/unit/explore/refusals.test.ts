import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { EtcdHost } from '../../../reconcile/cluster/act/requests/host.ts';
import { observationHost } from '../../../reconcile/cluster/foresee/host.ts';
import { StepError } from '../../../reconcile/requests/refusals.ts';
import { realCode } from '../../explore/model/code.ts';
import { worldHost } from '../../explore/model/host.ts';
import { look } from '../../explore/model/look.ts';
import { modelOf } from '../../explore/model/model.ts';
import type { State } from '../../explore/model/state.ts';
import { referredIn } from '../../explore/model/uids.ts';
import { scenarios } from '../../explore/scenarios.ts';
import { search } from '../../explore/search/search.ts';

/**
 * etcd of a plan is held against real ones (`test/integration/requests`), and here etcd of a search against that of a
 * plan. The search knows more, so that it may refuse where a plan can't tell.
 */
describe('where a plan says that etcd refuses, etcd of the search refuses in the same word', () => {
  const reasons = new Set<string>();
  for (const name of ['grow 1 to 3', 'shrink 3 to 1', 'heal 3']) {
    test(name, () => {
      const scenario = scenarios.find((one) => one.name === name) ?? assert.fail(name);
      const model = modelOf(scenario, realCode(), { convergence: false });
      const comparing = {
        ...model,
        examine: (state: State) => {
          const message = differences(state, reasons)[0];
          return message === undefined ? undefined : { invariant: 'refusal', message };
        },
      };
      const { found } = search(comparing, { states: 1500, time: 60_000 });
      assert.equal(found?.violation.message, undefined, found?.story.join('\n'));
    });
  }

  test('and none of its own says only that the world has moved', () => {
    assert.equal(reasons.has('WorldMoved'), false);
    assert.ok(reasons.size >= 8, [...reasons].join(', '));
  });
});

type Change = <S>(etcd: EtcdHost<S>, state: S) => unknown;

function differences(state: State, reasons: Set<string>): readonly string[] {
  const { world } = state;
  const seen = look(world, { nonce: '' });
  const inSearch = worldHost({ referred: referredIn(state) }).etcd;
  return changesOf(state).flatMap(([words, change]) => {
    const planned = reasonOf(() => change(observationHost.etcd, seen));
    const searched = reasonOf(() => change(inSearch, world));
    if (searched !== undefined) reasons.add(searched);
    return planned === undefined || planned === searched
      ? []
      : [`${words}: ${planned} in a plan, ${searched ?? 'done'} in the search`];
  });
}

/** Each change, of each member, of one that is none, and of another cluster. */
function changesOf({ world }: State): readonly (readonly [string, Change])[] {
  const { membership } = look(world, { nonce: '' });
  const known = membership.kind === 'known' ? membership : { clusterId: 'another', members: [] };
  const { members } = known;
  const ids = [...members.map(({ id }) => id), 'abcdef'];
  const taken = members.flatMap(({ name, peerURLs }) => (name === '' ? [] : [{ name, url: peerURLs[0] ?? '' }]));
  const all = ['another', known.clusterId].flatMap((cluster) => [
    ...ids.flatMap((id) => [
      [`promote ${id} in ${cluster}`, (etcd, state) => etcd.promote(state, cluster, id)] as [string, Change],
      [`remove ${id} in ${cluster}`, (etcd, state) => etcd.remove(state, cluster, id)] as [string, Change],
      [`move leadership to ${id} in ${cluster}`, (etcd, state) => etcd.moveLeader(state, cluster, id)] as [
        string,
        Change,
      ],
    ]),
    ...[...taken, { name: 'orders-9', url: 'http://nowhere:2380' }].map(
      (one) => [`add ${one.name} in ${cluster}`, (etcd, state) => etcd.add(state, cluster, one)] as [string, Change],
    ),
  ]);
  return all;
}

function reasonOf(change: () => unknown): string | undefined {
  try {
    change();
    return undefined;
  } catch (error) {
    if (error instanceof StepError) return error.failure.reason;
    throw error;
  }
}
