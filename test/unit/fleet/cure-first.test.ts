import assert from 'node:assert/strict';
import { describe as group, test } from 'node:test';
import fc from 'fast-check';
import { describe } from '../../../gitops/statuses/describe.ts';
import { longestDescription } from '../../../manifests/description.ts';
import { statementsFor } from '../../../reconcile/cluster/report/conditions.ts';
import { inBrief } from '../../../reconcile/fleet/in-brief.ts';
import { type ClusterVerdict, verdictOf } from '../../../reconcile/fleet/roll-up.ts';
import { wantedStatuses } from '../../../reconcile/fleet/wanted-statuses.ts';
import { meanings } from '../../../reconcile/reasons/reasons.ts';
import { type RefusalReason, refusals } from '../../../reconcile/reasons/refusals.ts';
import { clusterOf, fleetWith, problemAbout, revision, treeOf } from './objects.ts';

/** As long as Kubernetes lets them be. */
const longest = { namespace: 'n'.repeat(63), name: 'c'.repeat(48) };
const at = '2026-05-01T10:00:00Z';

function verdictOn(reason: RefusalReason, message: string, cure: string, { namespace = 'payments', name = 'orders' }) {
  const told = statementsFor({ kind: 'refuse', reason, message, cure }, { kind: 'none' }, { allHealthy: false });
  const conditions = told.map((one) => ({ ...one, lastTransitionTime: at }));
  return verdictOf(clusterOf(name, { namespace }, { observedGeneration: 1, conditions }));
}

function descriptionsOf(clusters: readonly ClusterVerdict[], problems = [] as ReturnType<typeof problemAbout>[]) {
  const outcome = {
    ...{ reading: { kind: 'tree', revision, tree: treeOf([]) } as const, problems, retries: [], inventory: [] },
    ...{ unlisted: { kept: [], notes: [] }, applied: true, changed: new Set<string>(), pruned: [] },
  };
  return wantedStatuses({ fleet: fleetWith({}, { forge: true }), outcome, problems, clusters }).map(
    ({ description }) => description,
  );
}

/** What a person is told to do, and nothing of it is missing. */
function assertCureFirst(description: string, about: string, wholes: readonly string[]): void {
  assert.ok(description.length <= longestDescription, description);
  assert.equal(describe(description), description, 'what is sent is what is remembered');
  const starts = wholes.flatMap((whole) => [`${about}do: ${whole}`, `do: ${whole}`]);
  assert.ok(
    starts.some((start) => description === start || description.startsWith(`${start}; why: `)),
    description,
  );
}

const lengths = {
  'a short message': 'it is so',
  'a long one': `member orders-0 ${'is not as it should be, '.repeat(30)}`,
};
const names = { 'short names': { namespace: 'payments', name: 'orders' }, 'the longest names': longest };
const reasons = Object.keys(refusals) as RefusalReason[];

group('a commit status has the cure of every reason that needs a person first, and whole', () => {
  for (const [length, message] of Object.entries(lengths))
    for (const [called, place] of Object.entries(names))
      test(`${length}, ${called}`, () => {
        assert.ok(reasons.length > 50);
        for (const reason of reasons) {
          const { cure } = meanings[reason];
          const verdict = verdictOn(reason, message, cure, place);
          const why = `kubectl ratchet -n ${place.namespace} why ${place.name}`;
          const [ofFleet = '', ofCluster = ''] = descriptionsOf([verdict]);
          const whole = cure.replaceAll(/\s+/g, ' ');
          assertCureFirst(ofCluster, '', [whole, why]);
          assertCureFirst(ofFleet, `${place.namespace}/${place.name}: `, [whole, why]);
        }
      });
});

test('a cure that fits is the cure itself, and then the reason as far as there is room', () => {
  const [ofFleet, ofCluster] = descriptionsOf([
    verdictOn('QuorumLost', `the members orders-0 and orders-1 ${'are lost, '.repeat(20)}`, 'restore both disks', {}),
  ]);
  assert.match(ofFleet ?? '', /^payments\/orders: do: restore both disks; why: the members orders-0 .*…$/);
  assert.match(ofCluster ?? '', /^do: restore both disks; why: the members orders-0 .*…$/);
});

test('of an object of another kind, the command that shows its cure is one of kubectl', () => {
  for (const [kind, place, command] of [
    ['EtcdBackup', { namespace: 'payments' }, 'kubectl -n payments describe etcdbackups.etcd.ratchet.dev orders'],
    ['EtcdNodePolicy', { namespace: '' }, 'kubectl describe etcdnodepolicies.etcd.ratchet.dev orders'],
  ] as const) {
    const message = `it failed. To go on: ${'correct it, '.repeat(20)}`;
    const described = descriptionsOf([{ kind, ...place, name: 'orders', verdict: 'Failed', message }]);
    for (const description of described)
      assert.equal(description, `do: ${command}; why: ${about(description)}it failed`);
  }
  function about(description: string): string {
    return /why: (.*)it failed/.exec(description)?.[1] ?? '';
  }
});

test('a refused document keeps its place first, and its cure whole', () => {
  const problem = { ...problemAbout('x.yaml'), message: `${'it is refused, '.repeat(20)}. To go on: let the fleet in` };
  const [ofFleet] = descriptionsOf([], [problem]);
  assert.match(ofFleet ?? '', /^x\.yaml:4:9: do: let the fleet in; why: it is refused, .*…$/);
  const long = { ...problem, message: `the fleet may not write there. To go on: ${'let it in, '.repeat(20)}` };
  const [cut] = descriptionsOf([], [long]);
  const command = 'kubectl -n platform describe etcdfleets.etcd.ratchet.dev production';
  assert.equal(cut, `x.yaml:4:9: do: ${command}; why: the fleet may not write there`);
});

test('whatever a message says, its line fits, and its instruction is never cut', () => {
  const text = fc.string({ unit: 'binary', maxLength: 200 });
  const line = (message: string) => inBrief({ message }, { longest: Number.MAX_SAFE_INTEGER });
  fc.assert(
    fc.property(text, text, text, fc.string({ maxLength: 160 }), (about, what, cure, pointer) => {
      const told = inBrief({ about, message: `${what}. To go on: ${cure}` }, { pointer });
      const wholes = [`${about}do: ${cure}`, `do: ${pointer}`, 'do: see the conditions'].map(line);
      assert.ok(told.length <= longestDescription);
      assert.ok(told.isWellFormed());
      assert.ok(
        wholes.some((whole) => told === whole || told.startsWith(`${whole}; why: `)),
        told,
      );
      assert.equal(describe(told), told);
    }),
  );
});
