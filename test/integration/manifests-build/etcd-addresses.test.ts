import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { before, type TestContext, test } from 'node:test';
import { bootstrapVariables } from '../../../manifests/render/bootstrap-variables.ts';
import { etcdArgs, isolatedArgs } from '../../../manifests/render/etcd-args.ts';
import { bracketed } from '../../../manifests/render/hosts.ts';
import { podHost } from '../../../manifests/render/names.ts';
import { type Binaries, type EtcdVersion, etcdVersions, provisionBinaries } from '../../support/cluster/binaries.ts';
import { run } from '../../support/cluster/node/command.ts';
import { peerOf } from '../../unit/manifests/build-fixtures.ts';
import type { Asked } from './listening.ts';

let binaries: Binaries;
before(async () => {
  binaries = await provisionBinaries();
});

const [four, six] = ['10.9.9.9', 'fd00:9::9'];

/** What a pod's network may look like. On a node that has IPv6 switched off, not even `::` can be listened on. */
const networks = [
  { of: 'IPv4 only, with IPv6 switched off', addresses: [four], sixOff: true },
  { of: 'IPv4', addresses: [four], sixOff: false },
  { of: 'IPv6 only', addresses: [six], sixOff: false },
  { of: 'both families', addresses: [four, six], sixOff: false },
] as const;

for (const version of etcdVersions) {
  for (const { of, addresses, sixOff } of networks) {
    test(`etcd ${version} answers at every address of a pod of ${of}`, async (t) => {
      const answers = await answersOf(t, { version, addresses, sixOff, alone: false });
      assert.deepEqual([...new Set(Object.values(answers))], [true], JSON.stringify(answers));
      assert.equal(Object.keys(answers).length, 3 * addresses.length);
    });
  }

  test(`etcd ${version} as a recovery starts it is ready on IPv6 only, and accepts no client`, async (t) => {
    const answers = await answersOf(t, { version, addresses: [six], sixOff: false, alone: true });
    assert.deepEqual(answers, { '[fd00:9::9]:2379': false, '[fd00:9::9]:2380': false, '[fd00:9::9]:2381': true });
  });
}

interface Case {
  readonly version: EtcdVersion;
  readonly addresses: readonly string[];
  readonly sixOff: boolean;
  /** With the arguments of a recovery's Job. */
  readonly alone: boolean;
}

async function answersOf(
  t: TestContext,
  { version, addresses, sixOff, alone }: Case,
): Promise<Readonly<Record<string, boolean>>> {
  const directory = await mkdtemp(join(tmpdir(), 'ratchet-etcd-addresses-'));
  t.after(() => rm(directory, { recursive: true, force: true }));
  const peer = peerOf({ version });
  const { name, namespace = '' } = peer.metadata;
  const host = podHost(namespace, 'orders', name);
  // The one thing that is not the pod's: there is no name server to ask.
  const local = (text: string) => text.replaceAll(host, bracketed(addresses[0] ?? ''));
  const args = (alone ? isolatedArgs : etcdArgs)(peer).map((arg) =>
    arg.startsWith('--data-dir=') ? `--data-dir=${join(directory, 'data')}` : local(arg),
  );
  const initialCluster = peer.spec.bootstrap.initialCluster.filter((member) => member.name === name);
  const { ETCD_INITIAL_CLUSTER, ...variables } = bootstrapVariables({ state: 'bootstrapping', initialCluster }, name);
  const asked: Asked = {
    binary: binaries.etcd[version],
    args,
    variables: { ...variables, ETCD_INITIAL_CLUSTER: local(ETCD_INITIAL_CLUSTER) },
    addresses,
  };
  const script = [
    'set -e',
    'ip link set lo up',
    ...(sixOff ? ['echo 1 > /proc/sys/net/ipv6/conf/all/disable_ipv6'] : []),
    ...addresses.map((address) => `ip addr add ${address}/${address === six ? 128 : 32} dev lo`),
    'exec "$@"',
  ].join('\n');
  const command = [process.execPath, resolve(import.meta.dirname, 'listening.ts'), JSON.stringify(asked)];
  return JSON.parse(await run('unshare', ['--net', 'sh', '-c', script, 'sh', ...command], { timeoutMs: 60_000 }));
}
