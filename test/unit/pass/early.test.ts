import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { KubeObject } from '../../../reconcile/interfaces/kube.ts';
import type { EarlyNews, Kind } from '../../../reconcile/stepping/kind.ts';
import { createLists } from '../../../reconcile/stepping/lists.ts';
import type { StepResult } from '../../../reconcile/stepping/result.ts';
import { stepKinds } from '../../../reconcile/stepping/run.ts';
import { createFakeKube } from '../../support/fakes/kube.ts';
import { kindContext } from '../../support/kind-context.ts';

const items = ['quick', 'silent'].map((name) => ({ metadata: { name, namespace: name } }));
const listed = { items, resourceVersion: '1' };
const result = (name: string, outcome: StepResult['outcome'], workRemains = true): StepResult => {
  return { namespace: name, name, reason: 'X', message: 'x', outcome, workRemains };
};

interface Seen {
  readonly early: EarlyNews[];
  readonly looks: string[];
  readonly stepped: Awaited<ReturnType<typeof stepKinds>>;
}

/**
 * Steps both: the silent one ends with `silent` once `until` is so, or `quick` has been looked at as often as it has
 * answers.
 */
async function stepBoth(quick: readonly StepResult[], silent: StepResult, waitMs = 30_000): Promise<Seen> {
  const early: EarlyNews[] = [];
  const looks: string[] = [];
  const told = Promise.withResolvers<void>();
  const kind: Kind<KubeObject, StepResult> = {
    scope: 'whole',
    after: {},
    lister: () => async () => listed,
    async step(chosen, { onStep }) {
      return Promise.all(
        chosen.map(async ({ metadata: { name } }) => {
          looks.push(name);
          if (name === 'silent') {
            await told.promise;
            return silent;
          }
          const answer = quick[looks.filter((one) => one === 'quick').length - 1] ?? assert.fail('one look too many');
          onStep?.(answer);
          return answer;
        }),
      );
    },
    waits: {
      wakesOn: (results) =>
        results
          .filter(({ workRemains }) => workRemains)
          .map(({ name }) => ({ key: `${name}/${name}`, wakes: [{ on: 'time', afterSeconds: 0.01 }] })),
      isAwaited: () => true,
      again: 'woken',
      untilActed: true,
    },
  };
  const stepped = await stepKinds(
    { toy: kind },
    {
      ...kindContext({ kube: createFakeKube(), waitMs, lists: createLists(new Map([['toy', async () => listed]])) }),
      onEarly: async (news) => {
        early.push(news);
        told.resolve();
      },
    },
  );
  return { early, looks, stepped };
}

test('what has acted is told while another object is silent, and not as news once more', async () => {
  const { early, stepped } = await stepBoth([result('quick', 'acted')], result('silent', 'none'));
  assert.deepEqual(
    early.map(({ moved, results: { toy = [] } }) => [moved, toy.map(({ name }) => name)]),
    [[true, ['quick']]],
  );
  assert.deepEqual([stepped.moved, stepped.isTold, stepped.workRemains], [false, true, true]);
  assert.deepEqual(stepped.results.toy?.map(({ name }) => name).toSorted(), ['quick', 'silent']);
});

test('what waits is looked at again while another object is silent', async () => {
  const answers = [result('quick', 'none'), result('quick', 'acted')];
  const { early, looks, stepped } = await stepBoth(answers, result('silent', 'none'));
  assert.deepEqual(looks.toSorted(), ['quick', 'quick', 'silent']);
  assert.equal(early.length, 1);
  assert.equal(stepped.moved, false);
});

test('what the silent one did is news', async () => {
  const { stepped } = await stepBoth([result('quick', 'acted')], result('silent', 'acted'));
  assert.equal(stepped.moved, true);
});

test('a tick, which waits for nothing, tells of work all the same', async () => {
  const { early, looks } = await stepBoth([result('quick', 'none')], result('silent', 'none'), 0);
  assert.deepEqual([early.length, early[0]?.moved], [1, false]);
  assert.deepEqual(looks, ['quick', 'silent']);
});
