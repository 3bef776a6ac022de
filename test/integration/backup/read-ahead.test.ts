/** How far etcd may send ahead of what is taken of a snapshot. */

import assert from 'node:assert/strict';
import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { test } from 'node:test';
import { connectSnapshots } from '../../../reconcile/clients/etcd-snapshot.ts';
import { provisionBinaries } from '../../support/cluster/binaries.ts';
import { startMembers } from '../clients/etcd-members.ts';
import { fill } from './members.ts';

const { etcd } = await provisionBinaries();
const kibibyte = 1024;

/** HTTP/2's word to send on has 13 bytes; there is one for the stream, one for the connection. */
const wordBytes = 2 * 13;

test('etcd hears to send on every quarter of a MiB, and is never a whole MiB ahead', async () => {
  await using cluster = await startMembers(etcd['3.6.16'], 1);
  const source = cluster.members[0]?.clientUrl ?? '';
  await fill(source, 64, 256 * kibibyte);
  await using wire = await countingProxy(new URL(source));
  const snapshots = connectSnapshots();
  let taken = 0;
  let ahead = 0;
  let begun = 0;
  try {
    const options = { signal: AbortSignal.timeout(60_000), timeoutMs: 60_000 };
    for await (const chunk of snapshots.snapshot(wire.url, options)) {
      begun ||= wire.asked();
      ahead = Math.max(ahead, wire.sent() - taken);
      taken += chunk.length;
    }
  } finally {
    snapshots.close();
  }
  assert.ok(taken > 16 * kibibyte ** 2, `${taken} bytes were taken`);
  const words = (wire.asked() - begun) / wordBytes;
  // With the answers to etcd's pings, by which it finds out how far it is away.
  assert.ok(words < (2 * taken) / (256 * kibibyte), `etcd heard ${words} times to send on`);
  assert.ok(ahead < kibibyte ** 2, `${ahead} bytes came that were not taken`);
});

interface CountingProxy extends AsyncDisposable {
  readonly url: string;
  /** What came from etcd, in bytes, with all that its protocol adds. */
  readonly sent: () => number;
  /** What went there. */
  readonly asked: () => number;
}

/** Passes TCP on, and counts. Each side is read only as fast as the other one takes. */
async function countingProxy({ hostname, port }: URL): Promise<CountingProxy> {
  let sent = 0;
  let asked = 0;
  const sockets = new Set<Socket>();
  const server = createServer((client) => {
    const there = connect(Number(port), hostname);
    for (const socket of [client, there]) {
      sockets.add(socket);
      // Either side hangs up at the end of the test.
      socket.on('error', () => socket.destroy());
    }
    there.on('data', (chunk) => {
      sent += chunk.length;
    });
    client.on('data', (chunk) => {
      asked += chunk.length;
    });
    client.pipe(there).pipe(client);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    sent: () => sent,
    asked: () => asked,
    [Symbol.asyncDispose]: async () => {
      server.close();
      for (const socket of sockets) socket.destroy();
    },
  };
}
