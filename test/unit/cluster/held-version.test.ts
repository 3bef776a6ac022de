import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { ClusterBackup } from '../../../manifests/api/cluster-backup.ts';
import { annotations } from '../../../manifests/render/names.ts';
import { startingInputs } from '../../../reconcile/cluster/decide/held-version.ts';
import { adopt } from '../../../reconcile/cluster/decide/rules/birth/adopt.ts';
import { cureConfiguration } from '../../../reconcile/cluster/decide/rules/rolling/cure-configuration.ts';
import { upgrade } from '../../../reconcile/cluster/decide/rules/rolling/upgrade.ts';
import { outliveVolume } from '../../../reconcile/cluster/decide/rules/volumes/outlive-volume.ts';
import type { AwaitedBackupView } from '../../../reconcile/cluster/know/observation.ts';
import { situate } from '../../../reconcile/cluster/know/situation.ts';
import { tickUntilConverged } from '../../support/world/converge.ts';
import { createWorld, type World } from '../../support/world/world.ts';
import {
  all,
  baseSpec,
  crashing,
  type Differences,
  endpoint,
  healthy,
  noQuorum,
  silent,
  withContainer,
  withEndpoint,
  withInputs,
  without,
  withPod,
  withRecord,
  withVolume,
} from './observations.ts';

const now = new Date('2026-01-02T03:04:05Z');
const backup: ClusterBackup = { to: { object: 'pvc://backups/{{cluster}}/{{timestamp}}.db' } };
const wish = { before: 'upgrade', start: { from: '3.6.16', clusterId: 'c1c1' } } as const;
const missing: AwaitedBackupView = { kind: 'missing', before: 'upgrade', name: 'b', wish };
const good: AwaitedBackupView = {
  kind: 'known',
  before: 'upgrade',
  name: 'b',
  state: 'good',
  message: '',
  askedAt: now,
};
const shut = { maintenance: { windows: [{ start: '0 2 1 6 *', duration: '1h' }] } };
const down = all(withEndpoint(silent), withPod({ ready: false }));

/** A cluster of 3.6.16 whose spec asks for 3.6.20, and waits for a backup. */
function owing({ spec, ...differences }: Differences = {}, awaitedBackup: AwaitedBackupView | 'none' = missing) {
  const seen = healthy(3, { spec: { version: '3.6.20', backup, ...spec }, ...differences });
  return situate({ ...seen, at: now, ...(awaitedBackup !== 'none' && { awaitedBackup }) });
}
const started = (...args: Parameters<typeof owing>) => startingInputs(owing(...args)).version;
const at = (version: string) => withEndpoint(endpoint(1, { version }));

describe('a member that is new, or cured', () => {
  test('starts on the version of the spec where nothing holds that', () => {
    assert.equal(started({ spec: { backup: { ...backup, beforeUpgrade: 'Never' } } }, 'none'), '3.6.20');
    assert.equal(started({}, good), '3.6.20');
  });

  test('starts on the lowest version that a serving voter runs while a backup is owed', () => {
    assert.equal(started(), '3.6.16');
    assert.equal(started({ slots: { 1: at('3.6.18') } }), '3.6.16');
    assert.equal(started({ slots: { 0: down, 1: at('3.6.18'), 2: at('3.6.19') } }), '3.6.18');
    assert.equal(started({}, { ...good, tooOld: { name: 'c', wish } }), '3.6.16');
    const elects = { membership: noQuorum('no leader'), slots: { 2: down } };
    assert.equal(started(elects, { ...good, tooOld: { name: 'c', wish } }), '3.6.16', 'two of three answer');
  });

  test('starts on it while a window or the fleet’s room holds the version, up or down', () => {
    for (const version of ['3.6.20', '3.6.12']) {
      assert.equal(started({ spec: { ...shut, version } }, 'none'), '3.6.16');
      const { awaitedBackup: _, ...free } = owing({ spec: { version } });
      assert.equal(startingInputs({ ...free, crowdedBy: ['shop/other'] }).version, '3.6.16');
    }
  });

  test('starts on the version of the spec once a roll to it has begun', () => {
    assert.equal(started({ slots: { 1: withRecord({ rollsTo: '3.6.20' }) } }), '3.6.20');
    assert.equal(started({ slots: { 1: withRecord({ rollsTo: '3.6.18' }) } }), '3.6.16');
  });

  test('has the image of the version that it starts on', () => {
    const digest = `sha256:${'ab'.repeat(32)}`;
    const image = { repository: 'mirror/etcd', digest };
    assert.deepEqual(startingInputs(owing({ spec: { image } })).image, baseSpec.image);
    const typo = all(withInputs({ image: { repository: 'typo/etcd' } }), crashing);
    assert.deepEqual(startingInputs(owing({ spec: { image }, slots: { 0: typo } })).image, baseSpec.image);
    const other = owing({ spec: { image }, every: at('3.6.15') });
    assert.equal(startingInputs(other).image?.digest, undefined);
  });

  test('starts on the newest known patch of its minor where its own can’t be pulled', () => {
    const unpulled = all(down, withContainer({ state: 'waiting', reason: 'ImagePullBackOff', everStarted: false }));
    const long = { members: [{ name: 'orders-1', unhealthySince: '2026-01-02T02:04:05Z' }] } as never;
    assert.equal(started({ slots: { 1: unpulled }, status: long }), '3.6.20');
    assert.equal(started({ slots: { 1: unpulled } }), '3.6.16', 'a registry may be away for a moment');
  });

  test('starts on the newest known patch of its minor where its own must not be used', () => {
    const defective = all(withInputs({ version: '3.6.2' }), withRecord({ version: '3.6.2' }));
    const every = (slot: Parameters<typeof defective>[0]) => at('3.6.2')(defective(slot));
    assert.equal(started({ every }), '3.6.20');
    assert.equal(
      started({ every, slots: { 1: withInputs({ version: '3.6.12' }) }, spec: { version: '3.7.3' } }),
      '3.6.12',
    );
  });

  test('starts on the version of the spec where its own fails and no quorum answers (I15)', () => {
    const membership = noQuorum('two members are down');
    assert.equal(started({ membership, slots: { 1: crashing, 2: down } }), '3.6.20');
    assert.equal(started({ membership, every: down }), '3.6.16', 'a power failure begins no upgrade');
    assert.equal(started({ membership, slots: { 1: crashing } }), '3.6.16', 'two of three answer');
  });
});

const isOf = (decision: ReturnType<typeof cureConfiguration>) =>
  decision?.kind === 'act' && 'inputs' in decision.action ? decision.action.inputs.version : undefined;

describe('while a version is held', () => {
  test('a member that is down is cured with all of a commit but that', () => {
    const decision = cureConfiguration(owing({ spec: { etcd: { snapshotCount: 5000 } }, slots: { 1: down } }));
    assert.ok(decision?.kind === 'act' && decision.action.kind === 'reconfigure-members');
    const { version, etcd } = decision.action.inputs;
    assert.deepEqual([version, etcd], ['3.6.16', { snapshotCount: 5000 }]);
  });

  test('the replacement of a member whose PVC goes has the version of the others', () => {
    for (const version of ['3.6.20', '3.7.3'])
      assert.equal(
        isOf(outliveVolume(owing({ spec: { version }, slots: { 1: withVolume({ leaving: true }) } }))),
        '3.6.16',
      );
  });

  test('retained volumes are started on the version that they ran', () => {
    const retained = all(withEndpoint(silent), without('peer', 'configMap', 'statefulSet', 'pod'));
    assert.equal(isOf(adopt(owing({ membership: noQuorum('no member runs'), every: retained }))), '3.6.16');
  });
});

test('while a minor soaks, the last member is cured with all of a commit but the version', () => {
  const next = all(
    at('3.7.3'),
    withInputs({ version: '3.7.3' }),
    withRecord({ nextVersion: '3.7.3', rollsTo: '3.7.3' }),
  );
  const seen = (spec: Differences['spec'], last: ReturnType<typeof all>) =>
    owing({ spec: { version: '3.7.3', ...spec }, slots: { 0: last, 1: next, 2: next } }, 'none');
  const soak = { update: { soak: '72h' } };
  assert.equal(isOf(cureConfiguration(seen({}, down))), '3.7.3');
  assert.equal(cureConfiguration(seen(soak, down)), undefined);
  const decision = cureConfiguration(seen({ ...soak, etcd: { snapshotCount: 5000 } }, down));
  assert.ok(decision?.kind === 'act' && decision.action.kind === 'reconfigure-members');
  const { inputs, peers } = decision.action;
  assert.deepEqual([inputs.version, inputs.etcd?.snapshotCount], ['3.6.16', 5000]);
  assert.deepEqual(
    peers.map(({ name }) => name),
    ['orders-0'],
  );
});

describe('a revert of what has not begun', () => {
  const ahead = all(at('3.6.20'), withInputs({ version: '3.6.20' }), withRecord({ nextVersion: '3.6.20' }));

  test('waits for no window and no room', () => {
    const seen = owing({ spec: { version: '3.6.16', ...shut }, slots: { 1: ahead } }, 'none');
    assert.equal(upgrade({ ...seen, crowdedBy: ['shop/other'] })?.reason, 'RollingBackVersion');
  });

  test('cures the member that the higher version broke, also behind a shut window', () => {
    const noted = all(ahead, withRecord({ rollsTo: '3.6.20' }));
    const seen = owing(
      { spec: { version: '3.6.16', ...shut }, every: noted, slots: { 2: all(noted, crashing) } },
      'none',
    );
    assert.equal(isOf(cureConfiguration(seen)), '3.6.16');
    assert.equal(isOf(cureConfiguration({ ...seen, crowdedBy: ['shop/other'] })), '3.6.16');
  });

  test('is told from going back where all run the higher version: that waits', () => {
    const higher = all(ahead, withRecord({ version: '3.6.20' }));
    const seen = owing({ spec: { version: '3.6.16', ...shut }, every: higher }, 'none');
    assert.equal(upgrade(seen)?.reason, 'OutsideWindows');
  });
});

const outside = { maintenance: shut.maintenance, version: '3.6.17' };

test('a member that is lost behind a shut window leaves no mixed cluster', async () => {
  const world = await born();
  await world.apply(outside);
  world.loseVolume('orders-1');
  for (let ticks = 0; ticks < 60; ticks += 1) {
    world.settle();
    await world.tick();
    world.advance(15);
  }
  assert.equal(world.cluster()?.status?.lastDecision?.reason, 'OutsideWindows');
  assert.ok(world.cluster()?.status?.history?.some(({ reason }) => reason === 'ReplacingMember'));
  assert.deepEqual(new Set([...world.processes.values()].map(({ version }) => version)), new Set(['3.6.16']));
});

test('the volumes say that a roll has begun until all members run the version', async () => {
  const world = await born();
  await world.apply({ version: '3.6.17' });
  const marked = new Set<string>();
  const note = async () => {
    for (const { metadata } of world.claims())
      if (metadata.annotations?.[annotations.rollsTo] === '3.6.17') marked.add(metadata.name);
  };
  assert.equal((await tickUntilConverged(world, { meanwhile: note, limit: 200 })).kind, 'done');
  assert.deepEqual([...marked].toSorted(), ['orders-0', 'orders-1', 'orders-2']);
  assert.ok(world.claims().every(({ metadata }) => metadata.annotations?.[annotations.rollsTo] === undefined));
});

async function born(): Promise<World> {
  const world = createWorld();
  await world.apply({});
  assert.equal((await tickUntilConverged(world)).kind, 'done');
  return world;
}
