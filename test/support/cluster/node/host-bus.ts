import { once } from 'node:events';
import { rm } from 'node:fs/promises';
import { createServer, type Socket } from 'node:net';

/**
 * The system bus of one node's host, as far as `systemctl reboot` needs it: it lets everyone in, and takes
 * `org.freedesktop.login1.Manager.Reboot` for what it is.
 */
export async function startHostBus(path: string, reboot: () => Promise<void>): Promise<{ close(): void }> {
  const server = createServer((socket) => converse(socket, reboot));
  await rm(path, { force: true });
  server.listen(path);
  await once(server, 'listening');
  return { close: () => server.close() };
}

function converse(socket: Socket, reboot: () => Promise<void>): void {
  let bytes: Buffer = Buffer.alloc(0);
  let isIn = false;
  // The pod that asks dies with its node.
  socket.on('error', () => socket.destroy());
  socket.on('data', (chunk: Buffer) => {
    bytes = Buffer.concat([bytes, chunk]);
    if (!isIn) {
      const end = bytes.indexOf('\r\n');
      if (end < 0) return;
      const line = bytes.subarray(0, end).toString('latin1');
      bytes = bytes.subarray(end + 2);
      if (line.includes('AUTH EXTERNAL')) socket.write('OK 0123456789abcdef0123456789abcdef\r\n');
      if (line !== 'BEGIN') return;
      isIn = true;
    }
    for (let one = taken(); one; one = taken()) answer(one);
  });

  function taken(): Buffer | undefined {
    if (bytes.length < 16) return undefined;
    const length = Math.ceil((16 + bytes.readUInt32LE(12)) / 8) * 8 + bytes.readUInt32LE(4);
    if (bytes.length < length) return undefined;
    const one = bytes.subarray(0, length);
    bytes = bytes.subarray(length);
    return one;
  }

  function answer(call: Buffer): void {
    const isReboot = call.includes('org.freedesktop.login1.Manager\0') && call.includes('Reboot\0');
    socket.write(reply(call.readUInt32LE(8)));
    if (isReboot) void reboot();
  }
}

/** A method's return without a value: its one header field says to which call. */
function reply(serial: number): Buffer {
  const bytes = Buffer.alloc(24);
  bytes.write('l\u0002\u0000\u0001', 0, 'latin1');
  bytes.writeUInt32LE(serial + 1000, 8);
  bytes.writeUInt32LE(8, 12);
  bytes.write('\u0005\u0001u\u0000', 16, 'latin1');
  bytes.writeUInt32LE(serial, 20);
  return bytes;
}
