/** Two tenants of one real etcd of every minor: each call, as one tenant, and what of it concerns the other. */

import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { Services } from 'etcd3';
import type { IssuedLeaf } from '../../../reconcile/x509/issue.ts';
import { etcdVersions, provisionBinaries } from '../../support/cluster/binaries.ts';
import { authority, clientLeaf, leaf, startTlsMembers } from './etcd-tls-members.ts';
import { bare, type Call, message, NoAnswer, type Tenant, tenantOf } from './two-tenants-calls.ts';
import { allOf, k, type Made, type Minor, table } from './two-tenants-table.ts';

const { etcd: binaries } = await provisionBinaries();
const clients = await authority('clients');
const named = (commonName: string) => leaf(clients, { commonName, usages: ['clientAuth'] });
const [ofRoot, ofA, ofB] = await Promise.all([clientLeaf(clients), named('a'), named('b')]);

test('the table has each call of the clients of etcd3, and those without a client', () => {
  const methods = Object.entries(Services).flatMap(([service, client]) =>
    Object.getOwnPropertyNames(client.prototype).flatMap((name) =>
      name === 'constructor' ? [] : `${service}.${name}`,
    ),
  );
  assert.ok(methods.length > 40, 'the methods are found');
  assert.deepEqual([...new Set(table.map(({ call }) => call))].sort(), [...methods, ...bare, 'GET /metrics'].sort());
});

for (const version of etcdVersions) {
  const minor = version.slice(0, 3) as Minor;

  describe(`etcd ${version}`, { concurrency: 3 }, () => {
    test('each call of a tenant is answered or refused as the table says, without keys of the other', async () => {
      await using cluster = await tenants();
      const { a, b } = cluster;
      const made = await prepared(cluster);
      const before = await b.etcd.kv.range(allOf('b'));
      assert.equal(before.kvs.length, 4);
      const rows = table.filter(({ is }) => typeof is === 'string' || minor in is);
      const [outcomes, answers]: [string[], unknown[]] = [[], []];
      for (const { call, asks, by, so } of rows) {
        const answer: unknown = await by(a, made).catch((error: Error) => error);
        const outcome = outcomeOf(call, answer);
        if (outcome === 'answered' && so) assert.ok(await so(answer as never, b, made), `${call}: ${asks}`);
        outcomes.push(`${call}: ${asks}: ${outcome}`);
        answers.push(answer);
      }
      assert.deepEqual(
        outcomes,
        rows.map(({ call, asks, is }) => `${call}: ${asks}: ${typeof is === 'string' ? is : is[minor]}`),
      );
      const told = textsOf(answers).join('\n');
      for (const ours of ['a/key', 'of a']) assert.ok(told.includes(ours), ours);
      for (const theirs of ['kept by b', ...before.kvs.map(({ key }) => key.toString()), 'b/election', 'b/mutex'])
        assert.ok(!told.includes(theirs), theirs);
      assert.deepEqual((await b.etcd.kv.range(allOf('b'))).kvs, before.kvs);
      const { keys } = await b.etcd.leaseClient.leaseTimeToLive({ ID: made.keyed, keys: true });
      assert.equal(keys.length, 2);
    });

    test('a lease without keys is open to all tenants, and the first key on it shuts the others out', async () => {
      await using cluster = await tenants();
      const { root, a, b } = cluster;
      const leases = async ({ etcd }: Tenant) => (await etcd.leaseClient.leaseLeases()).leases.map(({ ID }) => ID);
      const { ID } = await b.etcd.leaseClient.leaseGrant({ TTL: 600 });
      assert.deepEqual(await leases(a), [ID]);
      await a.etcd.kv.put({ key: k('a/key'), value: k('of a'), lease: ID });
      for (const [what, ask] of [
        ['put', () => b.etcd.kv.put({ key: k('b/key'), value: k('of b'), lease: ID })],
        ['keep alive', () => b.keepAlive(ID)],
        ['keys', () => b.etcd.leaseClient.leaseTimeToLive({ ID, keys: true })],
        ['leases', () => leases(b)],
        ['revoke', () => b.etcd.leaseClient.leaseRevoke({ ID })],
      ] as const)
        await assert.rejects(ask, /permission denied/, what);
      assert.deepEqual(await leases(a), [ID]);
      await root.etcd.leaseClient.leaseRevoke({ ID });
      assert.deepEqual(await leases(b), []);

      await a.etcd.leaseClient.leaseGrant({ TTL: 600, ID: 77 });
      await assert.rejects(b.etcd.leaseClient.leaseGrant({ TTL: 600, ID: 77 }), /lease already exists/);
    });

    test('where one tenant fills the quota, the others can write no more until root helps', async () => {
      await using cluster = await tenants(['--quota-backend-bytes=4194304']);
      const { root, a, b } = cluster;
      const full = /database space exceeded/;
      const key = k('b/key');
      await b.etcd.kv.put({ key, value: k('of b') });
      // etcd counts what it wrote to the file, which it does ten times a second.
      const fill = async () => {
        for (let at = 0; at < 500; at++) await a.etcd.kv.put({ key: k('a/key'), value: Buffer.alloc(1_000_000, 1) });
      };
      await assert.rejects(fill, full);
      await assert.rejects(b.etcd.kv.put({ key, value: k('more') }), full);
      await assert.rejects(b.etcd.leaseClient.leaseGrant({ TTL: 600 }), full);
      const { alarms } = await a.etcd.maintenance.alarm({});
      assert.equal(alarms[0]?.alarm, 'Nospace');
      assert.match((await a.etcd.maintenance.status()).errors.join(), /NOSPACE/);
      assert.equal((await b.etcd.kv.range({ key })).kvs[0]?.value.toString(), 'of b');
      const { header } = await a.etcd.kv.deleteRange(allOf('a'));
      await assert.rejects(b.etcd.kv.put({ key, value: k('more') }), full);
      await root.etcd.kv.compact({ revision: header.revision, physical: true });
      await root.etcd.maintenance.defragment();
      await root.etcd.maintenance.alarm({ action: 'Deactivate', ...alarms[0] });
      await b.etcd.kv.put({ key, value: k('more') });
    });
  });

  async function tenants(extra: readonly string[] = []) {
    const cluster = await startTlsMembers(binaries[version], 1, clients, extra);
    const [member] = cluster.members;
    const as = (shown: IssuedLeaf) => tenantOf(member, clients.certificate, shown);
    const [root, a, b] = [as(ofRoot), as(ofA), as(ofB)];
    const { auth } = root.etcd;
    await auth.roleAdd({ name: 'root' });
    for (const [name, role] of [
      ['root', 'root'],
      ['a', 'role-a'],
      ['b', 'role-b'],
    ] as const) {
      await auth.userAdd({ name, options: { no_password: true } });
      if (name !== 'root') {
        await auth.roleAdd({ name: role });
        await auth.roleGrantPermission({ name: role, perm: { permType: 'Readwrite', ...allOf(name) } });
      }
      await auth.userGrantRole({ user: name, role });
    }
    await auth.authEnable();
    return {
      ...{ root, a, b },
      [Symbol.asyncDispose]: async () => {
        await Promise.all([root, a, b].map((one) => one[Symbol.asyncDispose]()));
        await cluster[Symbol.asyncDispose]();
      },
    };
  }
}

async function prepared({ root, a, b }: Record<'root' | 'a' | 'b', Tenant>): Promise<Made> {
  const { members } = await root.etcd.cluster.memberList({});
  const grant = async (tenant: Tenant) => (await tenant.etcd.leaseClient.leaseGrant({ TTL: 600 })).ID;
  const [own, keyed, free] = [await grant(a), await grant(b), await grant(b)];
  const put = (tenant: Tenant, key: string, value: string, lease = '0') =>
    tenant.etcd.kv.put({ key: k(key), value: k(value), lease });
  const leaders: Record<'a' | 'b', Buffer> = { a: Buffer.alloc(0), b: Buffer.alloc(0) };
  for (const [name, tenant, lease] of [
    ['a', a, own],
    ['b', b, keyed],
  ] as const) {
    await put(tenant, `${name}/lock`, `kept by ${name}`);
    const election = message({ 1: k(`${name}/election`), 2: BigInt(lease), 3: k(`kept by ${name}`) });
    const campaign = await tenant.send('v3electionpb.Election/Campaign', election);
    // The header, and then the LeaderKey; each is shorter than 128 bytes.
    leaders[name] = campaign.subarray(4 + (campaign[1] ?? 0));
  }
  await put(b, 'b/leased', 'kept by b', keyed);
  const { header } = await put(b, 'b/hidden', 'kept by b');
  return { memberId: members[0]?.ID ?? '', own, keyed, free, leaders, revision: header.revision };
}

const refusals = /permission denied|authentication failed, invalid user ID or password/;

/** Election.Observe refuses by ending without an answer, and a watch refuses in its answer. */
function outcomeOf(call: Call, answer: unknown): string {
  if (call === 'v3electionpb.Election/Observe' && answer instanceof NoAnswer) return 'refused';
  if (answer instanceof Error) return refusals.test(answer.message) ? 'refused' : answer.message;
  const ended = Array.isArray(answer) ? answer.find(({ canceled }) => canceled) : undefined;
  if (!ended) return 'answered';
  return refusals.test(ended.cancel_reason) ? 'refused' : `ended: ${ended.cancel_reason}`;
}

/** All that is said in it, bytes included. */
function textsOf(answer: unknown): readonly string[] {
  if (typeof answer === 'string') return [answer];
  if (Buffer.isBuffer(answer)) return [answer.toString('latin1')];
  if (answer instanceof Error) return [answer.message];
  if (typeof answer !== 'object' || answer === null) return [];
  return Object.entries(answer).flatMap(([name, value]) => [name, ...textsOf(value)]);
}
