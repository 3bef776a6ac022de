import assert from 'node:assert/strict';
import { test } from 'node:test';
import { KubeError, type KubeObject, type LeftOut, type Resource } from '../../../reconcile/interfaces/kube.ts';
import { listIn } from '../../../reconcile/objects/list-in.ts';
import type { Kind } from '../../../reconcile/stepping/kind.ts';
import { listAgain } from '../../../reconcile/stepping/list-again.ts';
import { createLists } from '../../../reconcile/stepping/lists.ts';
import { createFakeKube, type FakeKubeOptions } from '../../support/fakes/kube.ts';
import { kindContext } from '../../support/kind-context.ts';

const toys: Resource = { apiVersion: 'example.com/v1', kind: 'Toy', plural: 'toys' };
const namespaces = ['a', 'b', 'c', 'd', 'e'];

interface Options extends FakeKubeOptions {
  /** Of which namespaces steps need to know. */
  readonly looksInto?: (looked: readonly string[]) => readonly string[] | undefined;
  /** Of the invocation. */
  readonly namespace?: string;
}

/** Which namespaces are listed, and in which there is what was found. */
async function listedFor(keys: readonly string[], { looksInto, namespace, ...options }: Options = {}) {
  const kube = createFakeKube(options);
  for (const one of namespaces) kube.seed(toys, { metadata: { name: 'ball', namespace: one, uid: one } });
  const needed = looksInto ?? ((looked) => looked);
  const kind: Kind = {
    scope: 'whole',
    after: {},
    lister: (context) => () => listIn(context.kube, toys, { namespaces: context.within }),
    looksInto: (items) => {
      const found = needed(items.map((one) => one.metadata.namespace ?? ''));
      return found && new Set(found);
    },
    units: () => [],
    step: async () => [],
  };
  const lists = createLists(new Map([['toy', kind.lister(kindContext({ kube }))]]));
  const given = { ...kindContext({ kube, lists }), ...(namespace !== undefined && { namespace }) };
  const { items, context } = await listAgain('toy', kind, given, new Set(keys));
  return {
    asked: kube.journal().map((one) => one.namespace ?? 'all'),
    found: items.map((one: KubeObject) => one.metadata.namespace),
    within: context.within,
  };
}

test('another look lists the namespaces of what it looks at, and no other', async () => {
  const listed = await listedFor(['a/ball', 'b/ball', 'b/other']);
  assert.deepEqual(listed, { asked: ['a', 'b'], found: ['a', 'b'], within: ['a', 'b'] });
});

test('also where what it looks at has gone', async () => {
  const listed = await listedFor(['a/gone']);
  assert.deepEqual(listed, { asked: ['a'], found: ['a'], within: ['a'] });
});

test('and those that steps of it need to know of', async () => {
  const listed = await listedFor(['a/ball'], { looksInto: (looked) => (looked.includes('a') ? ['a', 'c'] : []) });
  assert.deepEqual(listed, { asked: ['a', 'a', 'c'], found: ['a', 'c'], within: ['a', 'c'] });
});

/** One namespace more each time. */
function growing(): NonNullable<Options['looksInto']> {
  let count = 1;
  return () => namespaces.slice(0, ++count);
}

const left: LeftOut = { bytes: 1, plural: 'toys', mostBytes: 1 };
const tooLarge = new KubeError('LIST toys: too large', { class: 'terminal', reason: 'TooLarge' });
for (const [what, keys, options, asked] of [
  ['it can not be told what they need', ['a/ball'], { looksInto: () => undefined }, ['a', 'all']],
  ['they need more and more', ['a/ball'], { looksInto: growing() }, ['a', 'a', 'b', 'all']],
  ['they need many', ['a/ball'], { looksInto: () => namespaces }, ['a', 'all']],
  ['they are in many', namespaces.map((one) => `${one}/ball`), {}, ['all']],
  ['lists leave one of them out', ['a/ball'], { leftOut: () => new Map([['a', left]]) }, ['all']],
  [
    'one of them is too large',
    ['a/ball'],
    {
      before: ({ namespace }) => {
        if (namespace !== undefined) throw tooLarge;
      },
    },
    ['a', 'all'],
  ],
  ['the invocation is about one namespace', ['a/ball'], { namespace: 'a' }, ['all']],
] as const satisfies readonly (readonly [string, readonly string[], Options, readonly string[]])[])
  test(`everything is listed where ${what}`, async () => {
    const listed = await listedFor(keys, options);
    assert.deepEqual([listed.asked, listed.within], [asked, undefined]);
  });

test('an API server that does not answer is not asked for everything instead', async () => {
  const away = new KubeError('LIST toys: no answer', { class: 'retryable', reason: 'Timeout' });
  const asked: unknown[] = [];
  const before: FakeKubeOptions['before'] = ({ namespace }) => {
    asked.push(namespace);
    throw away;
  };
  await assert.rejects(listedFor(['a/ball'], { before }), away);
  assert.deepEqual(asked, ['a']);
});
