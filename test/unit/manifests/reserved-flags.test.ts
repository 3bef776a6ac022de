import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ownGates, reservedBecause } from '../../../manifests/api/reserved-flags.ts';
import { defectsOf, mustNotRun } from '../../../manifests/api/version-defects.ts';

/** Facts of etcd, written down here a second time: a row that is gone, or says another thing, is noticed. */

/** By their names in `etcd --help` of 3.5, 3.6 and 3.7, and what they would undo. */
const reserved = {
  'who a member is, and where its data lie': 'name data-dir wal-dir config-file',
  'how a cluster begins': `initial-advertise-peer-urls initial-cluster initial-cluster-state initial-cluster-token
    initial-corrupt-check initial-election-tick-advance discovery discovery-token discovery-endpoints
    force-new-cluster`,
  'what keeps a quorum and its data': `strict-reconfig-check pre-vote unsafe-no-fsync max-learners
    experimental-initial-corrupt-check experimental-corrupt-check-time corrupt-check-time compact-hash-check-time
    experimental-compact-hash-check-enabled experimental-compact-hash-check-time`,
  'where it is reached': `listen-client-urls listen-client-http-urls listen-peer-urls listen-metrics-urls
    advertise-client-urls socket-reuse-port socket-reuse-address proxy`,
  'who is let in': `cert-file key-file trusted-ca-file client-cert-auth client-cert-file client-key-file client-crl-file
    auto-tls peer-cert-file peer-key-file peer-trusted-ca-file peer-client-cert-auth peer-auto-tls peer-crl-file
    peer-cert-allowed-cn peer-cert-allowed-hostname self-signed-cert-validity peer-skip-client-san-verification
    experimental-peer-skip-client-san-verification`,
  'gates, which have a field': `feature-gates experimental-enable-lease-checkpoint
    experimental-enable-lease-checkpoint-persist experimental-stop-grpc-service-on-defrag
    experimental-txn-mode-write-with-shared-buffer`,
  'what is printed, and where': `logger log-outputs enable-log-rotation log-rotation-config-json version help`,
};

for (const [what, flags] of Object.entries(reserved))
  test(`extraArgs set nothing that decides ${what}`, () => {
    const free = flags.split(/\s+/).filter((flag) => reservedBecause(flag) === undefined);
    assert.deepEqual(free, []);
  });

test('the reason of a flag that has a field names that, though its family is reserved as well', () => {
  assert.equal(reservedBecause('peer-skip-client-san-verification'), 'use spec.tls.peerSourceAddress');
  assert.match(reservedBecause('peer-cert-file') ?? '', /follow spec\.tls as a whole/);
});

test('extraArgs set what decides none of that', () => {
  for (const flag of ['max-txn-ops', 'grpc-keepalive-min-time', 'auth-token-ttl', 'peers', 'names', 'toString'])
    assert.equal(reservedBecause(flag), undefined, flag);
});

test('every member finds corruption at its start, and of compacted data', () => {
  assert.deepEqual([...ownGates].toSorted(), ['CompactHashCheck', 'InitialCorruptCheck']);
});

test('a version has the defects that etcd names, until the patch that cures them', () => {
  const lastWith: readonly (readonly [id: string, ...versions: readonly string[]])[] = [
    ['etcd#20387', '3.6.3'],
    ['etcd#20650', '3.5.22', '3.6.4'],
    ['etcd#20896', '3.5.24', '3.6.5'],
    ['CVE-2026-33413', '3.5.27', '3.6.8'],
    ['CVE-2026-33343', '3.5.27', '3.6.8'],
    ['etcd#21417', '3.5.27', '3.6.8'],
    ['etcd#21681', '3.5.29', '3.6.10'],
    ['GHSA-3wh4-j44w-pg92', '3.5.31', '3.6.12'],
    ['GHSA-xg4h-6gfc-h4m8', '3.5.32', '3.6.13', '3.7.0'],
    ['GHSA-6vch-q96h-7gc3', '3.5.32', '3.6.13', '3.7.0'],
  ];
  for (const [id, ...versions] of lastWith) {
    const has = (version: string) => defectsOf(version).some((defect) => defect.id === id);
    for (const version of versions) {
      const [major, minor, patch] = version.split('.').map(Number);
      assert.deepEqual([has(version), has(`${major}.${minor}.${(patch ?? 0) + 1}`)], [true, false], `${id} ${version}`);
    }
    for (const minor of ['3.5', '3.6', '3.7'])
      if (!versions.some((version) => version.startsWith(minor))) assert.ok(!has(`${minor}.0`), `${id} ${minor}`);
  }
  const refused = ['3.5.22', '3.5.23', '3.6.3', '3.6.4', '3.6.5', '3.7.0'].filter((version) => mustNotRun(version));
  assert.deepEqual(refused, ['3.5.22', '3.6.3', '3.6.4']);
});
