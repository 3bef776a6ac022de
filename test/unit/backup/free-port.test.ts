import assert from 'node:assert/strict';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { type AddressInfo, createServer } from 'node:net';
import { test } from 'node:test';
import { freePort } from '../../../reconcile/backup/agent/free-port.ts';

test('a port that a program is to be started with is none that the next connection may get', async () => {
  const range = await readFile('/proc/sys/net/ipv4/ip_local_port_range', 'utf8');
  const [lowest = 0] = range.trim().split(/\s+/).map(Number);
  const ports = await Promise.all(Array.from({ length: 20 }, () => freePort()));
  for (const port of ports) assert.ok(port >= 1024 && port < lowest, `${port} of those from ${lowest} on`);
});

test('a port that is free can be listened on, and no other that was told is given', async () => {
  const first = await freePort();
  const second = await freePort('127.0.0.1', [first]);
  assert.notEqual(second, first);
  const server = createServer();
  server.listen(second, '127.0.0.1');
  await once(server, 'listening');
  assert.equal((server.address() as AddressInfo).port, second);
  server.close();
});

test('an address that this machine does not have is an error, and no search without end', async () => {
  await assert.rejects(freePort('192.0.2.1'), /EADDRNOTAVAIL/);
});
