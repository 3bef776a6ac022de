/** Users, roles and rights of real etcd of every minor: what is made, refused and moved, and who may ask. */

import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { Etcd3 } from 'etcd3';
import type { AuthChange, Right } from '../../../reconcile/interfaces/etcd-auth.ts';
import type { IssuedLeaf } from '../../../reconcile/x509/issue.ts';
import { until } from '../../e2e/support/until.ts';
import { etcdVersions, provisionBinaries } from '../../support/cluster/binaries.ts';
import { failing, open, refusal, within } from './etcd-membership-asking.ts';
import { authority, clientLeaf, leaf, startTlsMembers, type TlsCluster, tlsFor } from './etcd-tls-members.ts';

const { etcd: binaries } = await provisionBinaries();
const clients = await authority('clients');
const [root, alice, stranger] = await Promise.all([clientLeaf(clients), named('alice'), named('stranger')]);

const noRoot: readonly AuthChange[] = [
  { op: 'enable' },
  { op: 'delete-user', user: 'root' },
  { op: 'delete-role', role: 'root' },
  { op: 'revoke-role', user: 'root', role: 'root' },
];
const asRoot: readonly AuthChange[] = [
  { op: 'add-role', role: 'root' },
  { op: 'add-user', user: 'root' },
  { op: 'grant-role', user: 'root', role: 'root' },
];
const asAlice: readonly AuthChange[] = [
  { op: 'add-role', role: 'reader' },
  { op: 'add-user', user: 'alice' },
  { op: 'grant-role', user: 'alice', role: 'reader' },
];

for (const version of etcdVersions) {
  describe(`etcd ${version}`, { concurrency: 3 }, () => {
    test('a watch that is open outlives authentication, its user and the right to it', async () => {
      await using cluster = await startTlsMembers(binaries[version], 1, clients);
      await using at = await place(cluster, root);
      await using hers = await place(cluster, alice);
      await using any = await place(cluster, stranger);
      const seen: Record<string, string[]> = { alice: [], stranger: [] };
      const watching = async (name: 'alice' | 'stranger', { raw }: typeof at, prefix: string) => {
        const watcher = await raw.watch().prefix(prefix).create();
        watcher.on('put', ({ key }) => seen[name]?.push(String(key)));
        return watcher;
      };
      const theirs = await watching('stranger', any, '');
      const readsA = right('a', 'b', 'Read');
      await at.make(...asRoot, ...asAlice, { op: 'grant-right', role: 'reader', right: readsA }, { op: 'enable' });
      const own = await watching('alice', hers, 'a');
      await at.make({ op: 'delete-user', user: 'alice' }, { op: 'delete-role', role: 'reader' });
      await at.raw.put('a1').value('1');
      await at.raw.put('z').value('1');
      await until('both are told', async () => seen.alice?.length === 1 && seen.stranger?.length === 2);
      assert.deepEqual(seen, { alice: ['a1'], stranger: ['a1', 'z'] });
      await assert.rejects(hers.raw.get('a1').string(), /permission denied/);
      await Promise.all([theirs.cancel(), own.cancel()]);
    });

    test('each change is made; made again, it is no error, and the revision stays', async () => {
      await using cluster = await startTlsMembers(binaries[version], 1, clients);
      await using at = await place(cluster, root);
      const binary = right([0xff, 0xfe, 0x00, 0x80], [0xff, 0xff], 'Write');
      const reader = { key: binary.key, rangeEnd: '' };
      assert.deepEqual(await at.seen(), {});
      for (const [change, users, roles] of [
        [{ op: 'add-role', role: 'r' }, {}, { r: [] }],
        [{ op: 'grant-right', role: 'r', right: binary }, {}, { r: [binary] }],
        [{ op: 'add-user', user: 'u' }, { u: [] }, { r: [binary] }],
        [{ op: 'add-role', role: 'q' }, { u: [] }, { q: [], r: [binary] }],
        [{ op: 'grant-role', user: 'u', role: 'r' }, { u: ['r'] }, { q: [], r: [binary] }],
        [{ op: 'grant-role', user: 'u', role: 'q' }, { u: ['q', 'r'] }, { q: [], r: [binary] }],
        // Of all users.
        [{ op: 'delete-role', role: 'q' }, { u: ['r'] }, { r: [binary] }],
        [{ op: 'revoke-role', user: 'u', role: 'r' }, { u: [] }, { r: [binary] }],
        [{ op: 'grant-role', user: 'u', role: 'r' }, { u: ['r'] }, { r: [binary] }],
        [{ op: 'delete-user', user: 'u' }, {}, { r: [binary] }],
        [{ op: 'revoke-right', role: 'r', range: binary }, {}, { r: [] }],
      ] as const) {
        const before = await at.revision();
        await at.make(change);
        assert.equal(await at.revision(), before + 1n, change.op);
        await at.make(change);
        assert.equal(await at.revision(), before + 1n, `${change.op} again`);
        assert.deepEqual(await at.seen(), { ...tagged('user', users), ...tagged('role', roles) });
      }
      const before = await at.revision();
      await at.make({ op: 'revoke-right', role: 'nobody', range: reader });
      await at.make({ op: 'revoke-role', user: 'nobody', role: 'r' });
      await at.make({ op: 'disable' });
      assert.equal(await at.revision(), before);
      // Without a role root as well.
      await at.make({ op: 'add-user', user: 'root' }, { op: 'grant-role', user: 'root', role: 'root' });
      await at.make({ op: 'enable' }, { op: 'enable' });
      assert.deepEqual(await at.status(), [true, before + 2n]);
      await at.make({ op: 'disable' }, { op: 'disable' });
      assert.deepEqual(await at.status(), [false, before + 3n]);
    });

    test('another access takes the place of the one before, also beside rights from the same key', async () => {
      await using cluster = await startTlsMembers(binaries[version], 1, clients);
      await using at = await place(cluster, root);
      const granted = (...rights: readonly Right[]) =>
        at.make(...rights.map((one) => ({ op: 'grant-right', role: 'r', right: one }) as const));
      const [one, prefix] = [right('/a', '', 'ReadWrite'), right('/a', '/b', 'ReadWrite')];
      await at.make({ op: 'add-role', role: 'r' });
      await granted(one, { ...one, access: 'Read' });
      assert.deepEqual(await at.rightsOf('r'), [{ ...one, access: 'Read' }]);
      await granted(prefix, { ...prefix, access: 'Read' });
      assert.deepEqual(await at.rightsOf('r'), [
        { ...one, access: 'Read' },
        { ...prefix, access: 'Read' },
      ]);
      // Other hands: etcd adds it beside the first one of that key.
      const [key, range_end] = [Buffer.from('/a'), Buffer.from('/b')];
      await at.raw.auth.roleGrantPermission({ name: 'r', perm: { permType: 'Write', key, range_end } });
      assert.equal((await at.raw.auth.roleGet({ role: 'r' })).perm.length, 3);
      assert.deepEqual(await at.rightsOf('r'), [{ ...one, access: 'Read' }, prefix]);
      await granted({ ...prefix, access: 'Read' });
      assert.equal((await at.raw.auth.roleGet({ role: 'r' })).perm.length, 2);
      assert.deepEqual(await at.rightsOf('r'), [
        { ...one, access: 'Read' },
        { ...prefix, access: 'Read' },
      ]);
    });

    test('what etcd refuses has a word, and changes nothing', async () => {
      await using cluster = await startTlsMembers(binaries[version], 1, clients);
      await using other = await startTlsMembers(binaries[version], 1, clients);
      await using at = await place(cluster, root);
      const some = right('/a', '', 'Read');
      await at.make({ op: 'add-role', role: 'r' }, { op: 'add-user', user: 'u' });
      const before = await at.revision();
      assert.equal(await refusal(at.make({ op: 'enable' })), 'RootNeeded');
      assert.equal(await refusal(at.make({ op: 'grant-right', role: 'q', right: some })), 'NoSuchRole');
      assert.equal(await refusal(at.make({ op: 'grant-role', user: 'u', role: 'q' })), 'NoSuchRole');
      assert.equal(await refusal(at.make({ op: 'grant-role', user: 'v', role: 'r' })), 'NoSuchUser');
      for (const bad of [right('', '\0', 'Read'), right('b', 'a', 'Read'), right('b', 'b', 'Read')]) {
        const error = await failing(at.make({ op: 'grant-right', role: 'r', right: bad }));
        assert.deepEqual([error.outcome, /not sent/.test(error.message)], ['down', true]);
      }
      assert.equal(await at.revision(), before);
      await at.make({ op: 'add-user', user: 'root' });
      assert.equal(await refusal(at.make({ op: 'enable' })), 'RootNeeded');
      await at.make(...asRoot, { op: 'enable' });
      const on = await at.status();
      for (const change of noRoot.slice(1)) assert.equal(await refusal(at.make(change)), 'RootNeeded', change.op);
      assert.deepEqual(await at.status(), on);
      // It may be taken from others, and from root once authentication is off.
      await at.make({ op: 'revoke-role', user: 'u', role: 'root' }, { op: 'disable' }, ...noRoot.slice(1));
      assert.deepEqual(await at.seen(), { 'user u': [], 'role r': [] });

      await using wrong = await place(other, root, at.clusterId);
      const { users, roles } = wrong;
      for (const call of [
        users,
        roles,
        () => wrong.rolesOf('u'),
        () => wrong.rightsOf('r'),
        () => wrong.make(...asRoot),
      ])
        assert.equal(await refusal(call()), 'ClusterIdMismatch');
    });

    test('a right covers one key, all to before its end, or all from its key on', async () => {
      await using cluster = await startTlsMembers(binaries[version], 1, clients);
      await using at = await place(cluster, root);
      await using hers = await place(cluster, alice);
      const role = 'reader';
      await at.make(...asRoot, ...asAlice, { op: 'enable' });
      const may = async (key: string) =>
        hers.raw.kv.range({ key: Buffer.from(key, 'latin1'), count_only: true }).then(
          () => true,
          (error: Error) => assert.match(error.message, /permission denied/),
        );
      const readable = async (...keys: readonly string[]) => {
        const found = await Promise.all(keys.map(async (key) => ((await may(key)) ? [key] : [])));
        return found.flat();
      };
      const keys = ['\0', 'a', 'aa', 'b', 'b\0', 'c', '\xff\xfe'];
      for (const [range, covered] of [
        [right('b', '', 'Read'), ['b']],
        [right('a', 'b', 'Read'), ['a', 'aa']],
        [right('b', '\0', 'Read'), ['b', 'b\0', 'c', '\xff\xfe']],
        [right('\0', '\0', 'Read'), keys],
        [right([0xff, 0xfe], [0xff, 0xff], 'Read'), ['\xff\xfe']],
        [right('a', '\0', 'Write'), []],
      ] as const) {
        await at.make({ op: 'grant-right', role, right: range });
        assert.deepEqual(await readable(...keys), covered);
        await at.make({ op: 'revoke-right', role, range });
      }
    });

    test('with authentication on, members agree on it, and root alone is told users and roles', async () => {
      await using cluster = await startTlsMembers(binaries[version], 3, clients);
      await using at = await place(cluster, root);
      await at.make(...asRoot, ...asAlice, { op: 'enable' });
      const statuses = await Promise.all(cluster.members.map(({ url }) => at.etcd.authStatus(url, within(5_000))));
      assert.equal(new Set(statuses.map(({ memberId }) => memberId)).size, 3);
      for (const status of statuses)
        assert.deepEqual({ ...status, memberId: '' }, { ...statuses[0], memberId: '', enabled: true });
      await at.make({ op: 'add-user', user: 'bob' });
      assert.deepEqual(await at.users(), ['alice', 'bob', 'root']);
      assert.equal(await at.rolesOf('nobody'), undefined);
      assert.equal(await at.rightsOf('nobody'), undefined);

      for (const [shown, word] of [
        [alice, 'PermissionDenied'],
        [stranger, 'UserNeeded'],
      ] as const) {
        await using theirs = await place(cluster, shown, at.clusterId);
        for (const call of [
          theirs.users,
          theirs.roles,
          () => theirs.rolesOf('bob'),
          () => theirs.rolesOf('nobody'),
          () => theirs.rightsOf('root'),
          () => theirs.rightsOf('nobody'),
          () => theirs.make({ op: 'disable' }),
          () => theirs.make({ op: 'delete-user', user: 'nobody' }),
          () => theirs.make({ op: 'grant-role', user: 'nobody', role: 'reader' }),
        ])
          assert.equal(await refusal(call()), word);
        // Before 3.7, only root is told that authentication is on.
        if (version.startsWith('3.7.')) assert.equal((await theirs.status())[0], true);
        else assert.equal(await refusal(theirs.status()), word);
      }
      await using hers = await place(cluster, alice, at.clusterId);
      assert.deepEqual([await hers.rolesOf('alice'), await hers.rightsOf('reader')], [['reader'], []]);
      assert.deepEqual(await at.users(), ['alice', 'bob', 'root']);
      await at.make({ op: 'disable' });
      assert.deepEqual(await hers.users(), ['alice', 'bob', 'root']);
    });
  });
}

function named(commonName: string): Promise<IssuedLeaf> {
  return leaf(clients, { commonName, usages: ['clientAuth'] });
}

/** Asks all members, with this certificate. */
async function place({ members }: TlsCluster, shown: IssuedLeaf, meant?: string) {
  const etcd = open(tlsFor(members, clients.certificate, shown));
  const [first] = members;
  const endpoints = members.map(({ url }) => url);
  const clusterId = meant ?? (await etcd.members(endpoints, within(10_000))).clusterId;
  const options = () => within(10_000, { clusterId });
  const raw = new Etcd3({
    hosts: first.url,
    faultHandling: {},
    credentials: {
      rootCertificate: Buffer.from(clients.certificate),
      privateKey: Buffer.from(shown.key),
      certChain: Buffer.from(shown.certificate),
    },
    grpcOptions: { 'grpc.ssl_target_name_override': first.host },
  });
  const users = () => etcd.users(endpoints, options());
  const roles = () => etcd.roles(endpoints, options());
  const rolesOf = (user: string) => etcd.rolesOf(endpoints, user, options());
  const rightsOf = (role: string) => etcd.rightsOf(endpoints, role, options());
  const status = async () => {
    const { enabled, revision } = await etcd.authStatus(first.url, within(5_000));
    return [enabled, BigInt(revision)] as const;
  };
  return {
    ...{ etcd, raw, clusterId, users, roles, rolesOf, rightsOf, status },
    revision: async () => (await status())[1],
    make: async (...changes: readonly AuthChange[]) => {
      for (const change of changes) await etcd.changeAuth(endpoints, change, options());
    },
    seen: async () => {
      const theirs = (await users()).map(async (user) => [`user ${user}`, await rolesOf(user)] as const);
      const rights = (await roles()).map(async (role) => [`role ${role}`, await rightsOf(role)] as const);
      return Object.fromEntries(await Promise.all([...theirs, ...rights]));
    },
    [Symbol.asyncDispose]: async () => {
      etcd.close();
      raw.close();
    },
  };
}

function tagged(kind: string, all: Readonly<Record<string, unknown>>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(all).map(([name, value]) => [`${kind} ${name}`, value]));
}

function right(key: string | readonly number[], rangeEnd: string | readonly number[], access: Right['access']): Right {
  const base64 = (bytes: string | readonly number[]) =>
    (typeof bytes === 'string' ? Buffer.from(bytes, 'latin1') : Buffer.from(bytes)).toString('base64');
  return { key: base64(key), rangeEnd: base64(rangeEnd), access };
}
