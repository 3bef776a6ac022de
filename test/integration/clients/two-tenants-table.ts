import type { IRequestOp, IWatchCreateRequest } from 'etcd3';
import { type Answer, type Call, hashKV, message, type Tenant } from './two-tenants-calls.ts';

export type Outcome = 'refused' | 'answered';
export type Minor = '3.5' | '3.6' | '3.7';

export interface Row {
  readonly call: Call;
  /** What tenant a asks. */
  readonly asks: string;
  /** A minor that is missing has no such call. */
  readonly is: Outcome | Readonly<Partial<Record<Minor, Outcome>>>;
  readonly by: (a: Tenant, made: Made) => Promise<unknown>;
  /** What the answer says or does that concerns tenant b. */
  readonly so?: (answer: never, b: Tenant, made: Made) => unknown;
}

/** Prepared before tenant a asks. */
export interface Made {
  readonly memberId: string;
  /** A lease of tenant b, with a key of it. */
  readonly keyed: string;
  /** A lease of tenant b without keys. */
  readonly free: string;
  /** A lease of tenant a. */
  readonly own: string;
  /** The LeaderKey of each tenant, encoded. */
  readonly leaders: { readonly a: Buffer; readonly b: Buffer };
  /** The revision of tenant b's last put. */
  readonly revision: string;
}

export const k = (text: string) => Buffer.from(text);
const every = { key: k('\0'), range_end: k('\0') };
export const allOf = (tenant: 'a' | 'b') => ({ key: k(`${tenant}/`), range_end: k(`${tenant}0`) });
const across = { key: k('a/'), range_end: k('b0') };
const onward = { key: k('a/'), range_end: k('\0') };
const [own, hidden, value] = [k('a/key'), k('b/hidden'), k('of a')];

const txn = (...success: readonly IRequestOp[]) => [{ success: [...success] }, { failure: [...success] }];
const nested = (...success: readonly IRequestOp[]) => txn({ request_txn: { success: [...success] } });
const watch = (create_request: IWatchCreateRequest) => (a: Tenant) =>
  a.watch((answers) => answers.some(({ canceled, events }) => canceled || events.length > 0), { create_request });
const tellsRevision = ({ header }: Answer, _: Tenant, { revision }: Made) =>
  BigInt(header.revision) >= BigInt(revision);
const readWrite = { permType: 'Readwrite', ...allOf('b') } as const;
const taken = (error: Error) => {
  if (!/lease already exists/.test(error.message)) throw error;
  return error.message;
};

interface Asked {
  readonly key: Buffer;
  readonly range_end?: Buffer;
  readonly revision?: number;
  readonly serializable?: boolean;
  readonly keys_only?: boolean;
  readonly count_only?: boolean;
}

/** A RangeRequest. */
function encoded({ key, range_end, revision, serializable, keys_only, count_only }: Asked): Buffer {
  const flags = { ...(serializable && { 7: 1n }), ...(keys_only && { 8: 1n }), ...(count_only && { 9: 1n }) };
  return message({ 1: key, ...(range_end && { 2: range_end }), ...(revision && { 4: BigInt(revision) }), ...flags });
}

function shapeOf(request: object): string {
  return JSON.stringify(request, (_, part) => (part?.type === 'Buffer' ? Buffer.from(part.data).toString() : part));
}

/** In the order in which tenant a asks. */
export const table: readonly Row[] = [
  { call: 'KV.range', asks: 'its own keys', is: 'answered', by: (a) => a.etcd.kv.range(allOf('a')), so: tellsRevision },
  ...(
    [
      ["a key of tenant b's", { key: hidden }],
      ["a key of tenant b's, of one member", { key: hidden, serializable: true }],
      ['how many keys tenant b has', { ...allOf('b'), count_only: true }],
      ["a key of tenant b's that is not there", { key: k('b/nothing') }],
      ["tenant b's keys, as of before", { ...allOf('b'), keys_only: true, revision: 2 }],
      ["its own keys and tenant b's", across],
      ['its own keys and all behind', onward],
      ['all keys', every],
    ] as const
  ).flatMap(([asks, range]): Row[] => [
    { call: 'KV.range', asks, is: 'refused', by: (a) => a.etcd.kv.range(range) },
    {
      call: 'etcdserverpb.KV/RangeStream',
      asks,
      is: { '3.7': 'refused' },
      by: (a) => a.send('etcdserverpb.KV/RangeStream', encoded(range)),
    },
  ]),
  {
    call: 'etcdserverpb.KV/RangeStream',
    asks: 'its own keys',
    is: { '3.7': 'answered' },
    by: (a) => a.send('etcdserverpb.KV/RangeStream', encoded(allOf('a'))),
  },
  { call: 'KV.put', asks: 'its own key', is: 'answered', by: (a) => a.etcd.kv.put({ key: own, value, prev_kv: true }) },
  { call: 'KV.put', asks: "tenant b's key", is: 'refused', by: (a) => a.etcd.kv.put({ key: hidden, value }) },
  {
    call: 'KV.put',
    asks: "tenant b's key, for what it was",
    is: 'refused',
    by: (a) => a.etcd.kv.put({ key: hidden, ignore_value: true, prev_kv: true }),
  },
  {
    call: 'KV.put',
    asks: "its own key, on tenant b's lease with keys",
    is: 'refused',
    by: (a, { keyed }) => a.etcd.kv.put({ key: own, value, lease: keyed }),
  },
  {
    call: 'KV.deleteRange',
    asks: 'its own key',
    is: 'answered',
    by: (a) => a.etcd.kv.deleteRange({ key: own, prev_kv: true }),
  },
  ...[{ key: hidden }, allOf('b'), across, onward, every].map(
    (range): Row => ({
      call: 'KV.deleteRange',
      asks: `from ${shapeOf(range)}`,
      is: 'refused',
      by: (a) => a.etcd.kv.deleteRange({ ...range, prev_kv: true }),
    }),
  ),
  ...(
    [
      ['a read', { request_range: { key: hidden } }],
      ['a write', { request_put: { key: hidden, value } }],
      ['a write, for what it was', { request_put: { key: hidden, ignore_value: true, prev_kv: true } }],
      ['a deletion', { request_delete_range: { ...allOf('b'), prev_kv: true } }],
    ] as const
  ).flatMap(([what, operation]) =>
    [...txn(operation), ...nested(operation), ...nested({ request_txn: { failure: [operation] } })].map(
      (request): Row => ({
        call: 'KV.txn',
        asks: `${what} of tenant b's key: ${shapeOf(request)}`,
        is: 'refused',
        by: (a) => a.etcd.kv.txn(request),
      }),
    ),
  ),
  ...(
    [
      { target: 'Value', value: k('kept by b') },
      { target: 'Version', version: 1 },
      { target: 'Version', version: 1, range_end: k('b0') },
    ] as const
  ).flatMap((compare): Row[] => [
    {
      call: 'KV.txn',
      asks: `whether tenant b's key has this ${compare.target}`,
      is: 'refused',
      by: (a) => a.etcd.kv.txn({ compare: [{ key: hidden, ...compare }] }),
    },
    {
      call: 'KV.txn',
      asks: `whether tenant b's key has this ${compare.target}, nested`,
      is: 'refused',
      by: (a) =>
        a.etcd.kv.txn({
          success: [{ request_txn: { compare: [{ key: hidden, ...compare }], success: [], failure: [] } }],
        }),
    },
  ]),
  {
    call: 'KV.txn',
    asks: "its own key, on tenant b's lease with keys",
    is: 'refused',
    by: (a, { keyed }) => a.etcd.kv.txn({ success: [{ request_put: { key: own, value, lease: keyed } }] }),
  },
  {
    call: 'KV.txn',
    asks: 'its own keys, nested',
    is: 'answered',
    by: (a) => a.etcd.kv.txn({ success: [{ request_txn: { success: [{ request_put: { key: own, value } }] } }] }),
    so: tellsRevision,
  },
  {
    call: 'KV.compact',
    asks: 'of all history',
    is: 'refused',
    by: (a, { revision }) => a.etcd.kv.compact({ revision }),
  },

  {
    call: 'Watch.watch',
    asks: 'its own keys, from the start',
    is: 'answered',
    by: watch({ ...allOf('a'), start_revision: 1 }),
  },
  ...[{ key: hidden }, allOf('b'), across, onward, every].map(
    (range): Row => ({
      call: 'Watch.watch',
      asks: `from ${shapeOf(range)}`,
      is: 'refused',
      by: watch({ ...range, start_revision: 1, prev_kv: true }),
    }),
  ),
  {
    call: 'Watch.watch',
    asks: 'how far its own watch is',
    is: 'answered',
    by: (a) => a.watch((answers) => answers.length > 1, { create_request: allOf('a') }, { progress_request: {} }),
    so: ([, progress]: [Answer, Answer], ...rest: [Tenant, Made]) => tellsRevision(progress, ...rest),
  },

  {
    call: 'Lease.leaseGrant',
    asks: 'a lease',
    is: 'answered',
    by: (a) => a.etcd.leaseClient.leaseGrant({ TTL: 600 }),
    so: tellsRevision,
  },
  {
    call: 'Lease.leaseGrant',
    asks: "a lease by the ID of tenant b's, which is taken",
    is: 'answered',
    by: (a, { free }) => a.etcd.leaseClient.leaseGrant({ TTL: 600, ID: free }).then(() => 'granted', taken),
    so: (answer: string) => answer !== 'granted',
  },
  {
    call: 'Lease.leaseRevoke',
    asks: "tenant b's lease with keys",
    is: 'refused',
    by: (a, { keyed: ID }) => a.etcd.leaseClient.leaseRevoke({ ID }),
  },
  {
    call: 'Lease.leaseKeepAlive',
    asks: "tenant b's lease with keys",
    is: 'refused',
    by: (a, { keyed }) => a.keepAlive(keyed),
  },
  {
    call: 'Lease.leaseKeepAlive',
    asks: "tenant b's lease without keys",
    is: 'answered',
    by: (a, { free }) => a.keepAlive(free),
    so: ({ TTL }: { TTL: string }) => TTL === '600',
  },
  {
    call: 'Lease.leaseTimeToLive',
    asks: "tenant b's lease with keys, without asking for them",
    is: 'answered',
    by: (a, { keyed: ID }) => a.etcd.leaseClient.leaseTimeToLive({ ID }),
    so: ({ grantedTTL }: { grantedTTL: string }) => grantedTTL === '600',
  },
  {
    call: 'Lease.leaseTimeToLive',
    asks: "tenant b's lease with keys, and for them",
    is: 'refused',
    by: (a, { keyed: ID }) => a.etcd.leaseClient.leaseTimeToLive({ ID, keys: true }),
  },
  {
    call: 'Lease.leaseTimeToLive',
    asks: "tenant b's lease without keys, and for them",
    is: 'answered',
    by: (a, { free: ID }) => a.etcd.leaseClient.leaseTimeToLive({ ID, keys: true }),
    so: ({ grantedTTL }: { grantedTTL: string }) => grantedTTL === '600',
  },
  {
    call: 'Lease.leaseLeases',
    asks: "all leases, of which one has a key of tenant b's",
    is: 'refused',
    by: (a) => a.etcd.leaseClient.leaseLeases(),
  },
  // Last, because the lease is gone then.
  {
    call: 'Lease.leaseRevoke',
    asks: "tenant b's lease without keys",
    is: 'answered',
    by: (a, { free: ID }) => a.etcd.leaseClient.leaseRevoke({ ID }),
    so: async (_: unknown, b: Tenant, { free: ID }: Made) =>
      (await b.etcd.leaseClient.leaseTimeToLive({ ID })).TTL === '-1',
  },

  ...[true, false].map(
    (linearizable): Row => ({
      call: 'Cluster.memberList',
      asks: linearizable ? 'the members' : 'the members, as one member knows them',
      is: 'answered',
      by: (a) => a.etcd.cluster.memberList({ linearizable }),
      so: ({ members }: { members: unknown[] }) => members.length === 1,
    }),
  ),
  ...[true, false].map(
    (isLearner): Row => ({
      call: 'Cluster.memberAdd',
      asks: isLearner ? 'a learner' : 'a voter',
      is: 'refused',
      by: (a) => a.etcd.cluster.memberAdd({ peerURLs: ['https://127.0.0.1:1'], isLearner }),
    }),
  ),
  {
    call: 'Cluster.memberRemove',
    asks: 'the member',
    is: 'refused',
    by: (a, { memberId: ID }) => a.etcd.cluster.memberRemove({ ID }),
  },
  {
    call: 'Cluster.memberUpdate',
    asks: 'the member',
    is: 'refused',
    by: (a, { memberId: ID }) => a.etcd.cluster.memberUpdate({ ID, peerURLs: ['https://127.0.0.1:1'] }),
  },
  {
    call: 'Cluster.memberPromote',
    asks: 'the member',
    is: 'refused',
    by: (a, { memberId: ID }) => a.etcd.cluster.memberPromote({ ID }),
  },

  {
    call: 'Maintenance.alarm',
    asks: 'which there are',
    is: 'answered',
    by: (a) => a.etcd.maintenance.alarm({ action: 'Get' }),
  },
  ...(['Activate', 'Deactivate'] as const).flatMap((action) =>
    (['Nospace', 'Corrupt'] as const).map(
      (alarm): Row => ({
        call: 'Maintenance.alarm',
        asks: `${action} ${alarm}`,
        is: 'refused',
        by: (a, { memberId: memberID }) => a.etcd.maintenance.alarm({ action, alarm, memberID }),
      }),
    ),
  ),
  {
    call: 'Maintenance.status',
    asks: 'of the member',
    is: 'answered',
    by: (a) => a.etcd.maintenance.status(),
    so: (status: { header: Answer['header']; dbSize: string; dbSizeInUse: string }, ...rest: [Tenant, Made]) =>
      Number(status.dbSize) > 0 &&
      Number(status.dbSizeInUse) > 0 &&
      tellsRevision(status as unknown as Answer, ...rest),
  },
  { call: 'Maintenance.defragment', asks: 'the member', is: 'refused', by: (a) => a.etcd.maintenance.defragment() },
  { call: 'Maintenance.hash', asks: 'of all data', is: 'refused', by: (a) => a.etcd.maintenance.hash() },
  {
    call: 'Maintenance.hashKV',
    asks: 'of all keys',
    is: 'refused',
    by: (a) => a.send(hashKV, message({})),
  },
  { call: 'Maintenance.snapshot', asks: 'of all data', is: 'refused', by: (a) => a.snapshot() },
  {
    call: 'Maintenance.moveLeader',
    asks: 'to the member',
    is: 'refused',
    by: (a, { memberId }) => a.etcd.maintenance.moveLeader({ targetID: memberId }),
  },
  ...(['Validate', 'Enable', 'Cancel'] as const).map(
    (action): Row => ({
      call: 'Maintenance.downgrade',
      asks: action,
      is: 'refused',
      by: (a) => a.etcd.maintenance.downgrade({ action, version: '3.5.0' }),
    }),
  ),

  { call: 'Auth.authEnable', asks: 'again', is: 'refused', by: (a) => a.etcd.auth.authEnable() },
  { call: 'Auth.authDisable', asks: 'off', is: 'refused', by: (a) => a.etcd.auth.authDisable() },
  {
    call: 'Auth.authStatus',
    asks: 'whether it is on',
    is: { '3.5': 'refused', '3.6': 'refused', '3.7': 'answered' },
    by: (a) => a.etcd.auth.authStatus(),
    so: ({ enabled, authRevision }: { enabled: boolean; authRevision: string }) => enabled && Number(authRevision) > 1,
  },
  ...['b', 'root'].map(
    (name): Row => ({
      call: 'Auth.authenticate',
      asks: `as ${name}, with a password`,
      is: 'answered',
      by: (a) =>
        a.etcd.auth.authenticate({ name, password: 'password' }).then(
          () => 'in',
          ({ message }: Error) => message,
        ),
      so: (answer: string) => /password was given for no password user/.test(answer),
    }),
  ),
  {
    call: 'Auth.authenticate',
    asks: 'as a user that is missing',
    is: 'refused',
    by: (a) => a.etcd.auth.authenticate({ name: 'missing', password: 'password' }),
  },
  {
    call: 'Auth.userAdd',
    asks: 'a user',
    is: 'refused',
    by: (a) => a.etcd.auth.userAdd({ name: 'c', options: { no_password: true } }),
  },
  {
    call: 'Auth.userGet',
    asks: 'its own roles',
    is: 'answered',
    by: (a) => a.etcd.auth.userGet({ name: 'a' }),
    so: ({ roles }: { roles: string[] }) => roles.join() === 'role-a',
  },
  ...['b', 'root', 'missing'].map(
    (name): Row => ({
      call: 'Auth.userGet',
      asks: `roles of ${name}`,
      is: 'refused',
      by: (a) => a.etcd.auth.userGet({ name }),
    }),
  ),
  { call: 'Auth.userList', asks: 'all users', is: 'refused', by: (a) => a.etcd.auth.userList() },
  { call: 'Auth.userDelete', asks: 'tenant b', is: 'refused', by: (a) => a.etcd.auth.userDelete({ name: 'b' }) },
  ...['a', 'b'].map(
    (name): Row => ({
      call: 'Auth.userChangePassword',
      asks: `of tenant ${name}`,
      is: 'refused',
      by: (a) => a.etcd.auth.userChangePassword({ name, password: 'password' }),
    }),
  ),
  ...['role-b', 'root'].map(
    (role): Row => ({
      call: 'Auth.userGrantRole',
      asks: `${role} to itself`,
      is: 'refused',
      by: (a) => a.etcd.auth.userGrantRole({ user: 'a', role }),
    }),
  ),
  {
    call: 'Auth.userRevokeRole',
    asks: "tenant b's",
    is: 'refused',
    by: (a) => a.etcd.auth.userRevokeRole({ name: 'b', role: 'role-b' }),
  },
  { call: 'Auth.roleAdd', asks: 'a role', is: 'refused', by: (a) => a.etcd.auth.roleAdd({ name: 'role-c' }) },
  {
    call: 'Auth.roleGet',
    asks: 'its own rights',
    is: 'answered',
    by: (a) => a.etcd.auth.roleGet({ role: 'role-a' }),
    so: ({ perm }: { perm: unknown[] }) => perm.length === 1,
  },
  ...['role-b', 'root', 'missing'].map(
    (role): Row => ({
      call: 'Auth.roleGet',
      asks: `rights of ${role}`,
      is: 'refused',
      by: (a) => a.etcd.auth.roleGet({ role }),
    }),
  ),
  { call: 'Auth.roleList', asks: 'all roles', is: 'refused', by: (a) => a.etcd.auth.roleList() },
  { call: 'Auth.roleDelete', asks: "tenant b's", is: 'refused', by: (a) => a.etcd.auth.roleDelete({ role: 'role-b' }) },
  ...['role-a', 'role-b'].map(
    (name): Row => ({
      call: 'Auth.roleGrantPermission',
      asks: `tenant b's keys to ${name}`,
      is: 'refused',
      by: (a) => a.etcd.auth.roleGrantPermission({ name, perm: readWrite }),
    }),
  ),
  {
    call: 'Auth.roleRevokePermission',
    asks: "tenant b's keys",
    is: 'refused',
    by: (a) => a.etcd.auth.roleRevokePermission({ role: 'role-b', ...allOf('b') }),
  },

  ...(
    [
      ['a', 'answered'],
      ['b', 'refused'],
    ] as const
  ).flatMap(([tenant, is]): Row[] => {
    const [asks, name] = [`tenant ${tenant}'s`, k(`${tenant}/election`)];
    const row = (call: Row['call'] & `${string}/${string}`, request: (made: Made) => Buffer): Row => ({
      call,
      asks,
      is,
      by: (a, made) => a.send(call as Parameters<Tenant['send']>[0], request(made)),
    });
    const lease = ({ own }: Made) => BigInt(own);
    return [
      row('v3lockpb.Lock/Lock', (made) => message({ 1: k(`${tenant}/mutex`), 2: lease(made) })),
      row('v3lockpb.Lock/Unlock', () => message({ 1: k(`${tenant}/lock`) })),
      row('v3electionpb.Election/Campaign', (made) => message({ 1: k(`${tenant}/seat`), 2: lease(made), 3: value })),
      row('v3electionpb.Election/Leader', () => message({ 1: name })),
      row('v3electionpb.Election/Observe', () => message({ 1: name })),
      row('v3electionpb.Election/Proclaim', ({ leaders }) => message({ 1: leaders[tenant], 2: value })),
      row('v3electionpb.Election/Resign', ({ leaders }) => message({ 1: leaders[tenant] })),
    ];
  }),

  {
    call: 'GET /metrics',
    asks: 'of the member',
    is: 'answered',
    by: (a) => a.get('/metrics'),
    so: (text: string) => /^etcd_debugging_mvcc_keys_total \d/m.test(text),
  },
];
