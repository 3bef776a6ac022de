import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import * as fc from 'fast-check';
import { decide } from '../../../reconcile/cluster/decide/decide.ts';
import type { Decision } from '../../../reconcile/cluster/know/decision.ts';
import { recordOf } from '../../../reconcile/cluster/know/life.ts';
import type { Observation, Slot } from '../../../reconcile/cluster/know/observation.ts';
import { situate } from '../../../reconcile/cluster/know/situation.ts';
import { statusFor } from '../../../reconcile/cluster/report/status.ts';
import type { FleetOutcome } from '../../../reconcile/fleet/outcome.ts';
import { verdictsOf } from '../../../reconcile/fleet/roll-up.ts';
import { progressOf } from '../../../reconcile/fleet/statements.ts';
import { fleetStates } from '../../../reconcile/fleet/wanted-statuses.ts';
import { observations } from './arbitrary.ts';
import {
  all,
  type Differences,
  endpoint,
  healthy,
  noQuorum,
  silent,
  withEndpoint,
  withInputs,
  withPod,
  withRecord,
} from './observations.ts';

const quota = 256 * 2 ** 20;
const twice = { quotaBackendBytes: '512Mi' } as const;
const alarm = ['memberID:161 alarm:NOSPACE '];
const wrong = ['memberID:161 alarm:CORRUPT '];

/** Its data fill the quota, and a rewritten file has told so. */
function full(slot: Slot): Slot {
  const size = BigInt(quota);
  const told = { dbSize: size, dbSizeInUse: size, errors: alarm };
  const defragmented = { at: new Date('2026-01-02T02:00:00Z'), vain: 1, bareAt: 10n };
  const seen = withPod({ quota })(withEndpoint(endpoint(slot.ordinal, told))(slot));
  return seen.peer ? { ...seen, peer: { ...seen.peer, defragmented } } : seen;
}

function fullOf(differences: Differences = {}, more: Partial<Observation> = {}): Observation {
  return { ...healthy(3, { every: full, ...differences }), hasHistory: false, ...more };
}

const crowdedBy = ['shop/other'];
const shut = { maintenance: { windows: [{ start: '0 2 1 6 *', duration: '1h' }] } };
const older = all(full, withInputs({ resources: { limits: { memory: '1Gi' } } }));
const pending = { before: 'upgrade', kind: 'known', state: 'under-way', name: 'b', message: 'it is copied' } as const;
const awaitedBackup = { ...pending, askedAt: new Date('2026-01-02T03:04:00Z'), startedAt: new Date(0) } as never;
const backup = { store: { persistentVolumeClaim: { claimName: 'backups' } }, beforeUpgrade: 'Required' } as never;

describe('a larger quota for a cluster that accepts no writes', () => {
  for (const [what, observation] of [
    ['room in the fleet', fullOf({ spec: { etcd: twice } }, { crowdedBy })],
    ['a window', fullOf({ spec: { etcd: twice, ...shut } })],
    ['an upgrade in the same commit', fullOf({ spec: { etcd: twice, version: '3.7.3' } })],
    ['the backup before that', fullOf({ spec: { etcd: twice, version: '3.7.3', backup } }, { awaitedBackup })],
    ['the removal of a member', fullOf({ spec: { etcd: twice, replicas: 1 } }, { crowdedBy })],
  ] as const satisfies readonly (readonly [string, Observation])[]) {
    test(`does not wait for ${what}`, () => {
      const decision = decide(observation);
      assert.partialDeepStrictEqual(decision, {
        reason: 'NoSpace',
        action: { kind: 'change-template', inputs: { etcd: twice, version: '3.6.16' } },
      });
    });
  }

  test('is rolled as any other configuration while writes are accepted', () => {
    const decision = decide({ ...healthy(3, { spec: { etcd: twice } }), crowdedBy });
    assert.equal(decision.reason, 'WaitingForRoom');
  });

  test('is not rolled before a stop that a person asks for', () => {
    assert.equal(decide(fullOf({ spec: { etcd: twice, replicas: 0 } })).reason, 'Hibernating');
  });

  test('comes alone: the rest of its commit begins when writes are accepted again', () => {
    const decision = decide(fullOf({ spec: { etcd: { ...twice, snapshotCount: 5000 } } }));
    assert.deepEqual(
      decision.kind === 'act' && decision.action.kind === 'change-template' && decision.action.inputs.etcd,
      twice,
    );
  });
});

describe('a change that waits while etcd accepts no writes', () => {
  for (const [what, observation] of [
    ['for room', fullOf({ every: older }, { crowdedBy })],
    ['for a window', fullOf({ every: older, spec: shut })],
    ['for a backup', fullOf({ spec: { version: '3.7.3', backup } }, { awaitedBackup })],
    ['for room to hibernate', fullOf({ spec: { replicas: 0 } }, { crowdedBy })],
    [
      'for a window that never opens',
      fullOf({ every: older, spec: { maintenance: { windows: [{ start: 'x', duration: '1h' }] } } as never }),
    ],
  ] as const satisfies readonly (readonly [string, Observation])[]) {
    test(`${what}: a person is still told, with the cure`, () => {
      const decision = decide(observation);
      assert.partialDeepStrictEqual(decision, { kind: 'refuse', reason: 'NoSpace' });
      assert.match(decision.kind === 'refuse' ? decision.cure : '', /quotaBackendBytes/);
    });
  }

  test('and no other change begins in its place', () => {
    const more = { every: older, spec: { ...shut, replicas: 5 } };
    assert.equal(decide(fullOf(more, { crowdedBy })).kind, 'refuse');
  });
});

const none: FleetOutcome = {
  reading: { kind: 'skipped', because: 'follow-up' },
  retries: [],
  changed: new Set(),
} as unknown as FleetOutcome;

interface Told {
  readonly available?: { readonly status: string; readonly reason: string } | undefined;
  readonly ready: string;
  readonly fleet: { readonly state: string; readonly message: string };
}

/** The report on the cluster, and that of a fleet that has nothing else to say. */
function toldOf(observation: Observation, decision: Decision = decide(observation)): Told {
  const status = statusFor(situate(observation), decision, { kind: 'none' });
  const { cluster } = observation;
  const [verdict] = verdictsOf([{ ...cluster, status }]);
  assert.ok(verdict);
  const fleet = { metadata: { name: 'f', namespace: 'n' }, spec: { git: { url: 'u', ref: 'main' } } } as never;
  const busy = { namespace: 'a', name: 'a', verdict: 'InProgress', message: 'waits' } as const;
  const { kind, message } = progressOf({ fleet, outcome: none, problems: [], clusters: [busy, verdict] });
  const of = (type: string) => status.conditions?.find((one) => one.type === type);
  return {
    available: of('Available'),
    ready: of('Ready')?.message ?? '',
    fleet: { state: fleetStates[kind], message },
  };
}

describe('an outage is told, whatever is waited for', () => {
  const lost = { every: withEndpoint(silent), membership: noQuorum('no member runs') };
  for (const [what, observation, reason, words, state] of [
    ['out of space, while a person is needed', fullOf(), 'NoSpace', /no writes/, 'failure'],
    [
      'out of space, and another change waits',
      fullOf({ every: older }, { crowdedBy }),
      'NoSpace',
      /no writes/,
      'failure',
    ],
    ['out of space, and suspended', fullOf({ spec: { suspend: true } }), 'NoSpace', /no writes/, 'failure'],
    ['out of space, while its cure goes on', fullOf({ spec: { etcd: twice } }), 'NoSpace', /no writes/, 'pending'],
    [
      'out of space, while a pod starts',
      fullOf({ slots: { 1: all(full, withPod({ ready: false })) } }),
      'NoSpace',
      /no writes/,
      'pending',
    ],
    [
      'data that differ',
      healthy(3, { every: (slot) => withEndpoint(endpoint(slot.ordinal, { errors: wrong }))(slot) }),
      'Corrupt',
      /no writes/,
      'pending',
    ],
    ['no quorum', healthy(3, lost), 'NoQuorum', /quorum/, 'pending'],
    ['no quorum, and suspended', healthy(3, { ...lost, spec: { suspend: true } }), 'NoQuorum', /quorum/, 'failure'],
  ] as const satisfies readonly (readonly [string, Observation, string, RegExp, string])[]) {
    test(`of a cluster with ${what}`, () => {
      const told = toldOf(observation);
      assert.partialDeepStrictEqual(told.available, { status: 'False', reason });
      assert.match(told.ready, words);
      assert.match(told.fleet.message, words);
      assert.equal(told.fleet.state, state);
    });
  }

  test('of any cluster that refuses writes or has no quorum, whatever is decided', () => {
    const seen = new Set<string>();
    fc.assert(
      fc.property(observations, fc.constantFrom('none', 'space', 'data'), fc.boolean(), (any, how, crowded) => {
        const errors = { none: [], space: alarm, data: wrong }[how];
        const slots = any.slots.map((slot): Slot => {
          const { endpoint: found } = slot;
          return found.kind === 'unknown'
            ? slot
            : { ...slot, endpoint: { ...found, status: { ...found.status, errors } } };
        });
        const observation: Observation = { ...any, slots, ...(crowded && { crowdedBy }) };
        const { cluster, membership, lease } = observation;
        // Another invocation acts: it reports.
        if (cluster.metadata.deletionTimestamp !== undefined || lease.kind === 'held') return;
        const refuses =
          membership.kind === 'known' &&
          slots.some(({ endpoint: one }) => one.kind === 'known' && one.status.errors.length > 0);
        const sealed =
          slots.length > 0 && slots.every((slot) => recordOf(slot)?.state === 'sealed' && !slot.volume?.leaving);
        const isDark =
          membership.kind === 'unknown' &&
          sealed &&
          cluster.spec.replicas > 0 &&
          situate(observation).life.stage === 'born';
        if (!refuses && !isDark) return;
        const told = toldOf(observation);
        seen.add(`${told.available?.reason} ${told.fleet.state}`);
        assert.equal(told.available?.status, 'False');
        const words = refuses ? /no writes|writes are accepted again/ : /quorum|every member of \S+ is lost/;
        assert.match(told.ready, words);
        assert.match(told.fleet.message, words);
        assert.notEqual(told.fleet.state, 'success');
      }),
      { numRuns: 3000 },
    );
    for (const one of ['NoSpace', 'Corrupt', 'NoQuorum'])
      for (const state of ['pending', 'failure']) assert.ok(seen.has(`${one} ${state}`), `${one} ${state}`);
  });

  test('a cluster that hibernates, or wakes, is no outage', () => {
    const every = all(withRecord({ state: 'hibernating' }), withEndpoint(silent));
    for (const replicas of [0, 3]) {
      const asleep = healthy(3, { ...lost, every, spec: { replicas } });
      assert.partialDeepStrictEqual(toldOf(asleep).available, { status: 'False', reason: 'Hibernating' });
    }
  });
});
