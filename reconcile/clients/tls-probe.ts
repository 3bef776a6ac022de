/** Looks at one endpoint's TLS with a connection of its own, over which no request ever goes. */

import { connect as connectPlain, type Socket } from 'node:net';
import { type ConnectionOptions, connect, type TLSSocket } from 'node:tls';
import { hostPort, unbracketed } from '../../manifests/render/hosts.ts';
import { EtcdError, type TlsProblem } from '../interfaces/etcd.ts';
import { type Secured, secured } from './etcd-tls.ts';
import { limitOf } from './limit.ts';
import { sentenceFor, type TlsFinding, tlsProblemIn } from './tls-problems.ts';

/** For the whole of one diagnosis, in milliseconds: it only explains a failure that is certain already. */
const diagnosisMs = 1_000;

interface Address {
  readonly host: string;
  readonly port: number;
}

export interface ServedCertificate {
  /** SHA-256, lower-case hex without colons. */
  readonly fingerprint: string;
  readonly notAfter: Date;
  /** Signed by an authority in `ca`, valid now, and for `serverName`. */
  readonly authorized: boolean;
  /** Why not. */
  readonly problem?: TlsProblem;
}

export interface ServedOptions extends Address {
  readonly serverName: string;
  readonly ca: string;
  /** Left out where ours are not of the authority that the port trusts, as on the peer port. */
  readonly cert?: string;
  readonly key?: string;
  readonly signal: AbortSignal;
  /** Milliseconds. */
  readonly timeoutMs: number;
}

/**
 * The certificate that is presented right now, trusted or not: it shows whether a renewed one is served. With TLS 1.3,
 * etcd's default, even if our own is rejected: that comes later. @throws {EtcdError} without an answer, or without TLS
 */
export async function servedCertificate(options: ServedOptions): Promise<ServedCertificate> {
  const { host, port, serverName, ca, cert = '', key = '', signal, timeoutMs } = options;
  const at = `TLS at ${hostPort(host, port)}`;
  const own = secured({ ca, cert, key, serverName: () => serverName });
  if ('defect' in own) throw new EtcdError(`${at}: not asked, ${own.defect}`, 'down', undefined, 'HandshakeFailed');
  const limit = limitOf(signal, timeoutMs);
  try {
    // Nothing is said over this connection, so that it may be looked at whatever it presents.
    const asked = { host, port, secureContext: own.context, servername: serverName, rejectUnauthorized: false };
    const served = await shake(asked, limit.signal, 'secureConnect', seen);
    if (typeof served !== 'string') return served;
    if (limit.expired()) throw new EtcdError(`${at}: no answer ${limit.words()}`, 'down');
    const finding = tlsProblemIn(served);
    if (finding === undefined) throw new EtcdError(`${at}: ${served}`, 'down');
    throw new EtcdError(
      `${at}: ${sentenceFor(finding, { serverName, ours: own.ours() })}`,
      'down',
      undefined,
      finding.problem,
    );
  } finally {
    limit.release();
  }
}

function seen(socket: TLSSocket): ServedCertificate | undefined {
  const certificate = socket.getPeerX509Certificate();
  if (certificate === undefined) return undefined;
  const fingerprint = certificate.fingerprint256.replaceAll(':', '').toLowerCase();
  const shown = { fingerprint, notAfter: certificate.validToDate, authorized: socket.authorized };
  if (socket.authorized) return shown;
  return { ...shown, problem: tlsProblemIn(String(socket.authorizationError))?.problem ?? 'HandshakeFailed' };
}

/** Why an endpoint that should speak TLS hung up on us; undefined when TLS is not why, or is no longer. */
export async function diagnoseTls(
  endpoint: string,
  own: Secured,
  signal: AbortSignal,
): Promise<TlsFinding | undefined> {
  const limit = limitOf(signal, diagnosisMs);
  try {
    const address = addressOf(endpoint);
    const asked = {
      ...address,
      secureContext: own.context,
      servername: own.serverName(endpoint),
      ALPNProtocols: ['h2'],
    };
    // With HTTP/2, a server that has accepted our certificate speaks first.
    const failure = await shake(asked, limit.signal, 'data', () => true);
    if (typeof failure !== 'string' || limit.expired()) return undefined;
    const finding = tlsProblemIn(failure);
    if (finding !== undefined || !hungUp.test(failure)) return finding;
    if (failure === hungUpSecured) return { problem: 'HandshakeFailed', detail: failure, unread: false };
    return (await answersPlainly(address, limit.signal))
      ? { problem: 'PlaintextOnTlsPort', detail: failure, unread: false }
      : undefined;
  } finally {
    limit.release();
  }
}

/** Whether an endpoint that should speak plaintext, and closed the connection, speaks TLS. Sends no certificate. */
export async function diagnosePlaintext(endpoint: string, signal: AbortSignal): Promise<TlsFinding | undefined> {
  const limit = limitOf(signal, diagnosisMs);
  try {
    const said = await shake(
      { ...addressOf(endpoint), rejectUnauthorized: false },
      limit.signal,
      'secureConnect',
      () => true,
    );
    const speaksTls =
      said === true || (typeof said === 'string' && tlsProblemIn(said)?.problem === 'ClientCertificateRefused');
    return speaksTls ? { problem: 'TlsOnPlaintextPort', detail: 'it speaks TLS', unread: false } : undefined;
  } finally {
    limit.release();
  }
}

const hungUpSecured = 'closed right after the handshake, as for a revoked client certificate';
const hungUp = /ECONNRESET|EPIPE|disconnected before secure|closed/;

/**
 * One handshake. Resolves with what `look` sees once it is done on our side (`secureConnect`), or once the other side
 * has sent data, which proves that it is done with us. A string tells why it failed.
 */
function shake<T>(
  options: ConnectionOptions,
  signal: AbortSignal,
  when: 'secureConnect' | 'data',
  look: (socket: TLSSocket) => T | undefined,
): Promise<T | string> {
  return new Promise((resolve) => {
    let secure = false;
    const socket = connect(options);
    const closed = () => (secure ? hungUpSecured : 'closed before the handshake was done');
    const end = endOnce(socket, signal, resolve, closed);
    socket.once('secureConnect', () => {
      secure = true;
    });
    socket.once(when, () => end(look(socket) ?? 'no certificate was presented'));
  });
}

/** One line of HTTP without any of our data. */
function answersPlainly(address: Address, signal: AbortSignal): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connectPlain(address);
    const end = endOnce(
      socket,
      signal,
      (outcome: boolean | string) => resolve(outcome === true),
      () => 'closed without an answer',
    );
    socket.once('connect', () => socket.write('GET /version HTTP/1.0\r\n\r\n'));
    socket.once('data', (chunk: Buffer) => end(chunk.toString('latin1').startsWith('HTTP/')));
  });
}

/** The first outcome counts; then the socket is closed, and the listener on the signal removed. */
function endOnce<T>(
  socket: Socket,
  signal: AbortSignal,
  resolve: (outcome: T | string) => void,
  whenClosed: () => string,
): (outcome: T | string) => void {
  const giveUp = () => end('given up');
  const end = (outcome: T | string) => {
    signal.removeEventListener('abort', giveUp);
    socket.destroy();
    resolve(outcome);
  };
  signal.addEventListener('abort', giveUp, { once: true });
  if (signal.aborted) giveUp();
  // Stays, so that an error after the end is not unhandled.
  socket.on('error', (error: Error & { readonly code?: string }) => end(`${error.code ?? ''} ${error.message}`.trim()));
  socket.once('close', () => end(whenClosed()));
  return end;
}

function addressOf(endpoint: string): Address {
  const { hostname, port, protocol } = new URL(endpoint);
  const standard = protocol === 'https:' ? 443 : 80;
  return { host: unbracketed(hostname), port: port === '' ? standard : Number(port) };
}
