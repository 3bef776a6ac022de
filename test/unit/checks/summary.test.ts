import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import type { ForeseenCluster } from '../../../functions/checks/foresee.ts';
import { describeChange } from '../../../functions/checks/summary.ts';

type Facts = Parameters<typeof describeChange>[0];

const step = { action: 'restart-member', reason: 'UpgradingMember', message: '' };

function cluster(
  name: string,
  {
    intent = 'update',
    changes = [],
    steps = 0,
    end = 'done',
    namespace = 'payments',
  }: {
    intent?: ForeseenCluster['intent'];
    changes?: readonly string[];
    steps?: number;
    end?: NonNullable<ForeseenCluster['planned']>['end']['kind'];
    namespace?: string;
  } = {},
): ForeseenCluster {
  const planned = { summary: '', steps: Array(steps).fill(step), end: { kind: end, reason: 'X', message: '' } };
  return { namespace, name, intent, changes, planned };
}

function describe(facts: Partial<Facts>): string {
  return describeChange({ state: 'success', problems: [], clusters: [], deletions: [], ...facts });
}

for (const [what, facts, expected] of [
  [
    'changes of two',
    {
      clusters: [
        cluster('orders', { changes: ['3.5.35→3.6.16'], steps: 9 }),
        cluster('ads', { changes: ['+2 members'], steps: 6 }),
      ],
    },
    'orders: 3.5.35→3.6.16, 9 steps; ads: +2 members, 6 steps',
  ],
  ['nothing of any cluster', {}, 'changes no cluster'],
  [
    'a new one',
    { clusters: [cluster('a', { intent: 'create', changes: ['+3 members'], steps: 1 })] },
    'a: new, +3 members, 1 step',
  ],
  [
    'backups and schedules beside a cluster',
    {
      clusters: [cluster('orders', { changes: ['+2 members'], steps: 6 })],
      others: [
        { kind: 'EtcdBackup', namespace: 'payments', name: 'before', intent: 'create' },
        { kind: 'EtcdBackupSchedule', namespace: 'payments', name: 'nightly', intent: 'update' },
        { kind: 'EtcdBackupSchedule', namespace: 'payments', name: 'hourly', intent: 'delete' },
      ],
    },
    'orders: +2 members, 6 steps; before: new backup; nightly: changed schedule; hourly: deleted schedule',
  ],
  ['what no step shows', { clusters: [cluster('a')] }, 'a: no steps'],
  [
    'a plan that ends with a person',
    { clusters: [cluster('a', { end: 'refused' })] },
    'a: no steps, then a person is needed',
  ],
  [
    'deletions first, those that would not happen last',
    {
      clusters: [cluster('z'), cluster('old', { intent: 'delete' })],
      deletions: [
        { namespace: 'payments', name: 'old' },
        { namespace: 'payments', name: 'kept', kept: 'spec.prune is off' },
      ],
    },
    'old: deleted; z: no steps; kept: no longer listed, kept',
  ],
  [
    'the same name twice',
    { clusters: [cluster('a'), cluster('a', { namespace: 'staging' })] },
    'payments/a: no steps; staging/a: no steps',
  ],
  [
    'the first problem, and how many others',
    { problems: [1, 2, 3].map((line) => ({ file: 'a.yaml', line, column: 5, message: 'is wrong' })) },
    'a.yaml:1:5: is wrong (and 2 more)',
  ],
  ['what could not be found out', { state: 'error', message: 'no answer' }, 'could not be checked: no answer'],
] as const satisfies readonly (readonly [string, Partial<Facts>, string])[]) {
  test(`a status says ${what}`, () => assert.equal(describe(facts), expected));
}

test('of many clusters it names those for which there is room, and counts the others', () => {
  const clusters = Array.from({ length: 100 }, (_, n) =>
    cluster(`cluster-${n}`, { changes: ['3.6.16→3.7.3'], steps: 7 }),
  );
  const said = describe({ clusters });
  assert.match(said, /^cluster-0: 3\.6\.16→3\.7\.3, 7 steps; .*; and 97 others$/);
});

test('whatever is said, it is one line of at most 140 characters', () => {
  const word = fc.string({ maxLength: 200, unit: 'grapheme' });
  const problem = fc.record({ file: word, line: fc.nat(), column: fc.nat(), message: word });
  const problems = fc.array(problem, { maxLength: 4 });
  fc.assert(
    fc.property(problems, fc.array(word, { maxLength: 5 }), (problems, names) => {
      const said = describe({ problems, clusters: names.map((name) => cluster(name, { changes: [name] })) });
      assert.ok(said.length <= 140, String(said.length));
      assert.ok(!/[\n\r]/.test(said));
    }),
  );
});
