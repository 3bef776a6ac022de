import http from 'node:http';
import { urlOf } from '../../manifests/render/hosts.ts';
import { ports } from '../../manifests/render/names.ts';
import { limitOf } from './limit.ts';

/** Milliseconds. A member that is slower gets a full look. */
const longestMs = 1_000;

/** etcd's answer has some 40. A member may run the image of a tenant. */
const mostBytes = 1_024;

/**
 * `GET /health` on the metrics port, without TLS: whether the member knows a leader, a linearizable read came through
 * its quorum, and no alarm is raised (`etcdserver/api/etcdhttp/health.go`, 3.5 to 3.7). Any other answer, and none
 * within a second, is `false`. Loads no etcd client.
 */
export function memberHealth(address: string, signal: AbortSignal): Promise<boolean> {
  return healthAt(urlOf('http', address, ports.metrics), signal);
}

export async function healthAt(endpoint: string, signal: AbortSignal): Promise<boolean> {
  const limit = limitOf(signal, longestMs);
  try {
    const { status, body } = await get(new URL('/health', endpoint), limit.signal);
    return status === 200 && isWell(body);
  } catch {
    return false;
  } finally {
    limit.release();
  }
}

interface Answer {
  readonly status: number | undefined;
  readonly body: string;
}

/** Redirects are not followed: the pod is asked, and nothing else. */
function get(url: URL, signal: AbortSignal): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const request = http.get(url, { agent: false, signal }, (response) => {
      let body = '';
      response.setEncoding('latin1');
      response.on('data', (chunk: string) => {
        body += chunk;
        if (body.length > mostBytes) request.destroy(new Error(`the answer is larger than ${mostBytes} bytes`));
      });
      response.on('end', () => resolve({ status: response.statusCode, body }));
      response.on('error', reject);
    });
    request.on('error', reject);
  });
}

/** @throws {SyntaxError} for what is no JSON */
function isWell(body: string): boolean {
  const answer: unknown = JSON.parse(body);
  return typeof answer === 'object' && answer !== null && 'health' in answer && answer.health === 'true';
}
