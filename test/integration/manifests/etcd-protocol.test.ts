import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { build } from 'esbuild';
import { bundling } from '../../../functions/build.ts';

interface Method {
  readonly path: string;
  readonly originalName: string;
  readonly requestStream: boolean;
  readonly responseStream: boolean;
  requestSerialize(message: object): Buffer;
  requestDeserialize(bytes: Buffer): object;
  responseSerialize(message: object): Buffer;
  responseDeserialize(bytes: Buffer): object;
}

interface Loader {
  loadSync(file: string, options: object): Readonly<Record<string, Readonly<Record<string, Method>>>>;
}

// As etcd3 asks for it.
const options = { keepCase: true, longs: String, enums: String, defaults: true, oneofs: true };
const etcd3 = createRequire(createRequire(import.meta.url).resolve('etcd3'));
const file = join(etcd3.resolve('etcd3'), '../../proto/rpc.proto');

let directory: string;
let ours: ReturnType<Loader['loadSync']>;
let theirs: ReturnType<Loader['loadSync']>;

before(async () => {
  directory = await mkdtemp(join(tmpdir(), 'etcd-ratchet-protocol-'));
  const entryPoints = ['functions/bundled/proto-loader.ts'];
  await build({ ...bundling, splitting: false, entryPoints, outfile: join(directory, 'loader.mjs') });
  ours = ((await import(join(directory, 'loader.mjs'))) as Loader).loadSync(file, options);
  theirs = (etcd3('@grpc/proto-loader') as Loader).loadSync(file, options);
});
after(() => rm(directory, { recursive: true, force: true }));

const wireNames = ['path', 'originalName', 'requestStream', 'responseStream'] as const;

test('every call of etcd that the package knows is in the bundle, under the same name', () => {
  const services = Object.entries(theirs).filter(([, one]) => Object.values(one).some((method) => method.path));
  assert.ok(services.length >= 6);
  assert.deepEqual(Object.keys(ours).toSorted(), services.map(([name]) => name).toSorted());
  for (const [name, methods] of services) {
    const facts = (of: typeof methods) =>
      Object.entries(of).map(([call, method]) => [call, ...wireNames.map((fact) => method[fact])]);
    assert.deepEqual(facts(ours[name] ?? {}), facts(methods), name);
  }
});

test('an empty message, which is all defaults, is read alike', () => {
  for (const [name, methods] of Object.entries(ours)) {
    for (const [call, method] of Object.entries(methods)) {
      const other = theirs[name]?.[call];
      const nothing = Buffer.alloc(0);
      assert.deepEqual(method.requestDeserialize(nothing), other?.requestDeserialize(nothing), call);
      assert.deepEqual(method.responseDeserialize(nothing), other?.responseDeserialize(nothing), call);
    }
  }
});

const header = { cluster_id: '17216948375372018973', member_id: '1', revision: '9007199254740993', raft_term: '2' };
const keyValue = { key: Buffer.from('k'), value: Buffer.from([0, 255]), lease: '-1', version: '3', mod_revision: '4' };

const messages: readonly (readonly [call: string, 'request' | 'response', object])[] = [
  ['KV.Range', 'request', { key: Buffer.from('k'), range_end: Buffer.from([0]), sort_order: 'DESCEND', limit: '5' }],
  ['KV.Range', 'response', { header, kvs: [keyValue, keyValue], more: true, count: '2' }],
  [
    'KV.Txn',
    'request',
    {
      compare: [{ result: 'EQUAL', target: 'VERSION', key: Buffer.from('k'), version: '0' }],
      success: [{ request_put: { key: Buffer.from('k'), value: Buffer.from('v') } }],
      failure: [{ request_range: { key: Buffer.from('k') } }],
    },
  ],
  ['KV.Txn', 'response', { header, succeeded: true, responses: [{ response_put: { header, prev_kv: keyValue } }] }],
  ['KV.Compact', 'request', { revision: '7', physical: true }],
  ['Cluster.MemberAdd', 'request', { peerURLs: ['http://a:2380', 'http://b:2380'], isLearner: true }],
  [
    'Cluster.MemberList',
    'response',
    { header, members: [{ ID: '18446744073709551615', name: 'ü', peerURLs: ['u'], isLearner: true }, {}] },
  ],
  ['Maintenance.Status', 'response', { header, version: '3.6.16', dbSize: '9', leader: '3', errors: ['NOSPACE'] }],
  ['Maintenance.Alarm', 'response', { header, alarms: [{ memberID: '5', alarm: 'CORRUPT' }] }],
  ['Maintenance.Snapshot', 'response', { remaining_bytes: '11', blob: Buffer.alloc(70_000, 7) }],
  ['Watch.Watch', 'response', { watch_id: '1', events: [{ type: 'DELETE', kv: keyValue }] }],
];

for (const [call, side, message] of messages) {
  test(`the ${side} of ${call} has the same bytes, and reads alike`, () => {
    const [service = '', name = ''] = call.split('.');
    const mine = ours[`etcdserverpb.${service}`]?.[name];
    const other = theirs[`etcdserverpb.${service}`]?.[name];
    assert.ok(mine && other);
    const bytes = other[`${side}Serialize`](message);
    assert.ok(bytes.length > 0);
    assert.deepEqual(mine[`${side}Serialize`](message), bytes);
    assert.deepEqual(mine[`${side}Deserialize`](bytes), other[`${side}Deserialize`](bytes));
  });
}
