import assert from 'node:assert/strict';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Etcd3 } from 'etcd3';
import type { EtcdBackup } from '../../../manifests/api/etcd-backup.ts';
import { scratchRestoreArgs } from '../../../manifests/render/scratch.ts';
import { runAgent } from '../../../reconcile/backup/agent/agent.ts';
import { freePort } from '../../../reconcile/backup/agent/free-port.ts';
import { run } from '../../../reconcile/backup/agent/run-program.ts';
import { startScratchEtcd } from '../../../reconcile/backup/agent/scratch-etcd.ts';
import { makeScratchTls, readScratchTls } from '../../../reconcile/backup/agent/scratch-tls.ts';
import { connectEtcd } from '../../../reconcile/clients/etcd.ts';
import { resources } from '../../../reconcile/interfaces/kube.ts';
import { provisionBinaries } from '../../support/cluster/binaries.ts';
import type { Scene } from './scene.ts';
import { until } from './until.ts';

type Spec = Partial<EtcdBackup['spec']> & Pick<EtcdBackup['spec'], 'to'>;

export async function createBackup({ kubectl, namespace }: Scene, name: string, spec: Spec): Promise<void> {
  const backup = {
    apiVersion: 'etcd.ratchet.dev/v1alpha1',
    kind: 'EtcdBackup',
    metadata: { name, namespace },
    spec: { clusterName: 'orders', ...spec },
  };
  await kubectl(['create', '-f', '-'], { stdin: JSON.stringify(backup) });
}

export function reasonOf({ status }: EtcdBackup): string | undefined {
  return status?.conditions?.find(({ type }) => type === 'Ready')?.reason;
}

export function messageOf({ status }: EtcdBackup): string {
  return status?.conditions?.find(({ type }) => type === 'Ready')?.message ?? '';
}

/** Ticks until the backup is as expected. */
export async function backupUntil(
  scene: Scene,
  name: string,
  check: (backup: EtcdBackup) => boolean,
  within = 90,
  beside: () => Promise<void> = async () => undefined,
): Promise<EtcdBackup> {
  let seen = '';
  return until(
    `EtcdBackup ${name} as expected`,
    async () => {
      await scene.tick('--wait=2');
      await beside();
      const found = await scene.get<EtcdBackup>(resources.backups, name);
      seen = JSON.stringify(found?.status);
      return found && check(found) ? found : undefined;
    },
    { within, last: () => seen },
  );
}

/** Every key and value in a backup at one revision: fetched, restored and served here, apart from what made it. */
export async function keysIn(
  object: string,
  store: Readonly<Record<string, unknown>>,
  version: '3.6.16',
  revision: number,
): Promise<Readonly<Record<string, string>>> {
  const directory = await mkdtemp(join(tmpdir(), 'ratchet-backup-'));
  const signal = AbortSignal.timeout(60_000);
  try {
    const file = join(directory, 'snapshot.db');
    const request = { operation: 'fetch', object, store, file, deadlineSeconds: 60 };
    const { result } = await runAgent(JSON.stringify(request), {
      signal,
      now: () => new Date(),
      note: () => undefined,
    });
    assert.equal(result.message, undefined);
    const { etcd, etcdutl } = await provisionBinaries();
    const clientPort = await freePort();
    const peerPort = await freePort(undefined, [clientPort]);
    const [dataDirectory, tls] = [join(directory, 'data'), join(directory, 'tls')];
    const member = { name: 'read', dataDirectory, peerUrl: `http://127.0.0.1:${peerPort}`, tls };
    const failed = (said: string) => assert.fail(said);
    await run(etcdutl[version], scratchRestoreArgs(file, { ...member, clientUrl: '' }), { signal, failed });
    await makeScratchTls(tls, new Date());
    const credentials = await readScratchTls(tls);
    const asked = connectEtcd({ tls: credentials });
    const ready = (endpoint: string) =>
      asked.members([endpoint], { signal }).then(
        () => true,
        () => false,
      );
    await using serving = await startScratchEtcd({ ...member, etcd: etcd[version], clientPort, signal, ready });
    asked.close();
    const client = new Etcd3({
      hosts: serving.endpoint,
      credentials: {
        rootCertificate: Buffer.from(credentials.ca),
        certChain: Buffer.from(credentials.cert),
        privateKey: Buffer.from(credentials.key),
      },
      grpcOptions: { 'grpc.ssl_target_name_override': 'drill.local' },
    });
    const found = await client.getAll().revision(revision).strings();
    client.close();
    return found;
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
}

export interface Gate extends AsyncDisposable {
  readonly url: string;
  /** How many connections wait. */
  readonly waiting: number;
  open(): void;
}

/** A way to a store that lets nothing through until it is opened. */
export async function startGate(host: string, target: string): Promise<Gate> {
  const { hostname, port } = new URL(target);
  const sockets = new Set<Socket>();
  let isOpen = false;
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on('error', () => undefined).on('close', () => sockets.delete(socket));
    if (!isOpen) return;
    const onward = connect(Number(port), hostname);
    onward.on('error', () => socket.destroy());
    socket.pipe(onward).pipe(socket);
  });
  server.listen(0, host);
  await once(server, 'listening');
  return {
    url: `http://${host}:${(server.address() as AddressInfo).port}`,
    get waiting() {
      return sockets.size;
    },
    open: () => {
      isOpen = true;
      for (const socket of sockets) socket.destroy();
    },
    [Symbol.asyncDispose]: async () => {
      for (const socket of sockets) socket.destroy();
      server.close();
      await once(server, 'close');
    },
  };
}
