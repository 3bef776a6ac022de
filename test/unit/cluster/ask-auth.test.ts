import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { AuthSpec } from '../../../manifests/api/auth-settings.ts';
import type { EtcdCluster } from '../../../manifests/api/etcd-cluster.ts';
import { hashOfWanted, wantedAuth } from '../../../reconcile/cluster/know/auth/wanted.ts';
import { askAuth } from '../../../reconcile/cluster/observe/ask-auth.ts';
import { EtcdError } from '../../../reconcile/interfaces/etcd.ts';
import type { EtcdAdmin } from '../../../reconcile/interfaces/etcd-admin.ts';
import { healthy } from './observations.ts';

/** How often etcd is asked for its users, and what is made of its answers. */

const auth: AuthSpec = { mode: 'Enabled', users: [{ name: 'reader', roles: ['reads'] }], roles: [{ name: 'reads' }] };
const clusterId = 'c1';
const endpoints = new Map([
  ['orders-0', 'https://10.0.0.1:2379'],
  ['orders-1', 'https://10.0.0.2:2379'],
]);

describe('users of etcd', () => {
  test('are not asked for where the spec says nothing of them', async () => {
    const { asked, view } = await look({ spec: undefined });
    assert.deepEqual([asked, view], [[], undefined]);
  });

  test('are asked for with one question while all is as status says', async () => {
    const { asked, view } = await look({ remembers: true });
    assert.deepEqual(asked, ['authStatus https://10.0.0.1:2379']);
    assert.deepEqual(view, { kind: 'known', enabled: true, revision: '7' });
  });

  test('are read in full where revision, spec or authentication differs, and for a plan', async () => {
    const full = [
      'authStatus https://10.0.0.1:2379',
      'users',
      'roles',
      'rolesOf reader',
      'rolesOf root',
      'rightsOf reads',
      'rightsOf root',
    ];
    for (const one of [
      {},
      { remembers: true, revision: '8' },
      { remembers: true, enabled: false },
      { remembers: true, spec: { ...auth, users: [] } },
      { remembers: true, thorough: true },
      { remembers: true, lived: 'c0' },
    ]) {
      const { asked } = await look(one);
      assert.deepEqual(asked.filter((call) => full.includes(call)).toSorted(), full.toSorted(), JSON.stringify(one));
    }
  });

  test('of others are known by their names only, however many there are', async () => {
    const { view, asked } = await look({});
    assert.equal(view?.kind, 'known');
    assert.deepEqual(view?.kind === 'known' && view.content?.others, { users: ['mallory'], roles: ['theirs'] });
    assert.ok(!asked.some((call) => /mallory|theirs/.test(call)), asked.join(', '));
  });

  test('are unread where etcd refuses, and whether it asks for them is known all the same', async () => {
    const { view } = await look({ fails: 'users' });
    assert.deepEqual(view, { kind: 'known', enabled: true, revision: '7', unread: 'permission denied' });
  });

  test('are asked of the next member where the first is of another cluster, or silent', async () => {
    for (const first of ['silent', 'another'] as const) {
      const { asked, view } = await look({ remembers: true, first });
      assert.deepEqual(asked, ['authStatus https://10.0.0.1:2379', 'authStatus https://10.0.0.2:2379'], first);
      assert.equal(view?.kind, 'known');
    }
  });
});

interface Asking {
  readonly spec?: AuthSpec | undefined;
  readonly remembers?: boolean;
  readonly revision?: string;
  readonly enabled?: boolean;
  readonly thorough?: boolean;
  readonly fails?: 'users';
  readonly first?: 'silent' | 'another';
  /** The cluster that status speaks of. */
  readonly lived?: string;
}

async function look(given: Asking) {
  const {
    revision = '7',
    enabled = true,
    remembers = false,
    thorough = false,
    fails,
    first,
    lived = clusterId,
  } = given;
  const spec = 'spec' in given ? given.spec : auth;
  const seen = healthy(1);
  const wanted = wantedAuth(auth, { cluster: clusterOf(seen.cluster, auth), slots: [] }, 'Managed');
  assert.ok(wanted);
  const told = {
    enabled: true,
    revision: '7',
    asked: hashOfWanted(wanted),
    users: ['reader', 'root'],
    roles: ['reads', 'root'],
  };
  const cluster = clusterOf(seen.cluster, spec);
  const remembering = remembers
    ? { ...cluster, status: { observedGeneration: 1, clusterID: lived, auth: told } }
    : cluster;
  const asked: string[] = [];
  const etcd = {
    authStatus: async (endpoint: string) => {
      asked.push(`authStatus ${endpoint}`);
      const isFirst = endpoint === endpoints.get('orders-0');
      if (isFirst && first === 'silent') throw new EtcdError('no answer', 'down');
      return { clusterId: isFirst && first === 'another' ? 'c2' : clusterId, memberId: 'a', enabled, revision };
    },
    users: async () => {
      asked.push('users');
      if (fails) throw new EtcdError('permission denied', 'refused', undefined, undefined, 'PermissionDenied');
      return ['mallory', 'reader', 'root'];
    },
    roles: async () => {
      asked.push('roles');
      return ['reads', 'root', 'theirs'];
    },
    rolesOf: async (_: readonly string[], user: string) => {
      asked.push(`rolesOf ${user}`);
      return [];
    },
    rightsOf: async (_: readonly string[], role: string) => {
      asked.push(`rightsOf ${role}`);
      return [];
    },
    close: () => undefined,
  };
  const membership = { kind: 'known', clusterId, members: [member('a')] } as const;
  const { auth: view } = await askAuth(
    { endpoints, connect: async () => etcd as unknown as EtcdAdmin },
    { cluster: remembering, slots: [], membership },
    { thorough, signal: AbortSignal.timeout(5_000) },
  );
  return { asked, view };
}

function member(id: string) {
  return { id, name: id, peerURLs: [], clientURLs: [], isLearner: false };
}

function clusterOf({ spec: { auth: _, ...rest }, ...cluster }: EtcdCluster, asked: AuthSpec | undefined): EtcdCluster {
  return { ...cluster, spec: { ...rest, tls: { mode: 'Managed' }, ...(asked && { auth: asked }) } };
}
