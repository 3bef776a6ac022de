import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { definitionOf } from '../../../../reconcile/cluster/act/act.ts';
import { leasedOf } from '../../../../reconcile/cluster/act/actions/define.ts';
import { askAuth } from '../../../../reconcile/cluster/act/requests/auth.ts';
import type { Live } from '../../../../reconcile/cluster/act/requests/live.ts';
import { type EtcdWay, fencedEtcd } from '../../../../reconcile/cluster/etcd-way.ts';
import type { Action, ActionOf } from '../../../../reconcile/cluster/know/action.ts';
import type { Observation } from '../../../../reconcile/cluster/know/observation.ts';
import { EtcdError } from '../../../../reconcile/interfaces/etcd.ts';
import type { EtcdAdmin } from '../../../../reconcile/interfaces/etcd-admin.ts';
import type { AuthStatus } from '../../../../reconcile/interfaces/etcd-auth.ts';
import { StepError } from '../../../../reconcile/requests/refusals.ts';
import { managed, withFacts } from '../certificates.ts';
import { clusterId, healthy, memberId, silent, withEndpoint } from '../observations.ts';
import { assertStopped, leftBy, sentBy } from './sent.ts';

/** Looks just before etcd's users are changed, and after. */

const memberIds = [memberId(0)];
const seen = { clusterId, memberIds, revision: '7' };
const keeps: Action = { kind: 'keep-users', ...seen, changes: [{ op: 'add-user', user: 'a' }] };
const enables: ActionOf<'enable-auth'> = {
  kind: 'enable-auth',
  ...seen,
  user: 'root',
  secretName: 'orders-reconciler-tls',
};
const disables: Action = { kind: 'disable-auth', ...seen };

describe('users, just before they are changed', () => {
  test('are compared with what was seen, and all is sent where nothing has changed', () => {
    assert.deepEqual(sentBy(keeps, cluster()).asked, ['askAuth', 'changeAuth']);
    assert.deepEqual(sentBy(disables, cluster({ enabled: true })).writes, ['changeAuth']);
    const { asked, ended } = sentBy(enables, cluster());
    assert.deepEqual(asked, ['requireLogin', 'askAuth', 'changeAuth', 'askAuth', 'askMembers', 'requireSameData']);
    assert.equal(ended, 'done');
    const { auth } = leftBy(enables, cluster());
    assert.equal(auth?.kind === 'known' && auth.enabled, true);
  });

  test('stay as they are where etcd has another revision of them by then', () => {
    for (const action of [keeps, enables, disables]) assertStopped(sentBy(action, cluster({ revision: '8' })));
  });

  test('stay as they are where a voter does not answer any more', () => {
    for (const action of [keeps, enables, disables]) {
      const quiet = { ...cluster(), slots: healthy(1, { every: withEndpoint(silent) }).slots };
      assertStopped(sentBy(action, quiet));
    }
  });

  test('are not asked for where our own certificate would be that of another user', () => {
    assertStopped(sentBy(enables, cluster({ commonName: 'orders-client' })));
  });
});

describe('authentication that was just turned on', () => {
  test('is a failure where it is off again', () => {
    assert.throws(
      () => walk([undefined, { enabled: false, revision: '7' }, undefined, { enabled: false }]),
      /turned off/,
    );
  });

  test('is followed by a comparison of the data at a revision that all voters have', () => {
    const members = ['12', '9', '10'].map((revision, index) => ({ memberId: memberId(index), revision }));
    const ask = walk([undefined, { enabled: false, revision: '7' }, undefined, { enabled: true }, members]);
    assert.deepEqual(ask, { clusterId, revision: '9', memberIds: [0, 1, 2].map(memberId) });
  });

  test('counts only voters in that', () => {
    const members = [
      { memberId: memberId(0), revision: '12' },
      { memberId: 'a learner', revision: '3' },
    ];
    const ask = walk([undefined, { enabled: false, revision: '7' }, undefined, { enabled: true }, members]);
    assert.equal((ask as { readonly revision: string }).revision, '12');
  });
});

describe('every voter is asked for its authentication', () => {
  const both = [memberId(0), memberId(1)];
  const same = { enabled: true, revision: '7' };

  test('and all say the same', async () => {
    assert.deepEqual(await answers([same, same]), same);
  });

  test('and one that is silent, of another cluster, or differs stops the step', async () => {
    for (const [second, why] of [
      ['silent', /does not answer any more/],
      [{ ...same, clusterId: 'c2' }, /does not answer any more/],
      [{ ...same, revision: '8' }, /say different things/],
      [{ ...same, enabled: false }, /say different things/],
    ] as const)
      await assert.rejects(answers([same, second]), why);
    await assert.rejects(answers([], []), /no voter is left/);
  });

  async function answers(given: readonly (Partial<AuthStatus> | 'silent')[], ids: readonly string[] = both) {
    const etcd = {
      authStatus: async (endpoint: string) => {
        const index = Number(endpoint);
        const one = given[index];
        if (one === 'silent' || !one) throw new EtcdError('no answer', 'down');
        return { clusterId, memberId: memberId(index), ...one };
      },
    } as unknown as EtcdAdmin;
    const live = {
      etcdNow: async () => ({ etcd, endpoints: given.map((_, index) => String(index)) }),
      signal: AbortSignal.timeout(5_000),
    } as unknown as Live;
    return askAuth.behaviour.live({ clusterId, memberIds: ids }, live);
  }
});

test('users are not changed any more once the lease is over', async () => {
  const sent: string[] = [];
  const changeAuth = async (_: unknown, { op }: { readonly op: string }) => void sent.push(op);
  const way: EtcdWay = {
    endpoints: new Map(),
    connect: async () => ({ changeAuth }) as unknown as EtcdAdmin,
  };
  const options = { clusterId, signal: AbortSignal.timeout(5_000) };
  const inTime = await fencedEtcd(way, options.signal, performance.now() + 60_000).connect();
  await inTime.changeAuth([], { op: 'enable' }, options);
  const late = await fencedEtcd(way, options.signal, performance.now() - 1).connect();
  await assert.rejects(
    async () => late.changeAuth([], { op: 'disable' }, options),
    (error) => error instanceof StepError && error.failure.reason === 'ClaimEnded',
  );
  assert.deepEqual(sent, ['enable']);
});

interface Given {
  readonly enabled?: boolean;
  readonly revision?: string;
  readonly commonName?: string;
}

function cluster({ enabled = false, revision = '7', commonName = 'root' }: Given = {}): Observation {
  const leaves = { [enables.secretName]: withFacts({ commonName }) };
  const content = { users: { root: ['root'] }, roles: { root: [] }, others: { users: [], roles: [] } };
  return {
    ...healthy(1, { certificates: managed(1, { leaves }) }),
    auth: { kind: 'known', enabled, revision, content },
  };
}

/** The last request where these are the answers before. */
function walk(answers: readonly unknown[]): unknown {
  const action = { ...enables, memberIds: [0, 1, 2].map(memberId) };
  const program = definitionOf(action).run(action as never, leasedOf(healthy(1).cluster));
  let step = program.next();
  for (const answer of answers) step = program.next(answer);
  return step.done ? undefined : (step.value as { readonly ask: unknown }).ask;
}
