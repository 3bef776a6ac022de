import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { AuthSpec } from '../../../../manifests/api/auth-settings.ts';
import type { EtcdClusterSpec } from '../../../../manifests/api/etcd-cluster.ts';
import { authAfter } from '../../../../reconcile/cluster/act/requests/auth-model.ts';
import type { KnownAuth } from '../../../../reconcile/cluster/know/observation.ts';
import type { AuthChange } from '../../../../reconcile/interfaces/etcd-auth.ts';
import { conditionOf } from '../../../../reconcile/objects/conditions.ts';
import { tickUntilConverged } from '../../../support/world/converge.ts';
import { createWorld, type World } from '../../../support/world/world.ts';

/** etcd's users and roles, as the spec says them. */

const managed = { tls: { mode: 'Managed' } } as const satisfies Partial<EtcdClusterSpec>;
const orders = { name: 'orders', rights: [{ prefix: '/orders/', access: 'ReadWrite' }] } as const;
const reads = { name: 'reads', rights: [{ prefix: '/orders/', access: 'Read' }] } as const;
const users: AuthSpec['users'] = [
  { name: 'orders-client', roles: ['orders'] },
  { name: 'reader', roles: ['reads'] },
];
const auth: AuthSpec = { mode: 'Enabled', users, roles: [orders, reads] };

/** Long after the test. */
const later = { windows: [{ start: '0 3 1 * *', duration: '1h' }] };

describe('users and roles', () => {
  test('are made before etcd asks for them, root and our own first', async () => {
    const world = await converged(managed);
    const { trail } = await applied(world, auth);
    assert.deepEqual(acted(trail), ['IssuingCertificates', 'KeepingUsers', 'EnablingAuth'], trail.join('\n'));
    const { enabled, content } = usersIn(world);
    assert.equal(enabled, true);
    assert.deepEqual(content?.users, { root: ['root'], 'orders-client': ['orders'], reader: ['reads'] });
    assert.deepEqual(Object.keys(content?.roles ?? {}).toSorted(), ['orders', 'reads', 'root']);
    assert.deepEqual(readiness(world), ['True', 'UsersAsAsked']);
  });

  test('of a new cluster are made right after its birth, as its plan says', async () => {
    const world = createWorld();
    await world.apply({ ...managed, auth });
    const plan = await world.plan('keep');
    const end = await tickUntilConverged(world);
    const expected = ['PreparingMembers', 'SealingMembers', 'KeepingUsers', 'EnablingAuth'];
    assert.deepEqual(acted(end.trail), expected);
    assert.deepEqual(
      plan.planned?.steps.map(({ reason }) => reason),
      expected,
    );
  });

  test('follow a commit in one step, and the plan says who gains and who loses what', async () => {
    const world = await known();
    const next: AuthSpec = {
      mode: 'Enabled',
      users: [{ name: 'orders-client', roles: ['reads'] }],
      roles: [reads, { name: 'spare' }],
    };
    const plan = await world.plan({ ...managed, auth: next });
    assert.deepEqual(plan.planned?.rights, [
      { who: 'role orders, which is deleted', loses: 'read "/orders/"*; write "/orders/"*' },
      { who: 'user orders-client', loses: 'write "/orders/"*' },
      { who: 'user reader, which is deleted', loses: 'read "/orders/"*' },
    ]);
    assert.match(plan.planned?.summary ?? '', /users and roles/);
    const { trail } = await applied(world, next);
    assert.deepEqual(acted(trail), ['KeepingUsers'], trail.join('\n'));
    const { content } = usersIn(world);
    assert.deepEqual(content?.users, { root: ['root'], 'orders-client': ['reads'] });
    assert.deepEqual(Object.keys(content?.roles ?? {}).toSorted(), ['reads', 'root', 'spare']);
    const { users: kept = [], roles = [] } = world.cluster()?.status?.auth ?? {};
    assert.deepEqual(
      [kept, roles],
      [
        ['orders-client', 'root'],
        ['reads', 'root', 'spare'],
      ],
    );
  });

  test('stay where authentication is turned off, and wherever spec.auth goes', async () => {
    const world = await known();
    const before = usersIn(world).content;
    const off = await applied(world, { ...auth, mode: 'Disabled' });
    assert.deepEqual(acted(off.trail), ['DisablingAuth']);
    assert.deepEqual([usersIn(world).enabled, readiness(world)], [false, ['False', 'AuthDisabled']]);
    const on = await applied(world, auth);
    assert.deepEqual(acted(on.trail), ['EnablingAuth']);
    await world.apply(managed);
    assert.deepEqual(acted((await tickUntilConverged(world)).trail), []);
    assert.deepEqual([usersIn(world).enabled, usersIn(world).content], [true, before]);
    assert.deepEqual(world.cluster()?.status?.auth?.users, ['orders-client', 'reader', 'root']);
    assert.equal(conditionOf(world.cluster()?.status, 'AuthReady'), undefined);
  });

  test('that others made are named and stay, and what others changed is put back', async () => {
    const world = await known();
    byAnotherHand(
      world,
      { op: 'add-user', user: 'mallory' },
      { op: 'grant-role', user: 'mallory', role: 'root' },
      { op: 'add-role', role: 'theirs' },
      { op: 'grant-role', user: 'reader', role: 'orders' },
      { op: 'revoke-role', user: 'orders-client', role: 'orders' },
      { op: 'disable' },
    );
    const { trail } = await tickUntilConverged(world);
    assert.deepEqual(acted(trail), ['KeepingUsers', 'EnablingAuth'], trail.join('\n'));
    const { content } = usersIn(world);
    assert.deepEqual(content?.users, {
      root: ['root'],
      'orders-client': ['orders'],
      reader: ['reads'],
      mallory: ['root'],
    });
    assert.deepEqual(readiness(world), ['False', 'UnlistedUsers']);
    const { message = '' } = conditionOf(world.cluster()?.status, 'AuthReady') ?? {};
    assert.match(message, /user mallory, role theirs.*etcdctl/);
  });

  test('that another hand turned authentication on for are seen, though no revision moves', async () => {
    const world = await converged({ ...managed, auth: { ...auth, mode: 'Disabled' } });
    const { revision } = usersIn(world);
    assert.equal(world.cluster()?.status?.auth?.revision, revision, 'all was as asked');
    byAnotherHand(world, { op: 'enable' });
    assert.equal(usersIn(world).revision, revision);
    const { trail } = await tickUntilConverged(world);
    assert.deepEqual(acted(trail), ['DisablingAuth']);
  });

  test('wait for no window, and a first commit that turns authentication on or off does', async () => {
    const world = await converged(managed);
    await world.apply({ ...managed, auth, maintenance: later });
    const { trail } = await tickUntilConverged(world);
    const told = trail.map((line) => line.split(' ')[1]);
    const [users, waits, enables] = ['KeepingUsers', 'OutsideWindows', 'EnablingAuth'].map((word) =>
      told.indexOf(word),
    );
    assert.ok(users !== undefined && waits !== undefined && enables !== undefined);
    assert.ok(0 < users && users < waits && waits < enables, trail.join('\n'));
  });

  test('of a new cluster are asked for since its birth, whatever window there is', async () => {
    const world = createWorld();
    await world.apply({ ...managed, auth, maintenance: later });
    const { trail } = await tickUntilConverged(world);
    assert.ok(!trail.some((line) => line.includes('OutsideWindows')), trail.join('\n'));
    assert.equal(usersIn(world).enabled, true);
  });

  test('are asked for again at once where another hand turned that off, whatever window there is', async () => {
    const world = await known();
    // Of another generation than its birth.
    await world.apply({ ...managed, auth, maintenance: later });
    await tickUntilConverged(world);
    byAnotherHand(world, { op: 'disable' }, { op: 'revoke-role', user: 'reader', role: 'reads' });
    const { trail } = await tickUntilConverged(world);
    assert.deepEqual(acted(trail), ['KeepingUsers', 'EnablingAuth'], trail.join('\n'));
    assert.ok(!trail.some((line) => line.includes('OutsideWindows')), trail.join('\n'));
  });

  test('lose what a commit takes while an upgrade waits for its window', async () => {
    const world = await converged({ ...managed, version: '3.5.35', auth, maintenance: later });
    const next = {
      ...managed,
      version: '3.6.16',
      maintenance: later,
      auth: { ...auth, users: users?.slice(0, 1) ?? [] },
    };
    await world.apply(next);
    const { trail } = await tickUntilConverged(world);
    assert.match(trail[0] ?? '', /KeepingUsers acted/, trail.join('\n'));
  });

  test('of the name of a member are refused: its certificate would be that of the user', async () => {
    const world = await converged({ ...managed, auth: { mode: 'Enabled', users: [{ name: 'orders-0' }] } });
    assert.deepEqual(readiness(world), ['False', 'AuthRefused']);
    assert.match(world.cluster()?.status?.refusals?.[0]?.message ?? '', /orders-0 has the name of a member/);
  });

  test('are turned off from Git also where they cannot be read, and a plan says so after a sleep', async () => {
    const world = await known();
    await world.apply({ ...managed, auth, replicas: 0 });
    await tickUntilConverged(world);
    const awake = await world.plan({ ...managed, auth, replicas: 3 });
    const off = await world.plan({ ...managed, auth: { ...auth, mode: 'Disabled' }, replicas: 3 });
    const reasons = (plan: typeof off) => plan.planned?.steps.map(({ reason }) => reason) ?? [];
    assert.ok(!reasons(awake).some((reason) => /Users|Auth/.test(reason)), reasons(awake).join(', '));
    assert.ok(reasons(off).includes('DisablingAuth'), reasons(off).join(', '));
    assert.deepEqual(off.planned?.rights, [{ who: 'each client with a certificate', gains: 'all keys' }]);
  });

  test('that cannot be read are told as AuthUnread, and members are healed all the same', async () => {
    const world = await known();
    const [formation] = world.formations.values();
    assert.ok(formation);
    formation.unreadUsers = true;
    const end = await tickUntilConverged(world);
    assert.deepEqual([end.kind, end.reason], ['refuse', 'AuthUnread'], end.trail.join('\n'));
    assert.deepEqual(readiness(world), ['Unknown', 'AuthUnread']);
    world.wipe('orders-1');
    world.kill('orders-1-0');
    const healed = await tickUntilConverged(world);
    assert.ok(acted(healed.trail).includes('RemovingDeadMember'), healed.trail.join('\n'));
    formation.unreadUsers = false;
    const { reason } = await tickUntilConverged(world);
    assert.deepEqual([reason, ...readiness(world)], ['Converged', 'True', 'UsersAsAsked']);
  });

  test('of a patch that lets users get at what is not theirs are refused', async () => {
    const world = createWorld();
    Object.assign(world.images, { has: () => true });
    await world.apply({ ...managed, version: '3.6.13' });
    await tickUntilConverged(world);
    await world.apply({ ...managed, version: '3.6.13', auth });
    const end = await tickUntilConverged(world);
    const [refusal] = world.cluster()?.status?.refusals ?? [];
    assert.equal(refusal?.reason, 'AuthRefused');
    assert.match(refusal?.message ?? '', /GHSA-xg4h-6gfc-h4m8.*3\.6\.14/);
    assert.deepEqual(readiness(world), ['False', 'AuthRefused']);
    assert.deepEqual(acted(end.trail), ['IssuingCertificates']);
  });
});

function byAnotherHand(world: World, ...changes: readonly AuthChange[]): void {
  const [formation] = world.formations.values();
  for (const change of changes) if (formation?.auth) formation.auth = authAfter(formation.auth, change);
}

async function known(): Promise<World> {
  return converged({ ...managed, auth });
}

async function applied(world: World, next: AuthSpec) {
  await world.apply({ ...managed, auth: next });
  return tickUntilConverged(world);
}

async function converged(spec: Partial<EtcdClusterSpec>): Promise<World> {
  const world = createWorld();
  await world.apply(spec);
  await tickUntilConverged(world);
  return world;
}

function acted(trail: readonly string[]): readonly string[] {
  return trail.filter((line) => line.endsWith(' acted')).map((line) => line.split(' ')[1] ?? '');
}

function readiness(world: World): readonly (string | undefined)[] {
  const ready = conditionOf(world.cluster()?.status, 'AuthReady');
  return [ready?.status, ready?.reason];
}

function usersIn(world: World): KnownAuth {
  const [formation] = world.formations.values();
  if (!formation?.auth) throw new Error('no user was ever made');
  return formation.auth;
}
