import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { rebootByLogind } from '../../../reconcile/nodes/agent/dbus.ts';
import { message, readMessage } from '../../../reconcile/nodes/agent/dbus-wire.ts';
import { startHostBus } from '../../support/cluster/node/host-bus.ts';

async function inDirectory(use: (path: string) => Promise<void>): Promise<void> {
  const directory = await mkdtemp(join(tmpdir(), 'bus-'));
  try {
    await use(join(directory, 'bus.sock'));
  } finally {
    await rm(directory, { recursive: true });
  }
}

test('a host whose logind takes it is told to reboot, once', () =>
  inDirectory(async (path) => {
    let reboots = 0;
    const bus = await startHostBus(path, async () => {
      reboots += 1;
    });
    await rebootByLogind(path, 0);
    bus.close();
    assert.equal(reboots, 1);
  }));

test('a bus that is not there, hangs up or talks nonsense is an error, and never a reboot', () =>
  inDirectory(async (path) => {
    await assert.rejects(rebootByLogind(path, 0), /ENOENT/);
    for (const answer of [
      'REJECTED EXTERNAL\r\n',
      'OK x\r\n\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0',
      '',
      'x'.repeat(70_000),
    ]) {
      const server = createServer((socket) => {
        socket.on('error', () => socket.destroy());
        socket.once('data', () => socket.end(answer));
      }).listen(path);
      await assert.rejects(rebootByLogind(path, 0), Error, answer.slice(0, 20));
      await new Promise((resolve) => server.close(resolve));
    }
  }));

/** An answer without a value, of this type and order of bytes. */
function answerTo(serial: number, type = 2, order = 'l'): Buffer {
  const bytes = Buffer.alloc(24);
  bytes.write(`${order}${String.fromCharCode(type)}\0\u0001`, 'latin1');
  bytes.writeUInt32LE(8, 12);
  bytes.write('\u0005\u0001u\0', 16, 'latin1');
  bytes.writeUInt32LE(serial, 20);
  return bytes;
}

/** As a bus refuses a call: the fields stand at multiples of 8, and its words are the body. */
function errorTo(serial: number, words?: string): Buffer {
  const name = 'org.x.Denied';
  const body = words === undefined ? Buffer.alloc(0) : Buffer.from(`\0\0\0\0${words}\0`);
  if (words !== undefined) body.writeUInt32LE(words.length);
  const header = Buffer.alloc(56);
  header.write('l\u0003\0\u0001', 'latin1');
  header.writeUInt32LE(body.length, 4);
  header.writeUInt32LE(37, 12);
  header.write('\u0005\u0001u\0', 16, 'latin1');
  header.writeUInt32LE(serial, 20);
  header.write('\u0008\u0001g\0\u0001s\0', 24, 'latin1');
  header.write('\u0004\u0001s\0', 32, 'latin1');
  header.writeUInt32LE(name.length, 36);
  header.write(name, 40, 'latin1');
  return Buffer.concat([header, body]);
}

test('a bus that refuses a call, or lets no one in, is told as that', () =>
  inDirectory(async (path) => {
    for (const [welcome, answers, words] of [
      ['REJECTED EXTERNAL\r\n', [], /lets no one in: REJECTED/],
      ['OK x\r\n', [answerTo(99), answerTo(1, 3)], /^Error: Hello is refused/],
      ['OK x\r\n', [answerTo(1, 2, 'B')], /little-endian/],
      ['OK x\r\n', [errorTo(1, 'not today')], /Hello is refused: org\.x\.Denied: not today$/],
      ['OK x\r\n', [errorTo(1)], /Hello is refused: org\.x\.Denied: $/],
      ['x'.repeat(70_000), [], /says more than it should/],
    ] as const) {
      const server = createServer((socket) => {
        socket.on('error', () => socket.destroy());
        socket.once('data', () => socket.end(Buffer.concat([Buffer.from(welcome), ...answers])));
      }).listen(path);
      await assert.rejects(rebootByLogind(path, 0), words);
      await new Promise((resolve) => server.close(resolve));
    }
  }));

test('a call is laid out as the specification says', () => {
  const bytes = message({ serial: 1, path: '/a', interface: 'b.c', member: 'D', destination: 'b.c', flag: true });
  assert.equal(bytes.length % 4, 0);
  assert.deepEqual([...bytes.subarray(0, 4)], [0x6c, 1, 0, 1]);
  assert.equal(bytes.readUInt32LE(4), 4, 'the length of its body');
  assert.equal(bytes.readUInt32LE(bytes.length - 4), 1, 'the flag');
  const without = { serial: 1, path: '/a', interface: 'b.c', member: 'D', destination: 'b.c' };
  const unset = message({ ...without, flag: false });
  assert.deepEqual([unset.readUInt32LE(4), unset.readUInt32LE(unset.length - 4)], [4, 0], 'no person is asked');
  assert.equal(message(without).readUInt32LE(4), 0);
});

test('half a message is awaited, and two are taken one by one', () => {
  const one = message({ serial: 1, path: '/a', interface: 'b.c', member: 'D', destination: 'b.c' });
  for (let length = 0; length < one.length; length++)
    assert.deepEqual(readMessage(one.subarray(0, length)), { message: undefined, length: 0 });
  const { message: first, length } = readMessage(Buffer.concat([one, one]));
  assert.deepEqual([first?.kind, length], ['other', one.length]);
});
