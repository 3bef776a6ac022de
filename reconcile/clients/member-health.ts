import { urlOf } from '../../manifests/render/hosts.ts';
import { ports } from '../../manifests/render/names.ts';
import { limitOf } from './limit.ts';
import { getBounded } from './metrics-port.ts';

/** Milliseconds. A member that is slower gets a full look. */
const longestMs = 1_000;

/** etcd's answer has some 40. */
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
    let body = '';
    const take = (chunk: Buffer) => {
      body += chunk.toString('latin1');
    };
    const status = await getBounded(new URL('/health', endpoint), { signal: limit.signal, mostBytes, take });
    return status === 200 && isWell(body);
  } catch {
    return false;
  } finally {
    limit.release();
  }
}

/** @throws {SyntaxError} for what is no JSON */
function isWell(body: string): boolean {
  const answer: unknown = JSON.parse(body);
  return typeof answer === 'object' && answer !== null && 'health' in answer && answer.health === 'true';
}
