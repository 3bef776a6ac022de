/** HTTP/1.1 to one API server over few, kept connections: every exchange is bounded, every failure named. */

import http, { type IncomingHttpHeaders, type IncomingMessage, type OutgoingHttpHeaders } from 'node:http';
import https from 'node:https';
import type { Socket } from 'node:net';
import { unbracketed } from '../../manifests/render/hosts.ts';
import type { Access, Credentials } from './kube-access.ts';
import { isWrite, pathOf, type Target } from './kube-address.ts';
import { failure } from './kube-errors.ts';
import { maxAnswerBytes, StaleConnection, transportFailure, wholeBody } from './kube-transport.ts';
import { type Limit, limitOf } from './limit.ts';

interface Question {
  readonly target: Target;
  readonly query?: Readonly<Record<string, string>>;
  readonly headers?: OutgoingHttpHeaders;
  readonly body?: string;
  readonly signal?: AbortSignal | undefined;
  /** Of the answer. Default: {@link maxAnswerBytes}. */
  readonly mostBytes?: number | undefined;
  /** Called for each request that is really made. */
  readonly onRequest: () => void;
}

export interface Answer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
}

export interface Connection {
  /** The whole answer. A read is repeated once if its kept connection turns out to be dead. @throws {KubeError} */
  ask(question: Question): Promise<Answer>;
  /**
   * The answer as it comes, until `signal` aborts: only the wait for its beginning is bounded. Anything but a 200 comes
   * as a whole answer. @throws {KubeError}
   */
  stream(question: Question & { readonly signal: AbortSignal }): Promise<IncomingMessage | Answer>;
  close(): void;
}

interface Opened {
  readonly message: IncomingMessage;
  readonly abandon: () => void;
}

interface Agents {
  readonly key: string;
  /** Few, because each costs a handshake, and a pass asks for a dozen lists at once. */
  readonly kept: http.Agent;
  /** A watch holds its connection for as long as it lasts, so it must not take one from the kept ones. */
  readonly single: http.Agent;
}

const keptConnections = 4;
// Shorter than the API server's own 90 s, so that we close an idle connection first.
const idleMs = 60_000;

export function openConnection(access: Access, { timeoutMs }: { readonly timeoutMs: number }): Connection {
  const secure = access.server.protocol === 'https:';
  let agents: Agents | undefined;
  const connected = new WeakSet<Socket>();

  return {
    ask: async (question) => {
      const limit = limitOf(question.signal, timeoutMs);
      try {
        return await attempt(question, limit, true);
      } finally {
        limit.release();
      }
    },
    stream: async (question) => {
      const limit = limitOf(question.signal, timeoutMs);
      try {
        const opened = await open(question, limit, 'single');
        if (opened.message.statusCode === 200) {
          limit.stopClock();
          opened.message.once('close', limit.release);
          return opened.message;
        }
        const answer = await wholeAnswer(question, opened, limit);
        limit.release();
        return answer;
      } catch (error) {
        limit.release();
        throw error;
      }
    },
    close: () => {
      agents?.kept.destroy();
      agents?.single.destroy();
    },
  };

  async function attempt(question: Question, limit: Limit, mayRepeat: boolean): Promise<Answer> {
    try {
      return await wholeAnswer(question, await open(question, limit, 'kept'), limit);
    } catch (error) {
      if (!mayRepeat || isWrite(question.target) || !(error instanceof Error && error.cause instanceof StaleConnection))
        throw error;
      return attempt(question, limit, false);
    }
  }

  async function open(question: Question, limit: Limit, kind: 'kept' | 'single'): Promise<Opened> {
    const { target, query = {}, body } = question;
    // Said before anything else is tried: what comes next would be blamed for the time that others have used.
    if (limit.expired()) throw failure(target, 'Timeout', `not sent: no time was left (${limit.because()})`);
    const suffix = new URLSearchParams(query).toString();
    const path = `${access.server.pathname.replace(/\/$/, '')}${pathOf(target)}${suffix === '' ? '' : `?${suffix}`}`;
    const credentials = await limit.race(access.credentials()).catch((error: unknown) => {
      throw limit.expired() ? failure(target, 'Timeout', `no credentials ${limit.words()}`) : error;
    });
    const agent = credentials.proxy ?? agentsFor(credentials)[kind];
    question.onRequest();
    return new Promise((resolve, reject) => {
      let sent = false;
      const request = (secure ? https : http).request({
        host: unbracketed(access.server.hostname),
        port: access.server.port || (secure ? 443 : 80),
        method: methodOf(target),
        path,
        agent,
        signal: limit.signal,
        headers: {
          accept: 'application/json',
          ...credentials.headers,
          ...question.headers,
          ...(body === undefined ? {} : { 'content-length': Buffer.byteLength(body) }),
        },
      });
      request.once('socket', (socket) => {
        // A kept socket announces nothing any more (and `reusedSocket` is false for a request that had queued for it).
        if (connected.has(socket)) sent = true;
        else
          socket.once(secure ? 'secureConnect' : 'connect', () => {
            connected.add(socket);
            sent = true;
          });
        if (kind === 'single') socket.setKeepAlive(true, 15_000);
      });
      request.once('response', (message) => resolve({ message, abandon: () => request.destroy() }));
      request.once('error', (error: NodeJS.ErrnoException) => {
        if (limit.expired()) reject(failure(target, 'Timeout', `no answer ${limit.words()}`, { cause: error, sent }));
        else reject(transportFailure(target, access.server, error, { sent, reused: request.reusedSocket }));
      });
      request.end(body);
    });
  }

  /** A rotated certificate or CA needs new connections; the old ones idle out. */
  function agentsFor({ tls }: Credentials): Agents {
    const key = JSON.stringify([tls.ca, tls.cert, tls.key, tls.servername, tls.rejectUnauthorized].map(String));
    if (agents?.key === key) return agents;
    const create = (options: https.AgentOptions): http.Agent =>
      secure ? new https.Agent({ ...tls, ...options }) : new http.Agent(options);
    agents = {
      key,
      kept: create({ keepAlive: true, maxSockets: keptConnections, timeout: idleMs }),
      single: create({ keepAlive: false }),
    };
    return agents;
  }
}

async function wholeAnswer(
  { target, mostBytes = maxAnswerBytes }: Question,
  { message, abandon }: Opened,
  limit: Limit,
): Promise<Answer> {
  try {
    const body = await wholeBody(target, message, limit, mostBytes);
    return { status: message.statusCode ?? 0, headers: message.headers, body };
  } catch (error) {
    abandon();
    throw error;
  }
}

function methodOf({ verb }: Target): string {
  return verb === 'LIST' || verb === 'WATCH' ? 'GET' : verb;
}
