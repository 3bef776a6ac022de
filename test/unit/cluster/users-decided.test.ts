import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { AuthSpec } from '../../../manifests/api/auth-settings.ts';
import { decide } from '../../../reconcile/cluster/decide/decide.ts';
import { hashOfWanted, wantedAuth } from '../../../reconcile/cluster/know/auth/wanted.ts';
import type { AuthContent, AuthView, Observation } from '../../../reconcile/cluster/know/observation.ts';
import { situate } from '../../../reconcile/cluster/know/situation.ts';
import { authStatement, authStatus } from '../../../reconcile/cluster/report/auth.ts';
import { managed } from './certificates.ts';
import { clusterId, endpoint, healthy, memberId, withEndpoint } from './observations.ts';

/** Decisions about etcd's users, and their status. */

const auth: AuthSpec = { mode: 'Enabled', users: [{ name: 'reader', roles: ['reads'] }], roles: [{ name: 'reads' }] };
const disabled: AuthSpec = { ...auth, mode: 'Disabled' };
const none: AuthContent = { users: {}, roles: {}, others: { users: [], roles: [] } };
const asAsked: AuthContent = {
  ...none,
  users: { root: ['root'], reader: ['reads'] },
  roles: { root: [], reads: [] },
};

describe('users of etcd', () => {
  test('are left alone where the spec says nothing of them, or they are as it says', () => {
    assert.equal(decided({ spec: undefined }).reason, 'Converged');
    assert.equal(decided({ enabled: true, content: asAsked }).reason, 'Converged');
    assert.equal(decided({ enabled: true }).reason, 'Converged');
    assert.equal(decided({ spec: disabled, enabled: false, content: asAsked }).reason, 'Converged');
  });

  test('are made before authentication is turned on, by voters and a revision that are compared', () => {
    const { kind, reason, action } = decided({ content: none });
    assert.deepEqual([kind, reason], ['act', 'KeepingUsers']);
    assert.partialDeepStrictEqual(action, { kind: 'keep-users', clusterId, memberIds: [memberId(0)], revision: '7' });
    assert.deepEqual(decided({ content: asAsked }).action, {
      kind: 'enable-auth',
      clusterId,
      memberIds: [memberId(0)],
      revision: '7',
      user: 'root',
      secretName: 'orders-reconciler-tls',
    });
  });

  test('change after authentication is turned off, where it is to be', () => {
    assert.equal(decided({ spec: disabled, enabled: true, content: none }).reason, 'DisablingAuth');
    assert.equal(decided({ spec: disabled, enabled: false, content: none }).reason, 'KeepingUsers');
  });

  test('that are not read are refused, and so is a version by which they protect nothing', () => {
    assert.equal(decided({ unknown: 'permission denied' }).reason, 'AuthUnread');
    const old = { version: '3.6.13', content: asAsked };
    assert.deepEqual(refusals(old), ['AuthRefused']);
    assert.deepEqual(refusals({ ...old, enabled: true }), ['AuthRefused']);
    assert.deepEqual(refusals({ ...old, spec: disabled }), []);
    assert.deepEqual(refusals({ content: asAsked }), []);
  });

  test('are kept as they are asked where authentication is on already, on any version', () => {
    const old = { version: '3.6.13', content: none };
    assert.equal(situate(observed({ ...old, enabled: true })).effective.auth?.enabled, true);
    assert.equal(situate(observed(old)).effective.auth, undefined);
  });

  test('are refused where a member runs a version by which they protect nothing', () => {
    const runs = withEndpoint(endpoint(0, { version: '3.6.13' }));
    assert.deepEqual(refusals({ content: asAsked, every: runs }), ['AuthRefused']);
  });

  test('are refused without certificates that etcd-ratchet issues or asks for', () => {
    const { auth: _, ...seen } = healthy(1, { spec: { auth } });
    const { effective } = situate(seen);
    assert.deepEqual([effective.auth, effective.refusals.map(({ reason }) => reason)], [undefined, ['AuthRefused']]);
  });

  test('are changed by at most 256 changes in one step, and 48 KiB of them', () => {
    const names = Array.from({ length: 64 }, (_, index) => `user-${index}`);
    const users = names.map((name) => ({ name, roles: names.slice(0, 8) }));
    const many: AuthSpec = { mode: 'Enabled', users, roles: names.map((name) => ({ name })) };
    assert.equal(changesOf({ spec: many, content: none }).length, 256);
    const long = 'k'.repeat(240);
    const rights = Array.from({ length: 32 }, (_, index) => ({ key: `${long}${index}`, access: 'Read' as const }));
    const wide: AuthSpec = { mode: 'Enabled', roles: names.map((name) => ({ name, rights })) };
    const changes = changesOf({ spec: wide, content: none });
    const sizes = changes.map((change) => JSON.stringify(change).length);
    const total = sizes.reduce((sum, size) => sum + size, 0);
    assert.ok(total <= 48 * 1024 && total > 47 * 1024, String(total));
    assert.match(decided({ spec: wide, content: none }).message, /in the steps that follow/);
  });
});

describe('the status of users', () => {
  test('has what is listed before it is made, and a revision only when all is as asked', () => {
    const names = { users: ['reader', 'root'], roles: ['reads', 'root'] };
    assert.deepEqual(statusOf({ content: none }), { enabled: false, ...names });
    assert.deepEqual(statusOf({ content: asAsked }), { enabled: false, ...names });
    assert.deepEqual(statusOf({ enabled: true, content: asAsked }), {
      ...{ enabled: true, ...names },
      ...{ revision: '7', asked: hashOfWanted(wanted()) },
    });
  });

  test('keeps its revision where nothing was asked again, and loses it where that moved', () => {
    const told = { enabled: true, users: [], roles: [], revision: '7', asked: hashOfWanted(wanted()) };
    assert.equal(statusOf({ enabled: true, told })?.revision, '7');
    assert.equal(statusOf({ enabled: true, told: { ...told, revision: '6' } })?.revision, undefined);
    // The next look reads all of it.
    assert.deepEqual(statusOf({ unknown: 'no answer', told }), { enabled: true, users: [], roles: [] });
    assert.deepEqual(statusOf({ spec: undefined, told }), { enabled: true, users: [], roles: [] });
  });

  test('says in a condition whether they are as asked, and names those of others', () => {
    const others = { ...asAsked, others: { users: ['mallory'], roles: ['theirs'] } };
    for (const [given, expected] of [
      [{ enabled: true, content: asAsked }, ['True', 'UsersAsAsked']],
      [{ enabled: true, content: others }, ['False', 'UnlistedUsers']],
      [{ content: asAsked }, ['False', 'AuthDisabled']],
      [{ enabled: true, content: none }, ['False', 'KeepingUsers']],
      [{ spec: disabled, content: asAsked }, ['False', 'AuthDisabled']],
      [{ unknown: 'no answer' }, ['Unknown', 'AuthUnread']],
      [{ version: '3.6.13', content: asAsked }, ['False', 'AuthRefused']],
    ] as const) {
      const [statement] = authStatement(situate(observed(given)));
      assert.deepEqual([statement?.status, statement?.reason], expected, JSON.stringify(given));
    }
    assert.deepEqual(authStatement(situate(observed({ spec: undefined }))), []);
  });
});

interface Given {
  readonly spec?: AuthSpec | undefined;
  readonly version?: string;
  readonly enabled?: boolean;
  readonly content?: AuthContent;
  readonly unknown?: string;
  readonly told?: NonNullable<ReturnType<typeof authStatus>>;
  readonly every?: ReturnType<typeof withEndpoint>;
}

function observed(given: Given): Observation {
  const { version, enabled = false, content, unknown, told, every } = given;
  const spec = 'spec' in given ? given.spec : auth;
  const seen = healthy(1, {
    certificates: managed(1),
    spec: { tls: { mode: 'Managed' }, ...(spec && { auth: spec }), ...(version !== undefined && { version }) },
    ...(told && { status: { observedGeneration: 1, auth: told } }),
    ...(every && { every }),
  });
  const view: AuthView =
    unknown === undefined
      ? { kind: 'known', enabled, revision: '7', ...(content && { content }) }
      : { kind: 'unknown', cause: unknown };
  return { ...seen, ...(spec && { auth: view }) };
}

function decided(given: Given) {
  const decision = decide(observed(given));
  return { ...decision, action: decision.kind === 'act' ? decision.action : undefined };
}

function changesOf(given: Given) {
  const { action } = decided(given);
  return action?.kind === 'keep-users' ? action.changes : assert.fail('no user is changed');
}

function refusals(given: Given): readonly string[] {
  return situate(observed(given)).effective.refusals.map(({ reason }) => reason);
}

function statusOf(given: Given) {
  return authStatus(situate(observed(given)));
}

function wanted() {
  const { cluster } = observed({});
  return wantedAuth(auth, { cluster, slots: [] }, 'Managed') ?? assert.fail();
}
