import { spawn } from 'node:child_process';
import { request as httpRequest } from 'node:http';
import { request as httpsRequest } from 'node:https';
import { connect } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import { urlOf } from '../../../../manifests/render/hosts.ts';
import { inContainer } from './container.ts';
import type { Container, HttpGet } from './wire.ts';

/** What a probe or a lifecycle hook does; the API server has checked that exactly one is given. */
export type Handler = {
  exec?: { command?: string[] };
  httpGet?: HttpGet;
  tcpSocket?: { host?: string; port: number | string };
  grpc?: unknown;
  sleep?: { seconds: number };
};

export type HandlerTarget = {
  readonly container: Container;
  readonly podIP: string;
  readonly pid: number;
  readonly env: ReadonlyMap<string, string>;
};

export type Outcome = { readonly ok: true } | { readonly ok: false; readonly message: string };

/** Never throws: whatever goes wrong is a failure with its reason. */
export async function runHandler(handler: Handler, target: HandlerTarget, timeoutMs: number): Promise<Outcome> {
  try {
    if (handler.exec) return await execute(handler.exec.command ?? [], target, timeoutMs);
    if (handler.httpGet) return await httpGet(handler.httpGet, target, timeoutMs);
    if (handler.tcpSocket) return await tcpConnect(handler.tcpSocket, target, timeoutMs);
    if (handler.sleep) {
      await pause(Math.min(handler.sleep.seconds * 1000, timeoutMs));
      return { ok: true };
    }
    return { ok: false, message: `the process node has no ${Object.keys(handler).join(', ')} handler` };
  } catch (error) {
    return { ok: false, message: error instanceof Error ? error.message : String(error) };
  }
}

function execute(command: readonly string[], { pid, env }: HandlerTarget, timeoutMs: number): Promise<Outcome> {
  const [program = '', ...args] = inContainer(pid, command);
  return new Promise((resolve) => {
    // `nsenter` forks into the process namespace; a group of its own lets a timeout reach both.
    const child = spawn(program, args, {
      env: Object.fromEntries(env),
      stdio: ['ignore', 'pipe', 'pipe'],
      detached: true,
    });
    let output = '';
    const timer = setTimeout(() => {
      output = `command timed out: "${command.join(' ')}" timed out after ${timeoutMs / 1000}s`;
      try {
        process.kill(-(child.pid ?? 0), 'SIGKILL');
      } catch {
        child.kill('SIGKILL');
      }
    }, timeoutMs);
    const keep = (text: Buffer) => {
      if (output.length < 10_000) output += text;
    };
    child.stdout.on('data', keep);
    child.stderr.on('data', keep);
    child.on('error', (error) => resolve({ ok: false, message: error.message }));
    child.on('exit', (code) => {
      clearTimeout(timer);
      resolve(code === 0 ? { ok: true } : { ok: false, message: output.trim() || `command exited with ${code}` });
    });
  });
}

function httpGet(get: HttpGet, { container, podIP }: HandlerTarget, timeoutMs: number): Promise<Outcome> {
  const secure = get.scheme === 'HTTPS';
  const options = {
    host: get.host || podIP,
    port: portNumber(get.port, container),
    // A path without its slash is one all the same.
    path: get.path?.startsWith('/') ? get.path : `/${get.path ?? ''}`,
    headers: {
      'user-agent': 'kube-probe/process-node',
      ...Object.fromEntries((get.httpHeaders ?? []).map((h) => [h.name, h.value])),
    },
    agent: false,
    signal: AbortSignal.timeout(timeoutMs),
  } as const;
  return new Promise((resolve, reject) => {
    // kubelet does not check a pod's certificate either.
    const request = secure ? httpsRequest({ ...options, rejectUnauthorized: false }) : httpRequest(options);
    request.on('response', (response) => {
      const status = response.statusCode ?? 0;
      response.on('error', reject).resume();
      response.destroy();
      if (status >= 200 && status < 400) resolve({ ok: true });
      else resolve({ ok: false, message: `HTTP probe failed with statuscode: ${status}` });
    });
    request.on('error', (error) => {
      const url = `${urlOf(secure ? 'https' : 'http', options.host, options.port)}${options.path}`;
      resolve({
        ok: false,
        message: `Get "${url}": ${error.name === 'AbortError' ? 'context deadline exceeded' : error.message}`,
      });
    });
    request.end();
  });
}

function tcpConnect(
  { host, port }: { host?: string; port: number | string },
  { container, podIP }: HandlerTarget,
  timeoutMs: number,
): Promise<Outcome> {
  return new Promise((resolve) => {
    const socket = connect({ host: host || podIP, port: portNumber(port, container), timeout: timeoutMs });
    const end = (outcome: Outcome) => {
      socket.destroy();
      resolve(outcome);
    };
    socket.on('connect', () => end({ ok: true }));
    socket.on('timeout', () => end({ ok: false, message: `dial tcp ${podIP}: i/o timeout` }));
    socket.on('error', (error) => end({ ok: false, message: error.message }));
  });
}

function portNumber(port: number | string, container: Container): number {
  if (typeof port === 'number') return port;
  const named = container.ports?.find(({ name }) => name === port)?.containerPort;
  const number = named ?? Number(port);
  if (!Number.isInteger(number)) throw new Error(`container ${container.name} has no port named ${port}`);
  return number;
}
