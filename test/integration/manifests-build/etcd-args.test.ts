import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { before, type TestContext, test } from 'node:test';
import type { VolumeState } from '../../../manifests/api/etcd-peer.ts';
import type { EtcdSettings } from '../../../manifests/api/member-settings.ts';
import { bootstrapVariables } from '../../../manifests/render/bootstrap-variables.ts';
import { etcdArgs } from '../../../manifests/render/etcd-args.ts';
import { podHost } from '../../../manifests/render/names.ts';
import { type Binaries, type EtcdVersion, etcdVersions, provisionBinaries } from '../../support/cluster/binaries.ts';
import { peerOf } from '../../unit/manifests/build-fixtures.ts';
import { type EtcdProcess, ownAddress, startEtcd } from './etcd-process.ts';

const everySetting: EtcdSettings = {
  quotaBackendBytes: '1Gi',
  autoCompaction: { mode: 'Revision', retention: 1000 },
  heartbeatInterval: '100ms',
  electionTimeout: '1s',
  snapshotCount: 5000,
  featureGates: { LeaseCheckpoint: true, LeaseCheckpointPersist: true, TxnModeWriteWithSharedBuffer: false },
  extraArgs: { 'max-txn-ops': '1024', 'max-request-bytes': '2097152' },
};

let binaries: Binaries;
before(async () => {
  binaries = await provisionBinaries();
});

for (const version of etcdVersions) {
  test(`etcd ${version} starts with the flags of a short spec`, async (t) => {
    const member = await memberOf(t, version);
    await member.start('bootstrapping').ready();
  });

  test(`etcd ${version} knows the flag of every setting`, async (t) => {
    const member = await memberOf(t, version, everySetting);
    await member.start('bootstrapping').ready();
  });

  test(`etcd ${version}, sealed, starts again with its data`, async (t) => {
    const member = await memberOf(t, version);
    const first = member.start('bootstrapping');
    await first.ready();
    await first.stop();
    await member.start('sealed').ready();
  });

  test(`etcd ${version}, sealed, does not start on an empty volume`, async (t) => {
    const member = await memberOf(t, version);
    const { code, said } = await member.start('sealed').exit();
    assert.equal(code, 1);
    assert.match(said, /couldn't find local name/);
  });

  test(`etcd ${version} exits on an unknown flag, so the tests above prove something`, async (t) => {
    const member = await memberOf(t, version, { extraArgs: { 'no-such-flag': '1' } });
    const { code } = await member.start('bootstrapping').exit();
    assert.equal(code, 2);
  });
}

/** A single member with the pod's own arguments; only where it listens and where its data lie are this test's. */
async function memberOf(t: TestContext, version: EtcdVersion, etcd: EtcdSettings = {}) {
  const directory = await mkdtemp(join(tmpdir(), 'ratchet-etcd-args-'));
  const running: EtcdProcess[] = [];
  t.after(async () => {
    await Promise.all(running.map((process) => process.stop()));
    await rm(directory, { recursive: true, force: true });
  });

  const address = ownAddress();
  const peer = peerOf({ version, etcd });
  const { name, namespace = '' } = peer.metadata;
  const local = (text: string) =>
    text.replaceAll('0.0.0.0', address).replaceAll(podHost(namespace, 'orders', name), address);
  const args = etcdArgs(peer).map((arg) =>
    arg.startsWith('--data-dir=') ? `--data-dir=${join(directory, 'data')}` : local(arg),
  );
  const initialCluster = peer.spec.bootstrap.initialCluster.filter((member) => member.name === name);
  return {
    start(state: VolumeState): EtcdProcess {
      const { ETCD_INITIAL_CLUSTER, ...variables } = bootstrapVariables({ state, initialCluster }, name);
      const process = startEtcd(binaries.etcd[version], args, {
        ...variables,
        ETCD_INITIAL_CLUSTER: local(ETCD_INITIAL_CLUSTER),
      });
      running.push(process);
      return process;
    },
  };
}
