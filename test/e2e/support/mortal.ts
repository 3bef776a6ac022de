import { appendFileSync, readFileSync } from 'node:fs';
import type { ClientRequest, IncomingMessage } from 'node:http';
import type { ClientHttp2Session, IncomingHttpHeaders, OutgoingHttpHeaders } from 'node:http2';
import http2 from 'node:http2';
import https from 'node:https';
import { type MortalOptions, mortalEnv, type When } from './mortal-options.ts';

/**
 * Preloaded into an invocation, which is our own bundle as it is shipped: it is killed (SIGKILL) at the first write at
 * which no invocation has died yet, be it one to the API server or a call that changes something in etcd.
 *
 * `before`: nothing of the request has left. `after`: it was carried out, and nothing of its answer is known. Places,
 * of writes in the life of a cluster, are words and not numbers: an invocation that finishes another one's work writes
 * other things than that did.
 */

const { cluster, ledger, dies } = JSON.parse(process.env[mortalEnv] ?? '') as MortalOptions;
const member = new RegExp(`\\b${cluster}-\\d+\\b`, 'g');
const met = new Set(readFileSync(ledger, 'utf8').split('\n'));

/** The step that is being carried out, from its lease on. */
let step = '';

function strike(when: When, place: string): void {
  const line = lineOf(when, place);
  if (met.has(line) || (dies !== 'everywhere' && dies !== 'nowhere' && dies !== line)) return;
  if (dies === 'everywhere' && when === 'before' && !isForGood(place)) return;
  met.add(line);
  appendFileSync(ledger, `${line}\n`);
  if (dies !== 'nowhere') process.kill(process.pid, 'SIGKILL');
}

function lineOf(when: When, place: string): string {
  // A grant, and a look, are other ones each time.
  return `${when} ${place.replaceAll(member, 'member').replaceAll(/\b(reboot|look)-[0-9a-f]{16,}/g, '$1')}`;
}

/**
 * Before a write is after the one that came before it: what is left behind is the same, and one death is enough. Before
 * what can't be taken back there are both.
 */
function isForGood(place: string): boolean {
  return /: (etcd |DELETE |POST \S+\/eviction )/.test(place);
}

/** A Kubernetes object as far as it tells where in a cluster's life it is written. */
interface Told {
  readonly kind?: string;
  readonly reason?: string;
  readonly metadata?: { readonly name: string; readonly annotations?: Readonly<Record<string, string>> };
  readonly status?: {
    readonly grants?: readonly unknown[];
    readonly conditions?: readonly { readonly reason?: string }[];
    readonly step?: { readonly action: string };
    readonly lastDecision?: { readonly reason: string };
  };
}

function placeOf(method: string, path: string, body: string): string {
  const resource = path.replace(/\?.*$/, '').replace(/^.*\/namespaces\/[^/]+\//, '');
  const told = (body === '' ? {} : JSON.parse(body)) as Told;
  if (told.kind === 'Event') return `${step}: event ${told.reason}`;
  if (method === 'POST') return `${step}: POST ${resource} ${told.metadata?.name}`;
  const ofReboot = placeOfReboot(resource, told);
  if (ofReboot !== undefined) return `${step}: ${method} ${ofReboot}`;
  if (told.kind !== 'EtcdCluster') return `${step}: ${method} ${resource}`;
  if (!told.status?.step) return `${step}: report ${told.status?.lastDecision?.reason}`;
  // Without its target: each death leaves fewer members and certificates to it, which would make it another place.
  step = told.status.step.action;
  return `${step}: lease`;
}

/** How far a reboot is: the marks of a Node, and what the policy says. */
function placeOfReboot(resource: string, { metadata, status }: Told): string | undefined {
  const [, name] = /\/nodes\/([^/]+)$/.exec(resource) ?? [];
  if (name !== undefined) {
    const keys = Object.keys(metadata?.annotations ?? {}).filter((key) => key.includes('/reboot-'));
    return `node with ${keys.toSorted().join(' ')}`;
  }
  if (!/\/etcdnodepolicies\//.test(resource)) return undefined;
  return `policy with ${status?.grants?.length ?? 0} grants, ${status?.conditions?.[0]?.reason}`;
}

const writing: ReadonlySet<string> = new Set(['POST', 'PUT', 'PATCH', 'DELETE']);
const askKubernetes = https.request.bind(https) as (options: https.RequestOptions) => ClientRequest;

https.request = ((options: https.RequestOptions) => {
  const request = askKubernetes(options);
  const { method, path } = options;
  if (!method || !path || !writing.has(method) || path.includes('dryRun=All')) return request;
  const end = request.end.bind(request) as (body?: string) => ClientRequest;
  request.end = ((body?: string) => {
    const place = placeOf(method, path, body ?? '');
    strike('before', place);
    request.prependListener('response', ({ statusCode = 0 }: IncomingMessage) => {
      if (statusCode < 300) strike('after', place);
    });
    return end(body);
  }) as typeof request.end;
  return request;
}) as typeof https.request;

const changing =
  /^\/etcdserverpb\.(Cluster\/Member(?:Add|Remove|Promote)|Maintenance\/(?:MoveLeader|Defragment)|KV\/Compact)$/;
const connect = http2.connect.bind(http2) as typeof http2.connect;

http2.connect = ((...args: Parameters<typeof http2.connect>): ClientHttp2Session => {
  const session = connect(...args);
  const ask = session.request.bind(session);
  session.request = (headers?: OutgoingHttpHeaders, options?) => {
    const call = changing.exec(String(headers?.[':path']))?.[1];
    if (call === undefined) return ask(headers as OutgoingHttpHeaders, options);
    const place = `${step}: etcd ${call}`;
    strike('before', place);
    const stream = ask(headers as OutgoingHttpHeaders, options);
    stream.prependListener('trailers', (trailers: IncomingHttpHeaders) => {
      if (trailers['grpc-status'] === '0') strike('after', place);
    });
    return stream;
  };
  return session;
}) as typeof http2.connect;
