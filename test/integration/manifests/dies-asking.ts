import net from 'node:net';
import process from 'node:process';

/**
 * Loaded before a tick: the process is killed when it connects to this address, as by an answer that takes all memory.
 */
const address = process.env.RATCHET_TEST_DIES_AT;
const { connect } = net.Socket.prototype;
net.Socket.prototype.connect = function (this: net.Socket, ...args: readonly unknown[]) {
  if (args.flat().some(isThere)) process.kill(process.pid, 'SIGKILL');
  return Reflect.apply(connect, this, args);
} as typeof connect;

function isThere(option: unknown): boolean {
  return typeof option === 'object' && option !== null && 'host' in option && option.host === address;
}
