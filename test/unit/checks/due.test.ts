import assert from 'node:assert/strict';
import { test } from 'node:test';
import { areChecked, branchOf } from '../../../functions/checks/branch.ts';
import { withChecks } from '../../../functions/checks/check-pass.ts';
import { chosenOf, dueRequests, headsOf, lookOf } from '../../../functions/checks/due.ts';
import type { ChangeRequest } from '../../../gitops/forges/forge.ts';
import type { RequestCheck } from '../../../manifests/api/etcd-fleet-status.ts';
import { fleetStatus } from '../../../reconcile/fleet/status.ts';
import { clusterOf, fleetWith, sha } from '../fleet/objects.ts';

const target = 'b'.repeat(40);
const noon = new Date('2026-11-21T12:00:00Z');
const fleet = fleetWith({}, { forge: true });
const clusters = [clusterOf('orders'), clusterOf('ads')];

function request(number: string, headSha = number.repeat(40).slice(0, 40)): ChangeRequest {
  const where = { headRef: undefined, target: 'main', fork: false };
  return { number, title: '', url: '', headSha, ...where, draft: false, author: '100', labelled: false };
}

function checked(number: string, more: Partial<RequestCheck> = {}): RequestCheck {
  const seen = lookOf(fleet, clusters, ['payments/orders']);
  const head = number.repeat(40).slice(0, 40);
  return {
    number,
    head,
    target,
    state: 'success',
    description: '',
    seen,
    clusters: ['payments/orders'],
    sent: true,
    ...more,
  };
}

function due(remembered: readonly RequestCheck[], now = clusters, numbers = ['1', '2', '3']): readonly string[] {
  return dueRequests(headsOf(numbers.map((number) => request(number))), remembered, target, {
    fleet,
    clusters: now,
    now: noon,
  }).map((one) => one.request.number);
}

test('where the target moves all the time, it goes round', () => {
  const stale = ['2', '3', '1'].map((number) => checked(number, { target: sha }));
  assert.deepEqual(due(stale), ['2', '3', '1']);
});

test('a check that ended the process is not the first of the next one', () => {
  assert.deepEqual(due([checked('3', { state: 'pending' })]), ['1', '2', '3']);
});

test('new requests come first, moved ones next, and those that failed through no fault last', () => {
  assert.deepEqual(due([checked('1', { state: 'error' }), checked('2', { target: sha })]), ['3', '2', '1']);
});

for (const [what, check, expected] of [
  ['checked with this target, the clusters as they were', {}, []],
  ['the target moved', { target: sha }, ['1']],
  ['the target moved, and it touched nothing', { target: sha, state: 'untouched' }, ['1']],
  ['its check was begun and never ended', { state: 'pending' }, ['1']],
  ['another invocation has just begun it', { state: 'pending', begunAt: '2026-11-21T11:59:30Z' }, []],
  ['it was begun a minute ago', { state: 'pending', begunAt: '2026-11-21T11:59:00Z' }, ['1']],
  ['it was begun at a time that makes no sense', { state: 'pending', begunAt: 'soon' }, ['1']],
  ['it was begun in a future that never comes', { state: 'pending', begunAt: '2226-11-21T12:00:00Z' }, ['1']],
  ['it ended, whenever it was begun', { begunAt: '2026-11-21T12:00:00Z', target: sha }, ['1']],
  ['another cluster was touched', { seen: lookOf(fleet, clusters, ['payments/ads']) }, ['1']],
] as const) {
  test(`whether a request is checked again: ${what}`, () => {
    assert.deepEqual(due([checked('1', check)], clusters, ['1']), expected);
  });
}

test('it is checked again when a touched cluster changes, not for another or a new leader', () => {
  const status = { observedGeneration: 1, version: '3.6.16', leader: 'orders-0' } as never;
  const changed = (name: string) => [
    ...clusters.filter(({ metadata }) => metadata.name !== name),
    clusterOf(name, {}, status),
  ];
  assert.deepEqual(due([checked('1')], changed('ads'), ['1']), []);
  assert.deepEqual(due([checked('1')], changed('orders'), ['1']), ['1']);
  const seen = lookOf(fleet, changed('orders'), ['payments/orders']);
  const elected = [clusterOf('orders', {}, { ...(status as object), leader: 'orders-1' } as never)];
  assert.deepEqual(due([checked('1', { seen })], elected, ['1']), []);
});

test("it is checked again when the fleet's spec changes, also if it touched nothing", () => {
  const moved = { ...fleet, metadata: { ...fleet.metadata, generation: 2 } };
  const untouched = { state: 'untouched', clusters: [], seen: lookOf(fleet, clusters, []) } as const;
  for (const remembered of [checked('1'), checked('1', untouched)]) {
    assert.deepEqual(due([remembered], clusters, ['1']), []);
    assert.equal(
      dueRequests(headsOf([request('1')]), [remembered], target, { fleet: moved, clusters, now: noon }).length,
      1,
    );
  }
});

test('two requests with one head are one check, of the older one from an own branch', () => {
  const heads = headsOf([request('9', sha), { ...request('3', sha), fork: true }, request('8', sha)]);
  const [due, ...others] = dueRequests(heads, [], target, { fleet, clusters, now: noon });
  assert.deepEqual(others, []);
  assert.deepEqual([due?.request.number, due?.others.map(({ number }) => number)], ['8', ['9', '3']]);
});

test('a second request with a head that was checked has it checked again, once', () => {
  const heads = headsOf([request('1'), { ...request('2'), headSha: request('1').headSha }]);
  const again = (check: RequestCheck) => dueRequests(heads, [check], target, { fleet, clusters, now: noon }).length;
  assert.equal(again(checked('1')), 1);
  assert.equal(again(checked('1', { others: [{ number: '2' }] })), 0);
});

function fork(number: number, author = String(number)): ChangeRequest {
  return { ...request(String(number), number.toString(16).padStart(40, '0')), fork: true, author };
}

function numbersChosen(requests: readonly ChangeRequest[], remembered: readonly RequestCheck[] = [], now = noon) {
  const due = dueRequests(headsOf(requests), remembered, target, { fleet, clusters, now });
  return chosenOf(due).map((one) => Number(one.request.number));
}

const count = (from: number, to: number) => Array.from({ length: to - from + 1 }, (_, index) => from + index);

test('own branches come first, then forks, of each the oldest first, and ten in all', () => {
  const own = [50, 40, 30].map((number) => ({ ...fork(number), fork: false, author: 'ada' }));
  const forks = count(1, 20).map((number) => fork(number));
  assert.deepEqual(numbersChosen([...own, ...forks]), [30, 40, 50, 1, 2, 3, 4, 5, 6, 7]);
});

test('three places are kept for forks where own branches would take all of them', () => {
  const own = count(21, 40).map((number) => ({ ...fork(number), fork: false, author: 'ada' }));
  assert.deepEqual(numbersChosen([...own, ...count(1, 5).map((number) => fork(number))]), [...count(21, 27), 1, 2, 3]);
  assert.deepEqual(numbersChosen([...own, fork(1)]), [...count(21, 29), 1]);
});

test('of an author of forks three are checked in a pass, also where the account is gone', () => {
  const of = (author: string, from: number) => count(from, from + 6).map((number) => fork(number, author));
  assert.deepEqual(numbersChosen([...of('<b>@all</b>', 1), ...of('', 11)]), [1, 2, 3, 11, 12, 13]);
});

test('what failed comes last, and of forks after what failed of own branches', () => {
  const error = (number: number, more: Partial<RequestCheck> = {}) =>
    checked(String(number), { head: number.toString(16).padStart(40, '0'), state: 'error', ...more });
  const own = { ...fork(9), fork: false };
  assert.deepEqual(numbersChosen([fork(1), own, fork(2)], [error(1, { fork: true }), error(9)]), [2, 9, 1]);
});

test('three hundred forks are each checked at some time, although a hundred are remembered', () => {
  const forks = count(1, 300).map((number) => fork(number));
  const seen = new Set<number>();
  for (let minute = 0; minute < 300; minute++) {
    const now = new Date(noon.getTime() + minute * 60_000);
    const chosen = numbersChosen(forks, [], now);
    assert.equal(chosen.length, 10);
    for (const number of chosen) seen.add(number);
  }
  assert.ok(seen.size > 290, `${seen.size} of 300`);
});

test('only a branch can be asked for', () => {
  const at = (ref: string) => branchOf({ spec: { git: { url: '', ref } } });
  assert.deepEqual(['main', 'refs/heads/team/x', 'refs/tags/v1', 'HEAD', sha].map(at), [
    'main',
    'team/x',
    undefined,
    undefined,
    undefined,
  ]);
});

test('checks are made where there is a forge, unless they are disabled or the fleet is suspended', () => {
  const { spec } = fleet;
  assert.deepEqual(
    [
      spec,
      { ...spec, suspend: true },
      { ...spec, checks: { pullRequests: 'Disabled' as const } },
      fleetWith().spec,
    ].map((spec) => areChecked({ spec })),
    [true, false, false, false],
  );
});

test('what was checked stays in the status through the passes that follow, word for word', () => {
  const now = new Date('2026-11-21T18:00:00Z');
  const reading = { kind: 'unchanged', revision: `main@sha1:${sha}` } as const;
  const outcome = { reading, retries: [], applied: true, changed: new Set<string>(), pruned: [] };
  const pass = (of: typeof fleet) => fleetStatus({ fleet: of, outcome, clusters: [], forge: { remembered: [] }, now });
  const failure = { reason: 'RateLimited', message: 'later' };
  const first = {
    ...fleet,
    status: withChecks({ ...fleet, status: pass(fleet) }, { change: () => [checked('1')], failure }, now),
  };
  const second = { ...first, status: pass(first) };
  assert.deepEqual(second.status, first.status);
  assert.deepEqual(withChecks(second, { change: () => [checked('1')], failure }, now), first.status);
  const disabled = { ...second, spec: { ...fleet.spec, checks: { pullRequests: 'Disabled' as const } } };
  const after = pass(disabled);
  assert.deepEqual(after.checks, second.status.checks, 'until their reports are gone');
  assert.ok(!after.conditions?.some(({ type }) => type === 'RequestsChecked'));
});
