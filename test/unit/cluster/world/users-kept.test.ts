import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { AuthSpec } from '../../../../manifests/api/auth-settings.ts';
import type { EtcdClusterSpec } from '../../../../manifests/api/etcd-cluster.ts';
import { authAfter } from '../../../../reconcile/cluster/act/requests/auth-model.ts';
import type { KnownAuth } from '../../../../reconcile/cluster/know/observation.ts';
import type { AuthChange } from '../../../../reconcile/interfaces/etcd-auth.ts';
import { tickUntilConverged } from '../../../support/world/converge.ts';
import { createWorld, type World } from '../../../support/world/world.ts';

/** Users of etcd, where an invocation dies, or another hand is there at the same time. */

const managed = { tls: { mode: 'Managed' }, replicas: 1 } as const satisfies Partial<EtcdClusterSpec>;
const auth: AuthSpec = {
  mode: 'Enabled',
  users: [{ name: 'orders-client', roles: ['orders'] }],
  roles: [{ name: 'orders', rights: [{ prefix: '/orders/', access: 'ReadWrite' }] }],
};

describe('users that are being made', () => {
  test('go with their commit, wherever the invocation that makes them died', async () => {
    const begun = await asked(auth);
    let deaths = 0;
    for (let write = 0; write < 20; write += 1) {
      const world = begun.fork();
      const died = await diesAfter(world, write);
      if (!died) break;
      deaths += 1;
      await world.apply({ ...managed, auth: { mode: 'Enabled' } });
      await tickUntilConverged(world);
      const { enabled, content } = usersIn(world);
      assert.deepEqual([enabled, content?.users, content?.roles], [true, { root: ['root'] }, { root: [] }], `${write}`);
    }
    // The lease, each of seven changes, and the status.
    assert.ok(deaths >= 9, `${deaths} deaths`);
  });

  test('stay as another hand changed them meanwhile until they are looked at again', async () => {
    const world = await asked(auth);
    const after = (write: number) => {
      if (write === 0) byAnotherHand(world, { op: 'add-user', user: 'mallory' });
    };
    const result = await world.tick({ after });
    assert.equal(result?.outcome, 'failed');
    assert.deepEqual(usersIn(world).content?.users, { mallory: [] });
    await tickUntilConverged(world);
    assert.deepEqual(usersIn(world).content?.users, { mallory: [], root: ['root'], 'orders-client': ['orders'] });
  });

  test('let etcd ask for them only if they are what was seen', async () => {
    const world = await asked(auth);
    await world.tick();
    const after = (write: number) => {
      if (write === 0) byAnotherHand(world, { op: 'revoke-role', user: 'orders-client', role: 'orders' });
    };
    await world.tick({ after });
    assert.equal(usersIn(world).enabled, false);
    await tickUntilConverged(world);
    assert.equal(usersIn(world).enabled, true);
  });
});

/** Converged, but for users, which are made next. */
async function asked(users: AuthSpec): Promise<World> {
  const world = createWorld();
  await world.apply(managed);
  await tickUntilConverged(world);
  await world.apply({ ...managed, auth: users });
  return world;
}

/** Whether it wrote so often. */
async function diesAfter(world: World, last: number): Promise<boolean> {
  let died = false;
  const after = (write: number) => {
    if (write !== last) return;
    died = true;
    throw new Error('the invocation dies');
  };
  await world.tick({ after });
  return died;
}

function byAnotherHand(world: World, change: AuthChange): void {
  const [formation] = world.formations.values();
  const none = { users: {}, roles: {}, others: { users: [], roles: [] } };
  const before = formation?.auth ?? { kind: 'known', enabled: false, revision: '1', content: none };
  if (formation) formation.auth = authAfter(before, change);
}

function usersIn(world: World): KnownAuth {
  const [formation] = world.formations.values();
  return formation?.auth ?? assert.fail('no user was ever made');
}
