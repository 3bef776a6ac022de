import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { volumeStates } from '../../../manifests/api/etcd-peer.ts';
import { tlsModes } from '../../../manifests/api/tls-settings.ts';
import { annotations } from '../../../manifests/render/names.ts';
import { reservedInClaim, sameStorage, volumeClaim } from '../../../manifests/render/volume-claim.ts';
import { fields } from '../../../manifests/render/volume-fields.ts';
import {
  readVolumeRecord,
  type VolumeRecord,
  withVolumeRecord,
  writeVolumeRecord,
} from '../../../manifests/render/volume-record.ts';
import { peerOf, recordOf } from './build-fixtures.ts';

const hexId = fc.bigInt({ min: 1n, max: 2n ** 64n - 1n }).map((id) => id.toString(16));
const member = fc.record(
  {
    name: fc.stringMatching(/^[a-z0-9][a-z0-9.-]{0,20}$/),
    url: fc
      .tuple(fc.constantFrom('http', 'https'), fc.domain(), fc.integer({ min: 1, max: 65535 }))
      .map(([scheme, host, port]) => `${scheme}://${host}:${port}`),
  },
  { noNullPrototype: true },
);
const name = fc.stringMatching(/^[a-z0-9]([-a-z0-9]{0,20}[a-z0-9])?$/);
const version = fc.tuple(fc.nat(9), fc.nat(99), fc.nat(99)).map((parts) => parts.join('.'));
const plain = { noNullPrototype: true } as const;
/** Total, like the codec itself: a new field that is not tried here does not compile. */
const arbitraries: { readonly [K in keyof Required<VolumeRecord>]: fc.Arbitrary<Required<VolumeRecord>[K]> } = {
  token: fc.stringMatching(/^[A-Za-z0-9][A-Za-z0-9._-]{0,40}$/),
  initialCluster: fc
    .uniqueArray(member, { minLength: 1, maxLength: 9, selector: (one) => one.name })
    .filter((list) => new Set(list.map(({ url }) => url)).size === list.length),
  clusterId: hexId,
  memberId: hexId,
  version,
  nextVersion: version,
  rollsTo: version,
  minorSince: fc.record(
    {
      minor: fc.tuple(fc.nat(9), fc.nat(99)).map((parts) => parts.join('.')),
      index: fc.bigInt({ min: 0n, max: 2n ** 64n - 1n }).map(String),
    },
    plain,
  ),
  tlsMode: fc.constantFrom(...tlsModes),
  allowedNames: fc.constantFrom('Own', 'Taken'),
  mayHaveStarted: fc.uuid(),
  evidence: fc.constant(true),
  replacedAt: fc.integer({ min: 0, max: 2 ** 32 }).map((s) => `${new Date(s * 1000).toISOString().slice(0, 19)}Z`),
  state: fc.constantFrom(...volumeStates),
  disk: fc.record(
    {
      pv: fc.stringMatching(/^[a-z0-9]([-a-z0-9.]{0,60}[a-z0-9])?$/),
      // `-` stands for none, and is written by its hash.
      handle: fc.stringMatching(/^[\x21-\x7e]{1,256}$/).filter((handle) => handle !== '-'),
    },
    { requiredKeys: ['pv'], ...plain },
  ),
  revisionFloor: fc.maxSafeNat().map((revision) => Math.max(1, revision)),
  restoredFrom: fc.stringMatching(/^[0-9a-f]{12}$/),
  authoritiesOf: fc.stringMatching(/^[A-Za-z0-9][A-Za-z0-9._-]{0,40}$/),
  hibernationBackup: fc.record(
    {
      name: fc.stringMatching(/^[a-z0-9]([-a-z0-9.]{0,60}[a-z0-9])?$/),
      uid: fc.stringMatching(/^[A-Za-z0-9-]{1,64}$/),
      endedAt: fc.integer({ min: 0, max: 2 ** 32 }).map((s) => `${new Date(s * 1000).toISOString().slice(0, 19)}Z`),
      revision: fc.nat(),
    },
    { requiredKeys: ['name', 'uid', 'endedAt'], ...plain },
  ),
  goesBackTo: fc.record(
    {
      name: fc.stringMatching(/^[a-z0-9]([-a-z0-9.]{0,60}[a-z0-9])?$/),
      uid: fc.string({ maxLength: 64 }),
      clusterId: hexId,
      snapshot: fc.record({ object: fc.string({ maxLength: 1100 }), revision: fc.nat() }, plain),
    },
    plain,
  ),
  gaveUp: fc.array(hexId, { minLength: 1, maxLength: 4 }),
  trial: fc.constantFrom('passed', 'waived'),
  outvoted: fc.array(fc.record({ name, memberId: hexId }, plain), { minLength: 1, maxLength: 4 }),
  recovery: fc.record(
    {
      id: fc.stringMatching(/^[0-9a-f]{12}$/),
      attempt: fc.nat(999_999),
      lastSeenOn: fc.dictionary(name, fc.array(name, { minLength: 1, maxLength: 3 }), { maxKeys: 3, ...plain }),
    },
    plain,
  ),
};
const record: fc.Arbitrary<VolumeRecord> = fc
  .record(arbitraries, {
    // What a started member needs as well: a record in any state is whole with these, and a restore's attempt.
    requiredKeys: ['token', 'initialCluster', 'version', 'tlsMode', 'state', 'clusterId', 'memberId'],
    ...plain,
  })
  .filter(
    ({ state, gaveUp, recovery }) =>
      recovery !== undefined || !(state === 'restoring' || (state === 'restored' && gaveUp)),
  );

test('what is written on a volume is read back, in every state', () => {
  fc.assert(
    fc.property(record, (written) => {
      assert.deepEqual(readVolumeRecord({ other: 'x', ...writeVolumeRecord(written) }), {
        kind: 'valid',
        record: written,
      });
    }),
  );
});

test('every annotation that the record reads is one that it writes, and no other', () => {
  fc.assert(
    fc.property(fc.record(arbitraries, plain), (written) => {
      const { lastSeenOn } = written.recovery;
      const names = Object.values(fields).flatMap((field) => field.annotations.map((one) => one.name));
      const expected =
        Object.keys(lastSeenOn).length > 0 ? names : names.filter((one) => one !== annotations.lastSeenOn);
      assert.deepEqual(Object.keys(writeVolumeRecord(written)).toSorted(), expected.toSorted());
    }),
  );
});

test('a list of pods without a recovery is read all the same: nonsense is never passed over', () => {
  const read = readVolumeRecord({ ...sound, [annotations.lastSeenOn]: 'orders-1=' });
  assert.ok(read.kind === 'invalid' && read.problem.includes(annotations.lastSeenOn));
});

test('a volume without any annotation of ours has no record', () => {
  assert.deepEqual(readVolumeRecord(undefined), { kind: 'none' });
  assert.deepEqual(readVolumeRecord({ 'pv.kubernetes.io/bind-completed': 'yes' }), { kind: 'none' });
});

test('a volume that is not started yet needs no IDs', () => {
  for (const state of ['bootstrapping', 'joining'] as const) {
    assert.deepEqual(readVolumeRecord(writeVolumeRecord(recordOf({ state }))), {
      kind: 'valid',
      record: recordOf({ state }),
    });
  }
});

for (const state of ['sealed', 'hibernating', 'recovering'] as const) {
  test(`a ${state} volume without its IDs is not believed`, () => {
    const read = readVolumeRecord(writeVolumeRecord(recordOf({ state, memberId: 'a1' })));
    assert.equal(read.kind, 'invalid');
    assert.match(read.kind === 'invalid' ? read.problem : '', /etcd\.ratchet\.dev\/cluster-id is missing/);
  });
}

test('a volume to which a snapshot is restored names the attempt, or is not believed', () => {
  const read = readVolumeRecord(writeVolumeRecord(recordOf({ state: 'restoring' })));
  assert.match(read.kind === 'invalid' ? read.problem : '', /etcd\.ratchet\.dev\/recovery is missing/);
  const recovery = { id: '0123456789ab', attempt: 0, lastSeenOn: {} };
  assert.equal(readVolumeRecord(writeVolumeRecord(recordOf({ state: 'restoring', recovery }))).kind, 'valid');
});

test('a volume that a rollback goes on from says where members may run, or is not believed', () => {
  const restored = { state: 'restored', clusterId: 'c1', memberId: 'a1', gaveUp: ['c0'] } as const;
  const read = readVolumeRecord(writeVolumeRecord(recordOf(restored)));
  assert.match(read.kind === 'invalid' ? read.problem : '', /etcd\.ratchet\.dev\/recovery is missing/);
});

const sound = writeVolumeRecord(recordOf({ clusterId: 'c1', memberId: 'a1' }));
const nonsense: readonly (readonly [keyof typeof annotations, string | undefined])[] = [
  ['disk', ''],
  ['disk', ' '],
  ['disk', 'Pvc-1'],
  ['disk', 'pvc-1 '],
  ['disk', ' vol-1'],
  ['disk', 'pvc-1 vol-1 vol-2'],
  ['disk', 'pvc-1,pvc-2'],
  ['disk', 'pvc-1 v\u043el-1'],
  ['disk', 'pvc-\u202e1'],
  ['disk', 'p'.repeat(254)],
  ['disk', `pvc-1 ${'v'.repeat(257)}`],
  ['disk', 'pvc-1\nvol-1'],
  ['nextVersion', ''],
  ['nextVersion', 'v3.6.16'],
  ['minorSince', ''],
  ['minorSince', '3.6'],
  ['minorSince', '3.6.16@1'],
  ['minorSince', '3.6@-1'],
  ['token', undefined],
  ['token', ''],
  ['token', 'two words'],
  ['initialCluster', undefined],
  ['initialCluster', ''],
  ['initialCluster', 'a=http://a:2380,'],
  ['initialCluster', 'a=http://a:2380, b=http://b:2380'],
  ['initialCluster', 'a=http://a:2380,a=http://b:2380'],
  ['initialCluster', 'a=http://a:2380,b=http://a:2380'],
  ['initialCluster', 'a=ftp://a:2380'],
  ['initialCluster', 'a=http://a'],
  ['initialCluster', 'a=http://a:2380/path'],
  ['initialCluster', 'a=http://user:pass@a:2380'],
  ['clusterId', '0'],
  ['clusterId', '0x1f'],
  ['clusterId', 'ABC'],
  ['memberId', '12345678901234567'],
  ['memberId', ''],
  ['version', undefined],
  ['version', 'v3.6.16'],
  ['version', '3.6'],
  ['version', 'latest'],
  ['tlsMode', undefined],
  ['tlsMode', 'disabled'],
  ['volumeState', undefined],
  ['volumeState', 'Sealed'],
  ['volumeState', 'constructor'],
];
for (const [field, value] of nonsense) {
  test(`${field} ${JSON.stringify(value)} on a volume is a problem that names its annotation`, () => {
    const { [annotations[field]]: _, ...others } = sound;
    const read = readVolumeRecord(value === undefined ? others : { ...others, [annotations[field]]: value });
    assert.equal(read.kind, 'invalid');
    assert.ok(read.kind === 'invalid' && read.problem.includes(annotations[field]));
  });
}

test('a huge annotation does not make a huge message', () => {
  const read = readVolumeRecord({ ...sound, [annotations.initialCluster]: 'x'.repeat(200_000) });
  assert.ok(read.kind === 'invalid' && read.problem.length < 300);
});

test('a PVC has the size and class asked for, the record, and no owner', () => {
  const claim = volumeClaim(peerOf({ storage: { size: '8Gi', storageClassName: 'fast' } }), recordOf());
  assert.equal(claim.metadata.name, 'orders-1');
  assert.equal(claim.metadata.namespace, 'payments');
  assert.equal(claim.metadata.ownerReferences, undefined);
  assert.equal(claim.metadata.labels?.['etcd.ratchet.dev/peer'], 'orders-1');
  assert.deepEqual(readVolumeRecord(claim.metadata.annotations), { kind: 'valid', record: recordOf() });
  assert.deepEqual(claim.spec, {
    accessModes: ['ReadWriteOnce'],
    storageClassName: 'fast',
    resources: { requests: { storage: '8Gi' } },
  });
});

test('a new PVC says that no member was started on it, whatever is known of the one before', () => {
  const told = recordOf({ mayHaveStarted: 'peer-0' });
  const claim = volumeClaim(peerOf(), told);
  assert.deepEqual(readVolumeRecord(claim.metadata.annotations), { kind: 'valid', record: recordOf() });
  assert.deepEqual(readVolumeRecord(writeVolumeRecord(told)), { kind: 'valid', record: told });
  const sealed = withVolumeRecord(writeVolumeRecord(told), recordOf());
  assert.deepEqual(readVolumeRecord(sealed), { kind: 'valid', record: recordOf() });
});

test('a PVC without a class leaves the choice to Kubernetes', () => {
  assert.ok(!('storageClassName' in volumeClaim(peerOf(), recordOf()).spec));
});

test("a PVC template adds to the PVC, and can't write our memory or bring data", () => {
  const storage = {
    size: '8Gi',
    volumeClaimTemplate: {
      metadata: {
        labels: { team: 'payments', 'etcd.ratchet.dev/peer': 'other' },
        annotations: { backup: 'yes', [annotations.clusterId]: 'bad' },
      },
      spec: {
        accessModes: ['ReadWriteOncePod'],
        dataSource: { kind: 'PersistentVolumeClaim', name: 'somebody-elses' },
        volumeMode: 'Block',
        resources: { requests: { storage: '1Gi', iops: '100' } },
      },
    },
  };
  const claim = volumeClaim(peerOf({ storage }), recordOf());
  assert.equal(claim.metadata.labels?.team, 'payments');
  assert.equal(claim.metadata.labels?.['etcd.ratchet.dev/peer'], 'orders-1');
  assert.equal(claim.metadata.annotations?.backup, 'yes');
  assert.equal(claim.metadata.annotations?.[annotations.clusterId], undefined);
  assert.deepEqual(claim.spec, {
    accessModes: ['ReadWriteOncePod'],
    resources: { requests: { storage: '8Gi', iops: '100' } },
  });
  assert.deepEqual(
    reservedInClaim(storage).map((problem) => problem.split(': ')[0]),
    ['metadata', 'metadata', 'spec.volumeMode', 'spec.dataSource'],
  );
});

test('two spellings of one size are the same storage, another class is not', () => {
  assert.ok(sameStorage({ size: '8Gi' }, { size: 8 * 2 ** 30 }));
  assert.ok(!sameStorage({ size: '8Gi' }, { size: '9Gi' }));
  assert.ok(!sameStorage({ size: '8Gi' }, { size: '8Gi', storageClassName: 'fast' }));
});
