import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import type { EtcdPeer } from '../../../manifests/api/etcd-peer.ts';
import { flagFields } from '../../../manifests/api/flag-fields.ts';
import { definitions } from '../../../manifests/api/kinds.ts';
import { parseQuantity } from '../../../manifests/api/quantity.ts';
import { reservedBecause, reservedFlags, reservedPrefixes } from '../../../manifests/api/reserved-flags.ts';
import type { Structural } from '../../../manifests/api/schema.ts';
import { etcdArgs, isolatedArgs, trialArgs } from '../../../manifests/render/etcd-args.ts';
import { etcdImage } from '../../../manifests/render/image.ts';
import { quotaBackendBytes } from '../../../manifests/render/quota.ts';
import { peerOf } from './build-fixtures.ts';

type EtcdSettings = NonNullable<EtcdPeer['spec']['etcd']>;

const MiB = 2 ** 20;
const everyField = {
  quotaBackendBytes: '1Gi',
  autoCompaction: { mode: 'Periodic', retention: '1h' },
  heartbeatInterval: '100ms',
  electionTimeout: '1s',
  snapshotCount: 10_000,
} as const satisfies { readonly [F in keyof typeof flagFields]: EtcdSettings[F] };

test('a member listens on every address and advertises its own names', () => {
  const args = etcdArgs(peerOf());
  for (const arg of [
    '--name=orders-1',
    '--data-dir=/var/lib/etcd/data',
    '--listen-peer-urls=http://0.0.0.0:2380',
    '--listen-client-urls=http://0.0.0.0:2379',
    '--listen-metrics-urls=http://0.0.0.0:2381',
    '--initial-advertise-peer-urls=http://orders-1-0.orders-peers.payments.svc:2380',
    '--advertise-client-urls=http://orders-1-0.orders-peers.payments.svc:2379',
    '--initial-cluster-token=token-1',
    '--strict-reconfig-check=true',
    '--pre-vote=true',
  ]) {
    assert.ok(args.includes(arg), arg);
  }
});

test('no flag says what the bootstrap variables say, or the seal would have no effect', () => {
  const flags = etcdArgs(peerOf()).map((arg) => arg.split('=')[0]);
  assert.ok(!flags.includes('--initial-cluster') && !flags.includes('--initial-cluster-state'));
});

for (const [version, present, absent] of [
  ['3.5.35', '--experimental-initial-corrupt-check=true', '--feature-gates'],
  ['3.6.16', '--feature-gates=InitialCorruptCheck=true,CompactHashCheck=true', '--experimental-'],
  ['v3.7.3', '--feature-gates=InitialCorruptCheck=true,CompactHashCheck=true', '--experimental-'],
] as const) {
  test(`etcd ${version} is asked for its corruption checks in its own words`, () => {
    const args = etcdArgs(peerOf({ version }));
    assert.ok(args.includes(present));
    assert.ok(!args.some((arg) => arg.startsWith(absent)));
  });
}

for (const [version, expected] of [
  ['3.5.35', ['--experimental-enable-lease-checkpoint=true', '--experimental-txn-mode-write-with-shared-buffer=false']],
  [
    '3.6.16',
    ['InitialCorruptCheck=true,CompactHashCheck=true,LeaseCheckpoint=true,TxnModeWriteWithSharedBuffer=false'],
  ],
  [
    '3.7.3',
    [
      'InitialCorruptCheck=true,CompactHashCheck=true,FastLeaseKeepAlive=false,LeaseCheckpoint=true,TxnModeWriteWithSharedBuffer=false',
    ],
  ],
] as const) {
  test(`etcd ${version} gets the feature gates that it knows, in its own words`, () => {
    const featureGates = { TxnModeWriteWithSharedBuffer: false, LeaseCheckpoint: true, FastLeaseKeepAlive: false };
    const args = etcdArgs(peerOf({ version, etcd: { featureGates } }));
    for (const arg of expected)
      assert.ok(
        args.some((one) => one === arg || one === `--feature-gates=${arg}`),
        arg,
      );
  });
}

test('a feature gate can not take back a check of ours', () => {
  const featureGates = { InitialCorruptCheck: false, CompactHashCheck: false };
  assert.deepEqual(etcdArgs(peerOf({ etcd: { featureGates } })), etcdArgs(peerOf()));
});

test('peers come from any address only where the spec says so, by the flag of each minor', () => {
  const said = (version: string, tls: EtcdPeer['spec']['tls']) =>
    etcdArgs(peerOf({ version, tls })).filter((arg) => arg.includes('skip-client-san'));
  for (const version of ['3.5.35', '3.6.16', '3.7.3']) assert.deepEqual(said(version, { mode: 'Managed' }), []);
  const any = { mode: 'Managed', peerSourceAddress: 'Any' } as const;
  assert.deepEqual(said('3.5.35', any), ['--experimental-peer-skip-client-san-verification=true']);
  assert.deepEqual(said('3.6.16', any), ['--peer-skip-client-san-verification=true']);
  assert.deepEqual(said('3.7.3', any), ['--peer-skip-client-san-verification=true']);
});

describe('a cluster that lets certificates in by their names', () => {
  const tls = { mode: 'CertManager', allowedNames: 'Own', clientNames: ['a.example.com', 'b.example.com'] } as const;
  const ofNames = (arg: string) => /allowed|gateway/.test(arg);

  for (const version of ['3.5.35', '3.6.16', '3.7.3'])
    test(`has its own name in both lists, and no HTTP gateway, which would refuse itself (${version})`, () => {
      const ours = 'clients.orders.payments.etcd-ratchet.invalid';
      assert.deepEqual(etcdArgs(peerOf({ version, tls })).filter(ofNames), [
        `--client-cert-allowed-hostname=${ours},a.example.com,b.example.com`,
        '--enable-grpc-gateway=false',
        '--peer-cert-allowed-hostname=members.orders.payments.etcd-ratchet.invalid',
      ]);
      const { clientNames: _, ...alone } = tls;
      assert.ok(etcdArgs(peerOf({ version, tls: alone })).includes(`--client-cert-allowed-hostname=${ours}`));
      assert.deepEqual(etcdArgs(peerOf({ version, tls: { mode: 'CertManager' } })).filter(ofNames), []);
    });

  test('keeps them where a member forgets all others, and asks for none in a trial on loopback', () => {
    const isolated = isolatedArgs(peerOf({ tls }));
    assert.equal(isolated.filter(ofNames).length, 3);
    assert.deepEqual(trialArgs(peerOf({ tls }), { data: '/data', tls: '/tls' }).filter(ofNames), []);
  });
});

test('durations become whole milliseconds, quantities bytes', () => {
  const args = etcdArgs(
    peerOf({
      etcd: {
        heartbeatInterval: '250ms',
        electionTimeout: '2s',
        snapshotCount: 5000,
        quotaBackendBytes: '6Gi',
        autoCompaction: { mode: 'Periodic', retention: '1h' },
        extraArgs: { 'max-txn-ops': '1024' },
      },
    }),
  );
  for (const arg of [
    '--heartbeat-interval=250',
    '--election-timeout=2000',
    '--snapshot-count=5000',
    '--quota-backend-bytes=6442450944',
    '--auto-compaction-mode=periodic',
    '--auto-compaction-retention=1h',
    '--max-txn-ops=1024',
  ]) {
    assert.ok(args.includes(arg), arg);
  }
});

test('an extra argument can replace none of ours, and none that would undo the seal gets through', () => {
  const plain = etcdArgs(peerOf());
  const extraArgs = {
    name: 'other',
    'initial-cluster': 'x=http://x:2380',
    'wal-dir': '/tmp',
    'force-new-cluster': 'true',
    'strict-reconfig-check': 'false',
  };
  assert.deepEqual(etcdArgs(peerOf({ etcd: { extraArgs } })), plain);
});

test('the order in which extra arguments were written does not matter', () => {
  const forwards = etcdArgs(peerOf({ etcd: { extraArgs: { 'max-txn-ops': '1', 'max-snapshots': '2' } } }));
  const backwards = etcdArgs(peerOf({ etcd: { extraArgs: { 'max-snapshots': '2', 'max-txn-ops': '1' } } }));
  assert.deepEqual(forwards, backwards);
});

for (const [size, quota] of [
  ['64Mi', 16],
  ['1Gi', 256],
  ['8Gi', 3840],
  ['100Gi', 8192],
] as const) {
  test(`on a volume of ${size} the database may grow to ${quota} MiB`, () => {
    assert.equal(quotaBackendBytes({ storage: { size } }), quota * MiB);
  });
}

test('the quota never falls when the volume grows, and two databases fit on the volume', () => {
  const bytes = fc.integer({ min: 2 * MiB, max: 2 ** 42 });
  fc.assert(
    fc.property(bytes, bytes, (a, b) => {
      const [small, large] = [Math.min(a, b), Math.max(a, b)];
      assert.ok(quotaBackendBytes({ storage: { size: small } }) <= quotaBackendBytes({ storage: { size: large } }));
      assert.ok(2 * quotaBackendBytes({ storage: { size: small } }) <= small);
    }),
  );
  assert.equal(quotaBackendBytes({ storage: { size: '8Gi' }, etcd: { quotaBackendBytes: '1G' } }), parseQuantity('1G'));
});

for (const [image, version, expected] of [
  [{ repository: 'quay.io/coreos/etcd' }, '3.6.16', 'quay.io/coreos/etcd:v3.6.16'],
  [{}, 'v3.6.16', 'quay.io/coreos/etcd:v3.6.16'],
  [{ repository: 'registry.k8s.io/etcd' }, '3.6.16', 'registry.k8s.io/etcd:3.6.16-0'],
  [{ repository: 'mirror.example.com:5000/etcd' }, '3.5.35', 'mirror.example.com:5000/etcd:v3.5.35'],
  [{ repository: 'r/etcd', digest: 'sha256:ab' }, '3.5.35', 'r/etcd:v3.5.35@sha256:ab'],
] as const) {
  test(`image ${expected}`, () => {
    assert.equal(etcdImage({ image, version }), expected);
  });
}

test('a flag that its version does not know never reaches a member', () => {
  const extraArgs = {
    'experimental-compaction-batch-limit': '1000',
    'compaction-batch-limit': '1000',
    'enable-v2': 'false',
    'max-txn-ops': '256',
  };
  for (const [version, expected] of [
    ['3.5.35', ['enable-v2', 'experimental-compaction-batch-limit', 'max-txn-ops']],
    ['3.6.16', ['compaction-batch-limit', 'experimental-compaction-batch-limit', 'max-txn-ops']],
    ['3.7.3', ['compaction-batch-limit', 'max-txn-ops']],
  ] as const) {
    const flags = etcdArgs(peerOf({ version, etcd: { extraArgs } })).map((arg) => arg.slice(2).split('=')[0] ?? '');
    assert.deepEqual(flags.filter((flag) => Object.hasOwn(extraArgs, flag)).toSorted(), expected);
  }
});

test('what a member is given as a flag can not be given by extraArgs as well', () => {
  for (const version of ['3.5.35', '3.6.16'])
    for (const mode of ['Disabled', 'Managed'] as const) {
      const every = peerOf({ version, tls: { mode }, etcd: everyField });
      const flags = etcdArgs(every).map((arg) => arg.slice(2, arg.indexOf('=')));
      assert.deepEqual(
        flags.filter((flag) => reservedBecause(flag) === undefined),
        [],
      );
    }
  for (const [field, flags] of Object.entries(flagFields))
    for (const flag of Object.keys(flags)) assert.equal(reservedBecause(flag), `use spec.etcd.${field}`);
});

test('each field that a reserved flag names in its place is there, and sets that flag', () => {
  for (const [flag, why] of Object.entries({ ...reservedFlags, ...reservedPrefixes })) {
    const [, path] = /^use (spec\.[\w.]+)/.exec(why) ?? [];
    if (path === undefined) continue;
    const found = path.split('.').reduce<Structural | undefined>((schema, name) => schema?.properties?.[name], {
      properties: { spec: definitions.EtcdCluster.spec },
    });
    assert.ok(found, `${flag}: there is no ${path}`);
    const isSet = path === 'spec.tls' ? ofFiles.has(flag) : path.startsWith('spec.etcd.') || isRendered(flag);
    assert.ok(isSet, `${flag}: ${path} does not set it`);
  }
});

/** Of `spec.tls` with every field that sets a flag, by some minor. */
function isRendered(flag: string): boolean {
  const tls = { mode: 'Managed', peerSourceAddress: 'Any', revocations: 'Listed' } as const;
  const args = ['3.5.35', '3.7.3'].flatMap((version) => etcdArgs(peerOf({ version, tls })));
  return args.some((arg) => arg === `--${flag}=true` || arg.startsWith(`--${flag}=/`));
}

/** Flags whose files, and whether there are any, follow from the mode of spec.tls. */
const ofFiles: ReadonlySet<string> = new Set(['auto-tls', 'cert-file', 'key-file', 'trusted-ca-file']);
