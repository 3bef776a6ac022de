import assert from 'node:assert/strict';
import { test } from 'node:test';
import { KubeError, type KubeObject } from '../../../reconcile/interfaces/kube.ts';
import type { EarlyNews, Kind } from '../../../reconcile/stepping/kind.ts';
import { createLists } from '../../../reconcile/stepping/lists.ts';
import { keyOf, type StepResult } from '../../../reconcile/stepping/result.ts';
import { stepKinds } from '../../../reconcile/stepping/run.ts';
import { createFakeKube } from '../../support/fakes/kube.ts';
import { kindContext } from '../../support/kind-context.ts';
import { virtualTime } from '../../support/virtual-time.ts';

const never = new AbortController().signal;
const result = (name: string, outcome: StepResult['outcome'], workRemains = true): StepResult => {
  return { namespace: name, name, reason: 'X', message: 'x', outcome, workRemains };
};

interface Seen {
  readonly early: EarlyNews[];
  readonly looks: string[];
  readonly stepped: Awaited<ReturnType<typeof stepKinds>>;
}

/** Steps all of these: each look at one has a number, and what is told early ends what `told` keeps. */
async function stepAll(
  names: readonly string[],
  step: (name: string, look: number, told: Promise<void>) => Promise<StepResult>,
  waitMs = 30_000,
): Promise<Seen> {
  const looks: string[] = [];
  const early: EarlyNews[] = [];
  const told = Promise.withResolvers<void>();
  const items = names.map((name) => ({ metadata: { name, namespace: name } }));
  const kind: Kind<KubeObject, StepResult> = {
    scope: 'whole',
    after: {},
    lister: () => async () => ({ items, resourceVersion: '1' }),
    units: () => [],
    step: (chosen, { onStep }) =>
      Promise.all(
        chosen.map(async ({ metadata: { name } }) => {
          looks.push(name);
          const answer = await step(name, looks.filter((one) => one === name).length, told.promise);
          onStep?.(answer);
          return answer;
        }),
      ),
    waits: {
      wakesOn: (results) =>
        results
          .filter(({ workRemains }) => workRemains)
          .map(({ name, afterSeconds = 0.01 }) => ({ key: `${name}/${name}`, wakes: [{ on: 'time', afterSeconds }] })),
      isAwaited: () => true,
      again: 'woken',
      untilActed: true,
    },
  };
  const kube = createFakeKube();
  const lists = createLists(new Map([['toy', kind.lister({ kube, namespace: '', signal: never, log: () => {} })]]));
  const onEarly = async (news: EarlyNews) => {
    early.push(news);
    told.resolve();
  };
  const stepped = await stepKinds({ toy: kind }, { ...kindContext({ kube, waitMs, lists }), onEarly });
  return { early, looks, stepped };
}

/** Answers in turn for `quick`; `silent` ends with its answer once something was told early. */
function stepBoth(quick: readonly StepResult[], silent: StepResult, waitMs?: number): Promise<Seen> {
  const step = async (name: string, look: number, told: Promise<void>) => {
    if (name === 'quick') return quick[look - 1] ?? assert.fail('one look too many');
    await told;
    return silent;
  };
  return stepAll(['quick', 'silent'], step, waitMs);
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

test('a silent object is not looked at twice at once, and another look at it holds up no other', async () => {
  const { looks, stepped } = await stepAll(['quick', 'silent'], async (name, look, told) => {
    if (name === 'silent' && look > 1) await told;
    return result(name, name === 'quick' && look === 4 ? 'acted' : 'none');
  });
  assert.deepEqual(
    stepped.results.toy?.map(({ name, outcome }) => `${name} ${outcome}`),
    ['quick acted', 'silent none'],
  );
  assert.deepEqual(looks.toSorted(), ['quick', 'quick', 'quick', 'quick', 'silent', 'silent']);
});

test('a tick tells of what acts late, too, while others are silent still', async () => {
  using time = virtualTime(() => false);
  const isLate = Promise.withResolvers<void>();
  time.after(1_100, isLate.resolve);
  const { early } = await time.until(
    stepAll(
      ['late', 'quick', 'silent'],
      async (name, _, told) => {
        if (name === 'late') await isLate.promise;
        if (name === 'silent') await told;
        return result(name, name === 'late' ? 'acted' : 'none', name !== 'quick');
      },
      0,
    ),
  );
  assert.deepEqual(
    early.map(({ moved, results: { toy = [] } }) => [moved, toy.map(({ name }) => name)]),
    [[true, ['quick', 'late']]],
  );
});

test('what acts late, but while others are silent still, is told at once', async () => {
  const again = Promise.withResolvers<void>();
  const { early, stepped } = await stepAll(['late', 'quick', 'silent'], async (name, look, told) => {
    // The others are gone on with already.
    if (name === 'quick' && look === 2) again.resolve();
    if (name === 'late') await again.promise;
    if (name === 'silent') await told;
    return result(name, name === 'late' ? 'acted' : 'none');
  });
  assert.deepEqual(
    early.map(({ moved, results: { toy = [] } }) => [
      moved,
      toy.map(({ name, outcome }) => `${name} ${outcome}`).toSorted(),
    ]),
    [[true, ['late acted', 'quick none']]],
  );
  assert.deepEqual([stepped.moved, stepped.isTold], [false, true]);
  assert.equal(stepped.results.toy?.length, 3);
});

test('looks that are under way do not pile up: of the third, the first is waited for', async () => {
  const after = { a: 0.01, b: 0.05, c: 0.1 };
  using time = virtualTime(() => false);
  const { looks } = await time.until(
    stepAll(
      Object.keys(after),
      async (name, look, told) => {
        if (look > 1) await told;
        return { ...result(name, 'none'), afterSeconds: after[name as keyof typeof after] };
      },
      9_000,
    ),
  );
  assert.deepEqual(looks.toSorted(), ['a', 'a', 'b', 'b', 'c']);
});

test('a look that is given no answer is asked for again, for those that got no step by it', async () => {
  using time = virtualTime(() => false);
  const { looks, stepped } = await time.until(
    stepAll(['quick', 'silent'], async (name, look) => {
      if (name === 'quick') return result(name, 'none', look < 2);
      if (look === 2) {
        await new Promise<void>((resolve) => time.after(2_000, resolve));
        throw new KubeError('LIST pods: 503', { class: 'retryable', status: 503, reason: 'ServiceUnavailable' });
      }
      return result(name, look > 2 ? 'acted' : 'none');
    }),
  );
  assert.deepEqual(
    stepped.results.toy?.map(({ name, outcome }) => `${name} ${outcome}`),
    ['quick none', 'silent acted'],
  );
  assert.deepEqual(looks.toSorted(), ['quick', 'quick', 'silent', 'silent', 'silent']);
});

test('what gives no result when it is looked at again is dropped, and not looked at for ever', async () => {
  using time = virtualTime(() => false);
  let looks = 0;
  const step = async () => {
    looks += 1;
    return looks === 1 ? [{ ...result('quick', 'acted'), afterSeconds: 0 }] : [];
  };
  const items = [{ metadata: { name: 'quick', namespace: 'quick' } }];
  const lister = () => async () => ({ items, resourceVersion: '1' });
  const wakesOn = (results: readonly StepResult[]) =>
    results.map((one) => ({ key: keyOf(one), wakes: [{ on: 'time' as const, afterSeconds: 0 }] }));
  const waits = { wakesOn, isAwaited: () => true, again: 'all' as const };
  const kind: Kind<KubeObject, StepResult> = { scope: 'whole', after: {}, lister, units: () => [], step, waits };
  const lists = createLists(new Map([['toy', lister()]]));
  const context = kindContext({ kube: createFakeKube(), waitMs: 30_000, lists });
  const { results, workRemains } = await time.until(stepKinds({ toy: kind }, context));
  assert.deepEqual([looks, results.toy, workRemains], [2, [], false]);
});
