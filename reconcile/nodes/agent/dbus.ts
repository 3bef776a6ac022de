import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { message, readMessage } from './dbus-wire.ts';

/**
 * One call on a D-Bus: `org.freedesktop.login1.Manager.Reboot`, as `systemctl reboot` makes it, and the least of the
 * protocol for it: https://dbus.freedesktop.org/doc/dbus-specification.html
 */

/** For the whole conversation, in milliseconds. */
const patience = 20_000;

/**
 * Asks systemd-logind to reboot the host, not interactively: where a policy would ask a person, it is refused.
 * @param path of the system bus's socket
 * @throws {Error} when the bus does not answer, or refuses
 */
export async function rebootByLogind(path: string, uid: number): Promise<void> {
  const socket = connect({ path });
  socket.setTimeout(patience, () => socket.destroy(new Error(`the system bus does not answer within ${patience} ms`)));
  try {
    await once(socket, 'connect');
    const input = lines(socket);
    // EXTERNAL: the kernel says which user it is.
    socket.write(`\0AUTH EXTERNAL ${Buffer.from(String(uid)).toString('hex')}\r\n`);
    const welcome = await input.line();
    if (!welcome.startsWith('OK ')) throw new Error(`the system bus lets no one in: ${welcome.slice(0, 200)}`);
    socket.write('BEGIN\r\n');
    await call(socket, input, 1, { path: '/org/freedesktop/DBus', bus: 'org.freedesktop.DBus', member: 'Hello' });
    const manager = { path: '/org/freedesktop/login1', bus: 'org.freedesktop.login1.Manager', member: 'Reboot' };
    await call(socket, input, 2, { ...manager, destination: 'org.freedesktop.login1', flag: false });
  } finally {
    socket.destroy();
  }
}

interface Call {
  readonly path: string;
  /** The interface, and the destination where none is given. */
  readonly bus: string;
  readonly member: string;
  readonly destination?: string;
  /** Its one argument, a boolean. */
  readonly flag?: boolean;
}

async function call(socket: Socket, input: Input, serial: number, { bus, destination = bus, ...rest }: Call) {
  socket.write(message({ serial, destination, interface: bus, ...rest }));
  for (;;) {
    const answer = await input.message();
    // Signals come in between, as the one that a name was acquired.
    if (answer.replyTo !== serial) continue;
    if (answer.kind === 'error') throw new Error(`${rest.member} is refused: ${answer.error}: ${answer.text}`);
    return;
  }
}

interface Input {
  line(): Promise<string>;
  message(): Promise<ReturnType<typeof readMessage>['message'] & object>;
}

/** No line of the handshake, and no answer to these calls, is longer. */
const longest = 65_536;

function lines(socket: Socket): Input {
  let buffer: Buffer = Buffer.alloc(0);
  let failure: Error | undefined;
  let woken = Promise.withResolvers<void>();
  socket.on('data', (chunk: Buffer) => {
    buffer = Buffer.concat([buffer, chunk]);
    if (buffer.length > longest) socket.destroy(new Error('the system bus says more than it should'));
    woken.resolve();
  });
  const end = (error: Error) => {
    failure ??= error;
    woken.resolve();
  };
  socket.on('error', end);
  socket.on('close', () => end(new Error('the system bus closed the connection')));

  async function more<T>(take: () => T | undefined): Promise<T> {
    for (;;) {
      const found = take();
      if (found !== undefined) return found;
      if (failure) throw failure;
      await woken.promise;
      woken = Promise.withResolvers();
    }
  }

  return {
    line: () =>
      more(() => {
        const end = buffer.indexOf('\r\n');
        if (end < 0) return undefined;
        const text = buffer.subarray(0, end).toString('latin1');
        buffer = buffer.subarray(end + 2);
        return text;
      }),
    message: () =>
      more(() => {
        const { message: found, length } = readMessage(buffer);
        buffer = buffer.subarray(length);
        return found;
      }),
  };
}
