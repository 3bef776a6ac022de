import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { clusterState, fleetState, memberState, readyState } from '../../../functions/page/state.ts';
import type { EtcdCluster } from '../../../manifests/api/etcd-cluster.ts';
import type { KStatus } from '../../../reconcile/fleet/kstatus.ts';
import type { FleetOutcome } from '../../../reconcile/fleet/outcome.ts';
import { rollUp, verdictsOf } from '../../../reconcile/fleet/roll-up.ts';
import { states } from '../../../reconcile/fleet/states.ts';
import { wantedStatuses } from '../../../reconcile/fleet/wanted-statuses.ts';
import { resources } from '../../../reconcile/interfaces/kube.ts';
import { isTrue } from '../../../reconcile/objects/conditions.ts';
import { createFakeKube } from '../../support/fakes/kube.ts';
import { before, cluster, condition, fleet, member } from '../../support/page/scene.ts';
import { pages } from '../../support/page/server.ts';
import { textOf } from '../../support/page/words.ts';
import { now, saidOn } from '../../support/plugin/said.ts';
import { clusterOf, conditions, fleetWith, revision, treeOf } from './objects.ts';

/** One word for a state in every view: conditions, roll-up, commit status, page and plugin say the same. */

const observedGeneration = 1;
const ready = { observedGeneration, conditions: conditions(['Ready', 'True', 'all healthy']) };
const busy = { observedGeneration, conditions: conditions(['Ready', 'False'], ['Reconciling', 'True', 'it starts']) };
const stuck = { observedGeneration, conditions: conditions(['Ready', 'False'], ['Stalled', 'True', 'no such image']) };

const examples = {
  Current: clusterOf('orders', {}, ready),
  InProgress: clusterOf('orders', {}, busy),
  Terminating: clusterOf('orders', { deletionTimestamp: '2026-05-01T10:00:00Z' }, ready),
  Failed: clusterOf('orders', {}, stuck),
} satisfies Record<KStatus, EtcdCluster>;

const outcome: FleetOutcome = {
  reading: { kind: 'tree', revision, tree: treeOf([]) },
  problems: [],
  retries: [],
  unlisted: { kept: [], notes: [] },
  inventory: [],
  applied: true,
  changed: new Set(),
  pruned: [],
};

for (const [verdict, cluster] of Object.entries(examples) as [KStatus, EtcdCluster][]) {
  const { word, count, commit } = states[verdict];

  describe(`a cluster that is ${verdict} to kstatus`, () => {
    const verdicts = verdictsOf([cluster]);

    test(`is ${word} on the page`, () => assert.equal(clusterState(cluster).word, word));

    test(`has the condition ${word}, but for a deletion, which has a timestamp`, () => {
      if (word !== 'Deleting') assert.ok(isTrue(cluster.status, word));
      else assert.ok(cluster.metadata.deletionTimestamp);
    });

    test(`is counted as ${count} by its fleet`, () => {
      const counted = { total: 1, ready: 0, reconciling: 0, stalled: 0, [count]: 1 };
      assert.deepEqual(rollUp(verdicts), counted);
    });

    test(`makes its commit ${commit}, and that of its fleet`, () => {
      const of = fleetWith({}, { forge: true });
      const told = wantedStatuses({ fleet: of, outcome, problems: [], clusters: verdicts });
      assert.deepEqual(
        told.map(({ state }) => state),
        [commit, commit],
      );
    });

    test(`is ${word} to kubectl ratchet status and why`, async () => {
      const kube = createFakeKube({ clock: () => now });
      kube.seed(resources.clusters, cluster);
      const { out } = await saidOn(kube, ['status']);
      assert.match(out, new RegExp(`\\norders +${word} `));
      const why = await saidOn(kube, ['why', 'orders']);
      assert.match(why.out, new RegExp(`^payments/orders: ${word}\\n`));
    });
  });
}

describe('what no pass has looked at', () => {
  const { word } = states.InProgress;

  test('is Reconciling as a cluster, as a fleet, and as a backup', () => {
    const words = [
      clusterState(clusterOf('orders', {})),
      fleetState(fleet('production', { conditions: [] })),
      readyState(undefined),
    ];
    assert.deepEqual(
      words.map((state) => state.word),
      [word, word, word],
    );
  });
});

test('a fleet has the same words as a cluster', () => {
  const rows = [
    ['Ready', 'True', states.Current],
    ['Ready', 'False', states.InProgress],
    ['Stalled', 'True', states.Failed],
  ] as const;
  for (const [type, status, { word }] of rows)
    assert.equal(fleetState(fleet('production', { conditions: [condition(type, status, 'Any', 'x')] })).word, word);
});

test('a member has the same word on the page and in kubectl ratchet', async () => {
  const unhealthy = { healthy: false, unhealthySince: before(120) };
  const members = [member('m-0'), member('m-1', unhealthy), member('m-2', { healthy: false })];
  const found = cluster('payments/m', { members });
  const kube = createFakeKube({ clock: () => now });
  kube.seed(resources.clusters, found);
  const { out } = await saidOn(kube, ['members', 'm']);
  const page = textOf(await (await pages({ clusters: [found] }).get('/clusters/payments/m')).text());
  for (const one of members) {
    const { word } = memberState(one);
    assert.match(out, new RegExp(`${one.name} .*\\b${word}\\b`));
    assert.match(page, new RegExp(`${one.name}\\s+${word}\\b`));
  }
});

for (const reason of ['Hibernating', 'Suspended', 'Paused'])
  test(`a cluster that rests because a person asked for it is ${reason} in each view`, async () => {
    const status = { observedGeneration, conditions: [condition('Ready', 'True', reason, 'as asked')] };
    const resting = clusterOf('orders', {}, status);
    assert.equal(clusterState(resting).word, reason);
    assert.equal(rollUp(verdictsOf([resting])).ready, 1);
    const kube = createFakeKube({ clock: () => now });
    kube.seed(resources.clusters, resting);
    assert.match((await saidOn(kube, ['status'])).out, new RegExp(`\\norders +${reason} `));
  });
