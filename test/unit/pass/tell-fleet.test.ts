import assert from 'node:assert/strict';
import { test } from 'node:test';
import { reportFleet } from '../../../functions/pass/report-fleet.ts';
import type { EtcdFleet } from '../../../manifests/api/etcd-fleet.ts';
import type { Event } from '../../../manifests/kube-types.ts';
import { resources } from '../../../reconcile/interfaces/kube.ts';
import { createFakeKube, type FakeKube } from '../../support/fakes/kube.ts';
import { fleetWith, revision, treeOf } from '../fleet/objects.ts';

const now = new Date('2026-11-23T12:00:00Z');

function world(options: Parameters<typeof createFakeKube>[0] = {}): FakeKube {
  const kube = createFakeKube({ clock: () => now, ...options });
  kube.seed(resources.fleets, fleetWith({}));
  return kube;
}

function stored(kube: FakeKube): EtcdFleet {
  const [fleet] = kube.stored<EtcdFleet>(resources.fleets);
  assert.ok(fleet);
  return fleet;
}

/** A pass that has applied a commit without clusters. */
async function report(kube: FakeKube, fleet: EtcdFleet): Promise<readonly object[]> {
  const lines: object[] = [];
  const reading = { kind: 'tree', revision, tree: treeOf([]) } as const;
  const unlisted = { kept: [], notes: [] };
  const done = {
    problems: [],
    retries: [],
    unlisted,
    inventory: [],
    applied: true,
    changed: new Set<string>(),
    pruned: [],
  };
  const signal = AbortSignal.timeout(10_000);
  const context = { signal, forgeDeadline: Date.now(), always: true, fleets: [fleet] };
  const log = (line: object) => void lines.push(line);
  await reportFleet({ fleet, outcome: { reading, ...done } }, [], { kube, log, ...context });
  return lines;
}

test('a fleet has an event for a commit that is applied, and none where nothing is new', async () => {
  const kube = world();
  await report(kube, stored(kube));
  await report(kube, stored(kube));
  const events = kube.stored<Event>(resources.events);
  assert.deepEqual(
    events.map(({ type, reason, note, regarding }) => [type, reason, note, regarding?.kind]).toSorted(),
    [
      ['Normal', 'Applied', `${revision} is applied`, 'EtcdFleet'],
      [
        'Normal',
        'NoClusters',
        stored(kube).status?.conditions?.find(({ type }) => type === 'Ready')?.message,
        'EtcdFleet',
      ],
    ],
  );
  assert.equal(events[0]?.regarding?.uid, stored(kube).metadata.uid);
});

test('two invocations that report the same write each event once', async () => {
  const kube = world();
  const seen = stored(kube);
  await Promise.all([report(kube, seen), report(kube, seen)]);
  assert.equal(kube.stored(resources.events).length, 2);
});

test('a report that was not written has no event, and one that is refused is in the log', async () => {
  const silent = world({ authorize: ({ key }) => key !== 'PUT etcdfleets/status' });
  await report(silent, stored(silent));
  assert.equal(silent.stored(resources.events).length, 0);
  const kube = world({ authorize: ({ key }) => key !== 'POST events' });
  const lines = await report(kube, stored(kube));
  assert.equal(stored(kube).status?.history?.[0]?.outcome, 'Applied');
  assert.match(JSON.stringify(lines), /Forbidden/);
});
