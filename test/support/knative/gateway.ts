import { once } from 'node:events';
import {
  createServer,
  type IncomingMessage,
  request as onwardRequest,
  type Server,
  type ServerResponse,
} from 'node:http';
import type { AddressInfo } from 'node:net';
import { pipeline } from 'node:stream/promises';
import { setTimeout as pause } from 'node:timers/promises';
import { isReason, type Kube, type KubeObject, resources } from '../../../reconcile/interfaces/kube.ts';
import { type Ingress, ingressResource, isTold, onwardOf, tellReady } from './ingress.ts';

/**
 * What serves Knative's Ingresses here, in place of Kourier: routes by host, marks them Ready, and passes requests on
 * to the Services of their splits. Without TLS, HTTP/2 and routing by header.
 */
export interface Gateway extends AsyncDisposable {
  /** Serves what is public. */
  readonly publicUrl: string;
  /** All requests that it passed on, oldest first. */
  readonly passed: readonly Passed[];
}

export interface Passed {
  readonly host: string;
  /** Of a CloudEvent. */
  readonly type: string | undefined;
  readonly id: string | undefined;
  readonly subject: string | undefined;
  /** By `performance.now()`. */
  readonly since: number;
  /** Absent while it is under way; `cut`: the caller gave up. */
  end?: number | 'cut';
}

export interface GatewayOptions {
  readonly kube: Kube;
  /** An address of this machine that pods reach. */
  readonly host: string;
  /** The namespace of Knative Serving, where the gateway's own Service is made. */
  readonly namespace: string;
}

const name = 'gateway';
const againMs = 200;

export async function startGateway({ kube, host, namespace }: GatewayOptions): Promise<Gateway> {
  await using parts = new AsyncDisposableStack();
  const ingresses = new Map<string, Ingress>();
  const passed: Passed[] = [];
  const stopping = new AbortController();
  const listening = async (isPublic: boolean) => {
    const server = createServer((asked, answer) => {
      void passOn(asked, answer, isPublic).catch(() => answer.destroy());
    });
    server.listen(0, host);
    await once(server, 'listening');
    parts.defer(() => closed(server));
    return (server.address() as AddressInfo).port;
  };
  const [publicPort, localPort] = [await listening(true), await listening(false)];
  await makeService(kube, { namespace, host, port: localPort });

  async function passOn(asked: IncomingMessage, answer: ServerResponse, isPublic: boolean): Promise<void> {
    const wanted = { host: (asked.headers.host ?? '').replace(/:\d+$/, ''), path: asked.url ?? '/' };
    const onward = onwardOf(ingresses.values(), wanted, { isPublic, draw: Math.random });
    if (!onward) return void answer.writeHead(404).end();
    const of = (name: string) => asked.headers[`ce-${name}`]?.toString();
    const told = { type: of('type'), id: of('id'), subject: of('subject') };
    const record: Passed = { host: wanted.host, ...told, since: performance.now() };
    passed.push(record);
    answer.once('close', () => {
      record.end = answer.writableFinished ? answer.statusCode : 'cut';
    });
    const service = await kube.get<Addressed>(resources.services, onward.namespace, onward.service);
    const to = onwardRequest({
      host: service?.spec.clusterIP,
      port: onward.port,
      method: asked.method,
      path: asked.url,
      headers: { ...asked.headers, ...onward.headers },
      // Each connection anew: what is behind a Service changes as it scales.
      agent: false,
      signal: stopping.signal,
    });
    // A caller that gives up here has given up there.
    answer.once('close', () => to.destroy());
    const answered = once(to, 'response') as Promise<[IncomingMessage]>;
    asked.pipe(to);
    const [response] = await answered.catch(() => [undefined]);
    if (!response) return void (answer.headersSent ? answer.destroy() : answer.writeHead(503).end());
    answer.writeHead(response.statusCode ?? 502, response.headers);
    await pipeline(response, answer);
  }

  /** Lists and watches, and begins again whenever that ends. */
  async function follow(): Promise<void> {
    while (!stopping.signal.aborted) {
      try {
        await listedAndWatched();
      } catch (error) {
        if (!stopping.signal.aborted) console.error('the gateway begins again:', error);
      }
      await pause(againMs, undefined, { signal: stopping.signal }).catch(() => undefined);
    }
  }

  async function listedAndWatched(): Promise<void> {
    const { items, resourceVersion } = await kube.list<Ingress>(ingressResource, {});
    ingresses.clear();
    for (const one of items) await take(one);
    const options = { resourceVersion, signal: stopping.signal };
    for await (const { type, object } of kube.watch<Ingress>(ingressResource, options)) {
      if (type === 'DELETED') ingresses.delete(keyOf(object));
      else await take(object);
    }
  }

  async function take(ingress: Ingress): Promise<void> {
    ingresses.set(keyOf(ingress), ingress);
    if (isTold(ingress)) return;
    const domain = `${name}.${namespace}.svc.cluster.local`;
    await tellReady(kube, ingress, domain).catch((error: unknown) => {
      // It has changed, which is the next event.
      if (!isReason(error, 'Conflict') && !isReason(error, 'NotFound')) throw error;
    });
  }

  const ended = follow();
  parts.defer(async () => {
    stopping.abort();
    await ended;
  });
  const started = parts.move();
  return {
    publicUrl: `http://${host}:${publicPort}`,
    passed,
    [Symbol.asyncDispose]: () => started.disposeAsync(),
  };
}

interface Addressed extends KubeObject {
  readonly spec: { readonly clusterIP: string };
}

/** Of pods: the names of cluster-local Services are aliases of it. */
async function makeService(
  kube: Kube,
  { namespace, host, port }: { readonly namespace: string; readonly host: string; readonly port: number },
): Promise<void> {
  await kube.create<KubeObject>(resources.services, {
    ...{ apiVersion: 'v1', kind: 'Service', metadata: { name, namespace } },
    spec: { ports: [{ name: 'http', port: 80 }] },
  } as KubeObject);
  const slices = { apiVersion: 'discovery.k8s.io/v1', kind: 'EndpointSlice', plural: 'endpointslices' };
  await kube.create<KubeObject>(slices, {
    ...{ apiVersion: slices.apiVersion, kind: slices.kind },
    metadata: { name, namespace, labels: { 'kubernetes.io/service-name': name } },
    ...{ addressType: 'IPv4', endpoints: [{ addresses: [host] }], ports: [{ name: 'http', port, protocol: 'TCP' }] },
  } as KubeObject);
}

function keyOf({ metadata }: KubeObject): string {
  return `${metadata.namespace}/${metadata.name}`;
}

async function closed(server: Server): Promise<void> {
  server.closeAllConnections();
  server.close();
  if (server.listening) await once(server, 'close');
}
