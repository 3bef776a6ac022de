import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { inputsHash } from '../../../manifests/render/inputs-hash.ts';
import { decide } from '../../../reconcile/cluster/decide/decide.ts';
import type { Observation, Slot } from '../../../reconcile/cluster/know/observation.ts';
import { situate } from '../../../reconcile/cluster/know/situation.ts';
import {
  all,
  endpoint,
  healthy,
  prepared,
  silent,
  starting,
  unborn,
  waiting,
  withContainer,
  withEndpoint,
  withInputs,
  without,
  withPod,
  withRecord,
} from './observations.ts';

const version = (observation: Observation) => situate(observation).effective.inputs.version;
const pending = (observation: Observation) => situate(observation).effective.pending?.kind;
const refusals = (observation: Observation) => situate(observation).effective.refusals.map(({ reason }) => reason);

/** Every trace of it says that it runs this version, and always has. */
const on = (wanted: string) => (slot: Slot) => {
  const status = slot.endpoint.kind === 'known' ? slot.endpoint.status : undefined;
  const minor = wanted.split('.').slice(0, 2).join('.');
  const changed = all(
    withInputs({ version: wanted }),
    withRecord({ version: wanted, minorSince: { minor, index: '0' } }),
    withPod({ version: wanted }),
    status ? withEndpoint({ kind: 'known', status: { ...status, version: wanted } }) : (same: Slot) => same,
  )(slot);
  if (!changed.peer || !changed.statefulSet) return changed;
  return { ...changed, statefulSet: { ...changed.statefulSet, inputsHash: inputsHash(changed.peer.inputs) } };
};
/** It was given this version, and its volume knows what it ran before. */
const upgradedTo = (to: string, from: string) => all(on(to), withRecord({ version: from, nextVersion: to }));
/** It was given this version and has never got to start on it. */
const toldOf = (to: string, from: string) =>
  all(on(from), withInputs({ version: to }), withRecord({ nextVersion: to }), waiting, withPod({ version: to }));

/** All members on `runs`, but for those that are listed; the cluster version is that of `settled`. */
function cluster(
  runs: string,
  wanted: string,
  settled = `${runs.split('.').slice(0, 2).join('.')}.0`,
  slots: Readonly<Record<number, (slot: Slot) => Slot>> = {},
): Observation {
  return { ...healthy(3, { spec: { version: wanted }, every: on(runs), slots }), clusterVersion: settled };
}

describe('the version that members get', () => {
  test('is the one of the spec before anything ran', () => {
    assert.equal(version(unborn(3, { spec: { version: '3.7.3' } })), '3.7.3');
    assert.equal(version(prepared(3, { spec: { version: '3.5.35' } })), '3.5.35');
    assert.equal(version(starting(3, { spec: { version: '3.5.35' } })), '3.5.35');
  });

  test('does not go down where members may have started for peers that are gone', () => {
    const before = withRecord({ mayHaveStarted: 'peer-of-before' });
    const observation = starting(3, { spec: { version: '3.5.35' }, every: before });
    assert.equal(version(observation), '3.6.16');
    assert.deepEqual(refusals(observation), ['DowngradeRefused']);
  });

  test('loses the v that a person may write', () => {
    assert.equal(version(unborn(3, { spec: { version: 'v3.6.16' } })), '3.6.16');
    assert.deepEqual(refusals(cluster('3.6.16', 'v3.6.16')), []);
  });

  test('does not go down when all pods are gone: the volumes know what ran', () => {
    const observation = healthy(3, {
      spec: { version: '3.5.35' },
      every: all(without('pod'), withEndpoint({ kind: 'unknown', cause: '' })),
    });
    assert.equal(version(observation), '3.6.16');
  });

  test('does not go down when a re-created resource finds volumes that may have run another', () => {
    const observation = prepared(3, { spec: { version: '3.5.35' }, every: without('peer', 'configMap') });
    assert.equal(version(observation), '3.6.16');
    assert.deepEqual(refusals(observation), ['DowngradeRefused']);
  });

  test('does not go down once one container has started, although no member is sealed', () => {
    const observation = starting(3, {
      spec: { version: '3.5.35' },
      slots: { 1: withContainer({ everStarted: true }) },
    });
    assert.equal(version(observation), '3.6.16');
  });
});

describe('of what a spec may ask', () => {
  for (const [what, observation, expected, reason] of [
    ['another patch is honoured', cluster('3.6.16', '3.6.17'), '3.6.17'],
    ['a patch before, too: they read each other’s data', cluster('3.6.16', '3.6.15'), '3.6.15'],
    ['the next minor is honoured', cluster('3.5.35', '3.6.16'), '3.6.16'],
    ['the next minor from the oldest patch that may', cluster('3.5.26', '3.6.5'), '3.6.5'],
    ['a patch that panics after a replacement is refused', cluster('3.5.35', '3.6.3'), '3.5.35', 'VersionHasDefect'],
    ['going back to it, too', cluster('3.6.16', '3.6.3'), '3.6.16', 'VersionHasDefect'],
    ['a patch that may corrupt data is refused', cluster('3.6.16', '3.6.4'), '3.6.16', 'VersionHasDefect'],
    ['at a birth, too', unborn(3, { spec: { version: '3.6.2' } }), '3.6.2', 'VersionHasDefect'],
    ['of a minor that is left for good: that comes first', cluster('3.7.3', '3.6.3'), '3.7.3', 'DowngradeRefused'],
    ['a cluster that has it stays valid', cluster('3.6.2', '3.6.2'), '3.6.2'],
    ['and may leave it', cluster('3.6.2', '3.6.16'), '3.6.16'],
    ['an older patch than that is refused', cluster('3.5.25', '3.6.16'), '3.5.25', 'PatchTooOld'],
    ['before 3.7, too', cluster('3.6.10', '3.7.3'), '3.6.10', 'PatchTooOld'],
    ['a minor that is skipped is refused', cluster('3.5.35', '3.7.3'), '3.5.35', 'MinorSkipped'],
    [
      'one that was begun meanwhile goes on, and is not left to come again',
      cluster('3.5.35', '3.7.3', '3.5.0', { 1: toldOf('3.6.16', '3.5.35') }),
      '3.6.16',
    ],
    ['the minor before is refused', cluster('3.6.16', '3.5.35'), '3.6.16', 'DowngradeRefused'],
    ['what nobody supports is refused', cluster('3.6.16', '3.8.0'), '3.6.16', 'VersionNotSupported'],
    ['what was never supported is refused', cluster('3.6.16', '3.4.40'), '3.6.16', 'VersionNotSupported'],
    ['what is no version is refused', cluster('3.6.16', 'latest'), '3.6.16', 'VersionNotSupported'],
    ['a version with a word behind it is refused', cluster('3.6.16', '3.7.0-rc.1'), '3.6.16', 'VersionNotSupported'],
    ['before birth, too', unborn(3, { spec: { version: 'v3' } }), '3.6.0', 'VersionNotSupported'],
  ] as const) {
    test(`${what}: ${expected}`, () => {
      assert.equal(version(observation), expected);
      assert.deepEqual(refusals(observation), reason === undefined ? [] : [reason]);
      const [refusal] = situate(observation).effective.refusals;
      if (reason === undefined) return;
      assert.equal(refusal?.field, 'spec.version');
      assert.match(refusal?.cure ?? '', /^set spec\.version to /);
    });
  }

  test('a version with a defect is not born, and the refusal names the patch to take', () => {
    const decision = decide(unborn(3, { spec: { version: '3.6.2' } }));
    assert.ok(decision.kind === 'refuse');
    assert.match(decision.message, /^etcd 3\.6\.2 must not be used: it makes every member panic at its next start/);
    assert.match(decision.cure, /3\.6\.5 or a later patch/);
  });

  test('a birth that was begun on another patch is not given it', () => {
    const begun = prepared(3, { spec: { version: '3.6.3' }, every: withInputs({ version: '3.6.16' }) });
    assert.equal(version(begun), '3.6.16');
    assert.deepEqual(refusals(begun), ['VersionHasDefect']);
  });

  test('a cluster that runs one is told to leave it, whatever is decided', () => {
    const decision = decide(cluster('3.6.2', '3.6.2'));
    assert.equal(decision.kind, 'done');
    assert.deepEqual(
      decision.besides?.map(({ reason }) => reason),
      ['VersionHasDefect'],
    );
    assert.equal(decide(cluster('3.6.2', '3.6.16')).besides, undefined);
  });

  test('a refusal names the version that comes in between', () => {
    const [patch] = situate(cluster('3.5.25', '3.6.16')).effective.refusals;
    assert.match(patch?.cure ?? '', /to 3\.5\.26 or a later 3\.5 first/);
    const [minor] = situate(cluster('3.5.35', '3.7.3')).effective.refusals;
    assert.match(minor?.cure ?? '', /to a 3\.6 first/);
  });

  test('a flag that the next minor does not know keeps it out, and is named', () => {
    const etcd = { extraArgs: { 'experimental-compaction-batch-limit': '1000' } };
    const observation = healthy(3, { spec: { version: '3.7.3', etcd } });
    assert.equal(version(observation), '3.6.16');
    assert.deepEqual(refusals(observation), ['FlagNotInVersion']);
    assert.deepEqual(refusals(unborn(3, { spec: { version: '3.7.3', etcd } })), ['FlagNotInVersion']);
    assert.deepEqual(refusals(unborn(3, { spec: { version: '3.6.16', etcd } })), []);
  });
});

describe('the next minor waits', () => {
  for (const [what, observation, expected] of [
    ['for the cluster version to arrive', cluster('3.6.16', '3.7.3', '3.5.0'), 'settling'],
    [
      'for somebody to tell the cluster version',
      (({ clusterVersion: _, ...rest }) => rest)(cluster('3.6.16', '3.7.3')),
      'settling',
    ],
    ['for a member that does not answer', cluster('3.6.16', '3.7.3', '3.6.0', { 1: withEndpoint(silent) }), 'settling'],
    [
      'for a member whose volume does not know yet what it runs',
      cluster('3.6.16', '3.7.3', '3.6.0', { 1: withRecord({ version: '3.5.35' }) }),
      'settling',
    ],
    ['for a member on another patch', cluster('3.6.16', '3.7.3', '3.6.0', { 1: on('3.6.15') }), 'settling'],
    [
      'for somebody to write down since when all are on 3.6',
      healthy(3, { spec: { version: '3.7.3' }, every: withRecord({ minorSince: { minor: '3.5', index: '0' } }) }),
      'unnoted',
    ],
    [
      'for snapshots that were taken under 3.6',
      healthy(3, { spec: { version: '3.7.3' }, every: withRecord({ minorSince: { minor: '3.6', index: '900' } }) }),
      'snapshots',
    ],
  ] as const) {
    test(what, () => {
      assert.equal(version(observation), '3.6.16');
      assert.equal(pending(observation), expected);
      assert.deepEqual(refusals(observation), []);
    });
  }

  const since = withRecord({ minorSince: { minor: '3.6', index: '900' } });
  const applied = (index: bigint) => (slot: Slot) =>
    withEndpoint(endpoint(slot.ordinal, { raftAppliedIndex: index, raftIndex: index }))(slot);
  for (const [what, observation, expected] of [
    ['before every member has applied as many entries as a snapshot takes', [16_099n, 16_100n, 16_100n], '3.6.16'],
    ['no longer than that', [16_100n, 16_100n, 16_100n], '3.7.3'],
  ] as const) {
    test(`${what}: ${expected}`, () => {
      const every = (slot: Slot) => all(since, applied(observation[slot.ordinal] ?? 0n))(slot);
      assert.equal(version(healthy(3, { spec: { version: '3.7.3' }, every })), expected);
    });
  }

  test('for the largest number of entries between two snapshots that any member was given', () => {
    const every = all(since, applied(16_100n));
    const more = all(every, withInputs({ etcd: { snapshotCount: 20_000 } }));
    assert.equal(pending(healthy(3, { spec: { version: '3.7.3' }, every, slots: { 2: more } })), 'snapshots');
  });

  test('not for a member that joined later: raft’s indices are the cluster’s', () => {
    const later = withRecord({ minorSince: { minor: '3.5', index: '0' } });
    assert.equal(version(healthy(3, { spec: { version: '3.7.3' }, slots: { 2: later } })), '3.7.3');
  });
});

describe('half-way to the next minor', () => {
  const half = (wanted: string, more: Readonly<Record<number, (slot: Slot) => Slot>> = {}, settled = '3.5.0') =>
    cluster('3.5.35', wanted, settled, { 0: upgradedTo('3.6.16', '3.5.35'), ...more });
  const whole = { 1: upgradedTo('3.6.16', '3.5.35'), 2: upgradedTo('3.6.16', '3.5.35') };

  for (const [what, observation, expected, reason] of [
    ['members go on', half('3.6.16'), '3.6.16'],
    ['also while one of them is away', half('3.6.16', { 1: withEndpoint(silent) }), '3.6.16'],
    ['or on to another patch', half('3.6.17'), '3.6.17'],
    ['and back while one never ran it', half('3.5.35'), '3.5.35'],
    ['back to another patch, too', half('3.5.34'), '3.5.34'],
    ['but not to one that does not go together with it', half('3.5.24'), '3.6.16', 'PatchTooOld'],
    ['not when all have run it', half('3.5.35', whole), '3.6.16', 'DowngradeRefused'],
    ['not when the cluster version has moved', half('3.5.35', {}, '3.6.0'), '3.6.16', 'DowngradeRefused'],
    [
      'not on the word of one who is no member any more',
      ((found: Observation): Observation => ({
        ...found,
        membership:
          found.membership.kind === 'known'
            ? { ...found.membership, members: found.membership.members.filter(({ id }) => id !== 'a2') }
            : found.membership,
      }))(half('3.5.35', { 1: upgradedTo('3.6.16', '3.5.35') })),
      '3.6.16',
      'DowngradeRefused',
    ],
    [
      'back while one still runs the old, though its template is the new already',
      half('3.5.35', {
        1: upgradedTo('3.6.16', '3.5.35'),
        2: all(
          upgradedTo('3.6.16', '3.5.35'),
          withEndpoint(endpoint(2, { version: '3.5.35' })),
          withPod({ version: '3.5.35', upToDate: 'no' }),
        ),
      }),
      '3.5.35',
    ],
    [
      'what was begun is not begun anew, though its first member never got to start',
      cluster('3.5.35', '3.6.99', '3.5.0', { 0: toldOf('3.6.99', '3.5.35') }),
      '3.6.99',
    ],
    [
      'what never got to start may be taken back',
      cluster('3.5.35', '3.5.35', '3.5.0', { 0: toldOf('3.6.99', '3.5.35') }),
      '3.5.35',
    ],
    [
      'a volume that was told, whose member was not, changes nothing',
      cluster('3.5.35', '3.5.35', '3.5.0', { 0: withRecord({ nextVersion: '3.6.16' }) }),
      '3.5.35',
    ],
  ] as const) {
    test(`${what}: ${expected}`, () => {
      assert.equal(version(observation), expected);
      assert.deepEqual(refusals(observation), reason === undefined ? [] : [reason]);
    });
  }

  test('a status that remembers the cluster version refuses, when no member can be asked', () => {
    const { clusterVersion: _, ...quiet } = half('3.5.35');
    assert.equal(version(quiet), '3.5.35');
    const status = { observedGeneration: 1, clusterVersion: '3.6.0' };
    assert.equal(version({ ...quiet, cluster: { ...quiet.cluster, status } }), '3.6.16');
  });

  test('a cluster of one that has run it does not go back', () => {
    const spec = { version: '3.5.35', replicas: 1 };
    const one = healthy(1, { spec, every: upgradedTo('3.6.16', '3.5.35') });
    assert.deepEqual(refusals({ ...one, clusterVersion: '3.5.0' }), ['DowngradeRefused']);
  });
});
