import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { describe } from '../../../gitops/statuses/describe.ts';
import { kstatusOf } from '../../../reconcile/fleet/kstatus.ts';
import type { FleetOutcome } from '../../../reconcile/fleet/outcome.ts';
import { pageLinks } from '../../../reconcile/fleet/page-links.ts';
import type { Reading } from '../../../reconcile/fleet/reading.ts';
import { verdictsOf } from '../../../reconcile/fleet/roll-up.ts';
import { fleetStatus } from '../../../reconcile/fleet/status.ts';
import { wantedStatuses } from '../../../reconcile/fleet/wanted-statuses.ts';
import { differs } from '../../../reconcile/fleet/write.ts';
import { conditionOf } from '../../../reconcile/objects/conditions.ts';
import { mentioning } from '../../../reconcile/reasons/runbook.ts';
import { clusterOf, conditions, fleetWith, problemAbout, revision, sha, treeOf } from './objects.ts';

const now = new Date('2026-05-01T10:00:00.123Z');
const ready = (name: string) =>
  clusterOf(name, {}, { observedGeneration: 1, conditions: conditions(['Ready', 'True', 'all healthy']) });
const busy = (name: string) =>
  clusterOf(
    name,
    {},
    { observedGeneration: 1, conditions: conditions(['Ready', 'False'], ['Reconciling', 'True', 'members start']) },
  );
const stalled = (name: string, message = 'no such image') =>
  clusterOf(
    name,
    {},
    { observedGeneration: 1, conditions: conditions(['Ready', 'False'], ['Stalled', 'True', message]) },
  );
const fresh = (name: string) =>
  clusterOf(name, { generation: 2 }, { observedGeneration: 1, conditions: conditions(['Ready', 'True']) });

function outcome(more: Partial<FleetOutcome> = {}): FleetOutcome {
  const reading = { kind: 'tree', revision, tree: treeOf([]) } as const;
  const unlisted = { kept: [], notes: [] };
  return {
    reading,
    problems: [],
    retries: [],
    unlisted,
    inventory: [],
    applied: true,
    changed: new Set(),
    pruned: [],
    ...more,
  };
}

const failed = (retryable: boolean): Reading => ({
  kind: 'failed',
  reason: 'Timeout',
  message: 'no answer',
  retryable,
});
const wanted = (
  clusters: readonly ReturnType<typeof clusterOf>[],
  more: Partial<FleetOutcome> = {},
  fleet = fleetWith({}, { forge: true }),
) => {
  const result = outcome(more);
  return wantedStatuses({ fleet, outcome: result, problems: result.problems ?? [], clusters: verdictsOf(clusters) });
};

test('the commit that changed a cluster is told what became of the plan, and no later one', () => {
  const plan = { asked: '1', generation: 1, at: '2026-05-01T10:00:00Z' };
  const planned = (
    state: 'AsPlanned' | 'Left' | 'UnderWay',
    message: string,
    { generation = 1, says = 'all healthy' } = {},
  ) =>
    clusterOf(
      'orders',
      {},
      {
        observedGeneration: 1,
        conditions: conditions(['Ready', 'True', says]),
        plan: { ...plan, state, message, generation },
      },
    );
  const changed = { changed: new Set(['payments/orders']) };
  const told = (
    cluster: ReturnType<typeof clusterOf>,
    more: Partial<FleetOutcome>,
    fleet?: ReturnType<typeof fleetWith>,
  ) => wanted([cluster], more, fleet)[1];
  const kept = planned('AsPlanned', 'as planned, 4 of 4 steps');
  const first = told(kept, changed);
  assert.equal(first?.description, 'all healthy; as planned, 4 of 4 steps');
  const followUp = fleetWith({ commitStatuses: first && [first] }, { forge: true });
  assert.equal(
    told(kept, {}, followUp)?.description,
    first?.description,
    'a follow-up of the same commit says so, too',
  );
  assert.equal(told(kept, {})?.description, 'all healthy', 'another commit has not changed it');
  const long = planned('AsPlanned', 'as planned, 4 of 4 steps', {
    says: `all healthy; ${'orders-1 fills '.repeat(9)}`,
  });
  assert.match(told(long, changed)?.description ?? '', /^as planned, 4 of 4 steps; all healthy; .*…$/);
  const left = planned('Left', 'left its plan at step 3 of 5: it went otherwise');
  assert.equal(told(left, changed)?.description, 'all healthy; left its plan at step 3 of 5: it went otherwise');
  assert.equal(told(planned('UnderWay', '1 of 2 steps'), changed)?.description, 'all healthy');
  assert.equal(told(planned('AsPlanned', 'of another spec', { generation: 7 }), changed)?.description, 'all healthy');
});

test('a commit succeeds when every cluster is ready', () => {
  assert.deepEqual(wanted([ready('orders')]), [
    { sha, context: 'etcd-ratchet/production', state: 'success', description: 'every cluster is ready' },
    { sha, context: 'etcd-ratchet/production/payments/orders', state: 'success', description: 'all healthy' },
  ]);
});

for (const [title, clusters, more, state, description] of [
  ['a cluster is busy', [ready('a'), busy('b')], {}, 'pending', 'payments/b: members start'],
  ['a cluster has not acted on it', [fresh('a')], {}, 'pending', 'payments/a: the change has not been acted on yet'],
  ['a cluster is stalled', [stalled('a'), busy('b')], {}, 'failure', 'payments/a: no such image'],
  [
    'a document is refused',
    [busy('a')],
    { problems: [problemAbout('x.yaml', 'x')], applied: false },
    'failure',
    'x.yaml:4:9: replicas must be a number',
  ],
  [
    'several are refused',
    [],
    { problems: [problemAbout('x.yaml'), problemAbout('y.yaml')], applied: false },
    'failure',
    'x.yaml:4:9: replicas must be a number; and others',
  ],
  [
    'something did not get through',
    [ready('a')],
    { retries: ['a was changed'], applied: false },
    'pending',
    'a was changed; this is tried again',
  ],
] as const) {
  test(`a commit is ${state} when ${title}`, () => {
    assert.partialDeepStrictEqual(wanted(clusters, more)[0], { state, description });
  });
}

test('a description that does not fit has its cure whole, no half link, and ends with a word', () => {
  const lost = 'orders had members, and none of their volumes exists; the cluster never starts empty in their place';
  const [, said] = wanted([
    stalled(
      'orders',
      `${mentioning(lost, `https://git.example.com/${'x'.repeat(60)}`)}. To go on: restore the disks themselves, or a backup`,
    ),
  ]);
  assert.equal(
    said?.description,
    'do: restore the disks themselves, or a backup; why: orders had members, and none of their volumes exists; the cluster never starts empty in…',
  );
});

test('a refused document fails its own cluster, which need not exist', () => {
  const statuses = wanted([ready('orders')], { problems: [problemAbout('x.yaml', 'x')], applied: false });
  assert.deepEqual(
    statuses.map(({ context, state }) => [context, state]),
    [
      ['etcd-ratchet/production', 'failure'],
      ['etcd-ratchet/production/payments/orders', 'success'],
      ['etcd-ratchet/production/payments/x', 'failure'],
    ],
  );
});

test('of a large fleet only clusters that the commit changed have a status, also later', () => {
  const many = Array.from({ length: 11 }, (_, index) => ready(`c${index}`));
  const first = wanted(many, { changed: new Set(['payments/c3']) });
  assert.deepEqual(
    first.map(({ context }) => context),
    ['etcd-ratchet/production', 'etcd-ratchet/production/payments/c3'],
  );
  const later = wanted(many, {}, fleetWith({ commitStatuses: [...first] }, { forge: true }));
  assert.deepEqual(later, first);
});

for (const [what, count, file] of [
  ['more problems than a status keeps', 25, 'x.yaml'],
  ['signs that change the direction of text', 1, '\u200fx.yaml'],
  ['characters that forges count twice', 1, `${'📦'.repeat(60)}.yaml`],
] as const) {
  test(`${what}: a follow-up says of each cluster what the tick said`, () => {
    const names = Array.from({ length: count }, (_, n) => `c${n}`);
    const clusters = names.map(ready);
    const problems = names.map((name) => ({ ...problemAbout(file, name), line: 1, message: `${name} is wrong` }));
    const tick = outcome({ problems, applied: false, changed: new Set(names.map((name) => `payments/${name}`)) });
    const before = fleetWith({ revision: { attempted: revision } }, { forge: true });
    const verdicts = verdictsOf(clusters);
    const first = wantedStatuses({ fleet: before, outcome: tick, problems, clusters: verdicts });
    const commitStatuses = first.map((one) => ({ ...one, description: describe(one.description) }));
    const forge = { remembered: commitStatuses };
    const status = fleetStatus({ fleet: before, outcome: tick, clusters: verdicts, forge, now });
    const fleet = { ...before, status };
    const { problems: _, ...skipped } = outcome({ reading: { kind: 'skipped', because: 'follow-up' } });
    const known = status.problems ?? [];
    assert.equal(first.filter(({ state }) => state === 'failure').length, count + 1);
    assert.deepEqual(
      wantedStatuses({ fleet, outcome: skipped, problems: known, clusters: verdicts }).slice(1),
      commitStatuses.slice(1),
    );
  });
}

test('where no commit can be named, nothing is said', () => {
  assert.deepEqual(wanted([], { reading: failed(true) }), []);
});

test('the status says what was observed, and an unread spec was not', () => {
  const report = { fleet: fleetWith({ observedGeneration: 0 }), clusters: [], now };
  assert.equal(fleetStatus({ ...report, outcome: outcome() }).observedGeneration, 1);
  const skipped = outcome({ reading: { kind: 'skipped', because: 'follow-up' } });
  assert.equal(fleetStatus({ ...report, outcome: skipped }).observedGeneration, 0);
  assert.equal(fleetStatus({ ...report, outcome: outcome() }).lastRun, '2026-05-01T10:00:00Z');
});

test('the applied revision moves only when all of it is applied', () => {
  const fleet = fleetWith({ revision: { attempted: revision, applied: 'main@sha1:old' } });
  const applied = (more: Partial<FleetOutcome>) =>
    fleetStatus({ fleet, outcome: outcome(more), clusters: [], now }).revision?.applied;
  assert.equal(applied({}), revision);
  assert.equal(applied({ applied: false }), 'main@sha1:old');
  assert.equal(applied({ reading: failed(true), applied: false }), 'main@sha1:old');
});

test('an equal report differs in nothing but the time', () => {
  const fleet = fleetWith();
  const first = fleetStatus({ fleet, outcome: outcome(), clusters: [], now });
  const again = fleetStatus({
    fleet: { ...fleet, status: first },
    outcome: outcome(),
    clusters: [],
    now: new Date(now.getTime() + 60_000),
  });
  assert.notEqual(first.lastRun, again.lastRun);
  assert.equal(differs(first, again), false);
});

test('property: kstatus reads every report as it is meant, and messages fit', () => {
  const makers = [ready, busy, stalled, fresh];
  const readings = fc.constantFrom<Reading>(
    { kind: 'tree', revision, tree: treeOf([]) },
    { kind: 'unchanged', revision },
    failed(true),
    failed(false),
    { kind: 'skipped', because: 'suspended' },
    { kind: 'skipped', because: 'follow-up' },
  );
  fc.assert(
    fc.property(
      readings,
      fc.array(fc.nat(3), { maxLength: 4 }),
      fc.array(fc.string({ maxLength: 400, unit: 'binary' }), { maxLength: 3 }),
      fc.array(fc.string({ maxLength: 400 }), { maxLength: 2 }),
      fc.boolean(),
      (reading, kinds, words, retries, forgeFails) => {
        const clusters = kinds.map((kind, index) => (makers[kind] ?? ready)(`c${index}`));
        const problems = words.map((message) => ({ ...problemAbout('x.yaml'), message }));
        const result = outcome({ reading, problems, retries, applied: false });
        const fleet = fleetWith({}, { forge: true });
        const verdicts = verdictsOf(clusters);
        const forge = {
          remembered: [],
          ...(forgeFails && { failure: { reason: 'ForgeFailing', message: 'it fails' } }),
        };
        const status = fleetStatus({ fleet, outcome: result, clusters: verdicts, forge, now });
        const seen = kstatusOf({ metadata: fleet.metadata, status });
        const is = (type: string) => conditionOf(status, type)?.status;

        assert.ok(is('Ready'));
        assert.ok(!(is('Stalled') && is('Reconciling')), 'never both');
        for (const abnormal of ['Stalled', 'Reconciling', 'Unlisted']) assert.notEqual(is(abnormal), 'False');
        if (is('Ready') === 'True') assert.ok(!is('Stalled') && !is('Reconciling'));
        else assert.ok(is('Stalled') || is('Reconciling'), 'not ready, and nobody says why');
        const person = problems.length > 0 || (reading.kind === 'failed' && !reading.retryable) || kinds.includes(2);
        if (person) assert.equal(seen, 'Failed');
        if (seen === 'Current') assert.ok(kinds.every((kind) => kind === 0) && retries.length === 0);
        const total = status.clusters;
        assert.equal(total?.total, (total?.ready ?? 0) + (total?.reconciling ?? 0) + (total?.stalled ?? 0));
        for (const { description } of wantedStatuses({ fleet, outcome: result, problems, clusters: verdicts })) {
          assert.ok(description.length <= 140);
          assert.equal(describe(description), description, 'what is sent is what is remembered, and compared');
        }
      },
    ),
    { numRuns: 1000 },
  );
});

test('statuses lead to the page where there is one, unless its address is too long', () => {
  const fleet = fleetWith({}, { forge: true });
  const clusters = [ready('orders')];
  const leads = (base: string) =>
    wantedStatuses({
      fleet,
      outcome: outcome(),
      problems: [],
      clusters: verdictsOf(clusters),
      links: pageLinks(base),
    }).map(({ targetURL }) => targetURL);
  assert.deepEqual(leads('https://ops.example.com/etcd/'), [
    'https://ops.example.com/etcd/fleets/platform/production',
    'https://ops.example.com/etcd/clusters/payments/orders',
  ]);
  assert.deepEqual(leads(`https://ops.example.com/${'x'.repeat(230)}`), [undefined, undefined]);
  for (const status of wanted(clusters)) assert.ok(!('targetURL' in status));
});

const out = { type: 'Available', status: 'False', reason: 'NoSpace', message: 'no writes' } as const;

/** Another cluster is busy before it, by name. */
function down(generation = 1, ...more: ReturnType<typeof conditions>) {
  const told = [...more, { ...out, lastTransitionTime: '2026-05-01T09:00:00Z' }];
  return clusterOf('orders', { generation }, { observedGeneration: 1, conditions: told });
}

test('an outage is told before what is only awaited, in the same words for the fleet', () => {
  const waits = down(1, ...conditions(['Ready', 'False'], ['Reconciling', 'True', 'no writes; it waits']));
  const [ofFleet] = wanted([busy('audit'), waits], { retries: ['the forge is silent'] });
  assert.partialDeepStrictEqual(ofFleet, { state: 'pending', description: 'payments/orders: no writes; it waits' });
});

test('an outage is told also while its cluster has not seen the newest commit yet', () => {
  const [ofFleet] = wanted([down(2, ...conditions(['Ready', 'False', 'x']))]);
  const description = 'payments/orders: no writes; the change has not been acted on yet';
  assert.partialDeepStrictEqual(ofFleet, { state: 'pending', description });
});

test('an outage is told beside what needs a person elsewhere, and once where both are one', () => {
  const waits = down(1, ...conditions(['Ready', 'False'], ['Reconciling', 'True', 'no writes; it waits']));
  const [both] = wanted([stalled('audit'), waits]);
  const description = 'payments/audit: no such image; payments/orders: no writes; it waits';
  assert.partialDeepStrictEqual(both, { state: 'failure', description });
  const stuck = down(1, ...conditions(['Ready', 'False'], ['Stalled', 'True', 'no writes: raise it']));
  const [first] = wanted([stalled('audit'), stuck]);
  assert.partialDeepStrictEqual(first, { state: 'failure', description: 'payments/orders: no writes: raise it' });
});

test('a cluster that is being deleted is no outage', () => {
  const going = clusterOf('orders', { deletionTimestamp: '2026-05-01T09:00:00Z' }, down().status);
  const [ofFleet] = wanted([busy('audit'), going]);
  assert.partialDeepStrictEqual(ofFleet, { description: 'payments/audit: members start' });
});
