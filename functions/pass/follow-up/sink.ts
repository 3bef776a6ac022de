import type { ClientRequest, IncomingMessage } from 'node:http';
import type { RequestOptions } from 'node:https';
import { abortAfter } from '../../../manifests/abort-after.ts';
import { jsonIn } from '../../../manifests/json.ts';

/** Where follow-ups go as events instead of Jobs: what Knative's SinkBinding puts into the environment. */
export interface Sink {
  readonly url: URL;
  /** `K_CE_OVERRIDES`: extensions that the SinkBinding wants on every event. */
  readonly extensions: Readonly<Record<string, string>>;
  /** `K_CA_CERTS`: PEM, where the sink's certificate is of a CA of its own. */
  readonly authorities?: string;
}

export const followUpType = 'dev.ratchet.etcd.follow-up';

/** What a follow-up event says: which clusters are worth another step. None named: all. */
export interface FollowUpData {
  readonly clusters: readonly string[];
  /** How many follow-ups before this one have seen nothing move; absent: none. */
  readonly again?: number;
}

/** An event that did not arrive. The message names the sink's host and what it said. */
export class SinkError extends Error {
  override readonly name = 'SinkError';
}

/** What one event may be about, and how long telling of it may take. */
const mostClusters = 100;
const patienceMs = 5_000;

/** @throws {SinkError} when the environment says something that makes no sense */
export function sinkFrom({ K_SINK, K_CE_OVERRIDES, K_CA_CERTS }: NodeJS.ProcessEnv): Sink | undefined {
  if (!K_SINK) return undefined;
  const url = URL.parse(K_SINK);
  if (!url || !['http:', 'https:'].includes(url.protocol)) throw new SinkError('K_SINK is not an http(s) address');
  return { url, extensions: extensionsIn(K_CE_OVERRIDES), ...(K_CA_CERTS && { authorities: K_CA_CERTS }) };
}

function extensionsIn(overrides: string | undefined): Readonly<Record<string, string>> {
  if (!overrides) return {};
  const said = jsonIn(overrides);
  if (said === undefined) throw new SinkError('K_CE_OVERRIDES is not JSON');
  const { extensions = {} } = (said ?? {}) as { readonly extensions?: unknown };
  const entries = Object.entries(typeof extensions === 'object' && extensions !== null ? extensions : {});
  // The names that CloudEvents allows; what we say ourselves stays.
  const wrong = entries.find(([name, value]) => !/^[a-z0-9]{1,64}$/.test(name) || typeof value !== 'string');
  if (wrong) throw new SinkError(`K_CE_OVERRIDES: ${wrong[0]} is not a valid extension of an event`);
  return Object.fromEntries(entries.filter(([name]) => !ours.includes(name)));
}

const ours = ['id', 'source', 'specversion', 'type', 'time', 'subject', 'datacontenttype', 'dataschema', 'data'];

/** Tells the sink which clusters (`<namespace>/<name>`) are worth another step. @throws {SinkError} */
export async function emitFollowUps(sink: Sink, source: string, clusters: readonly string[], again = 0): Promise<void> {
  // Loaded only where there is a sink.
  const { CloudEvent, HTTP } = await import('./cloud-events.ts');
  for (let n = 0; n === 0 || n < clusters.length; n += mostClusters) {
    const some = clusters.slice(n, n + mostClusters);
    try {
      const event = new CloudEvent<FollowUpData>({
        ...sink.extensions,
        type: followUpType,
        source,
        ...(some.length === 1 && some[0] !== undefined && { subject: some[0] }),
        datacontenttype: 'application/json',
        data: { clusters: some, ...(again > 0 && { again }) },
      });
      const { headers, body } = HTTP.binary(event);
      await post(sink, headers as Record<string, string>, String(body));
    } catch (error) {
      if (error instanceof SinkError) throw error;
      // The library and the runtime throw whatever they like at what an environment may hold.
      throw new SinkError(`${sink.url.host}: K_SINK and K_CE_OVERRIDES make no valid request: correct them`, {
        cause: error,
      });
    }
  }
}

async function post({ url, authorities }: Sink, headers: Record<string, string>, body: string): Promise<void> {
  const { request } = url.protocol === 'https:' ? await import('node:https') : await import('node:http');
  const options: RequestOptions = {
    method: 'POST',
    headers: { ...headers, 'content-length': Buffer.byteLength(body) },
    signal: abortAfter(patienceMs),
    ...(authorities && { ca: authorities }),
  };
  const status = await new Promise<number>((resolve, reject) => {
    const sent: ClientRequest = request(url, options, (answer: IncomingMessage) => {
      // Whatever it replies is of no use here.
      answer.resume();
      resolve(answer.statusCode ?? 0);
    });
    sent.once('error', (error: Error) => reject(new SinkError(`${url.host}: ${error.message}`)));
    sent.end(body);
  });
  if (status < 200 || status > 299) throw new SinkError(`${url.host} answered ${status}`);
}
