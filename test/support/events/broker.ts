import { randomUUID } from 'node:crypto';
import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import { CloudEvent, HTTP } from 'cloudevents';
import { type Kube, type KubeObject, type Resource, resources } from '../../../reconcile/interfaces/kube.ts';

/**
 * What stands in for Knative Eventing: an ApiServerSource in Resource mode, and a Broker with one Trigger, which tries
 * again after the status codes that Knative's does, with exponential back-off. As the in-memory channel of 1.19 does
 * (tried), it answers whoever sends to it when the subscriber has answered, unless the Broker was made asynchronous;
 * and a sender that gives up before cancels the delivery.
 */
export interface Broker extends AsyncDisposable {
  /** What SinkBinding would put into K_SINK. */
  readonly sink: string;
  /** Every event that was delivered or given up, with the last answer, oldest first. */
  readonly deliveries: readonly Delivered[];
  /** Events that are being delivered, or wait to be delivered again. */
  readonly underWay: number;
  /** Delivers an event of our own making. */
  send(event: CloudEvent<unknown>): void;
  /** A PingSource's. */
  ping(): void;
}

export interface Delivered {
  readonly type: string;
  readonly subject: string | undefined;
  readonly status: number;
  readonly attempts: number;
  /** An answer with a body is a failure to Knative, unless it is an event. */
  readonly body: string;
}

export interface BrokerOptions {
  readonly kube: Kube;
  readonly namespace: string;
  /** The subscriber: `…/events`. */
  readonly target: () => string;
  /** The annotations of the Broker, as manifests/knative has them. */
  readonly annotations: Readonly<Record<string, string>>;
  readonly host?: string;
}

export const asyncHandler = 'messaging.knative.dev/async-handler';

const attempts = 6;
const backoffMs = 200;

export async function startBroker({
  kube,
  namespace,
  target,
  annotations,
  host = '127.0.0.1',
}: BrokerOptions): Promise<Broker> {
  const stopping = new AbortController();
  const deliveries: Delivered[] = [];
  const under = new Set<Promise<unknown>>();
  let underWay = 0;

  /** @returns the last answer; 0: it was cancelled */
  function send(event: CloudEvent<unknown>, sender?: AbortSignal): Promise<number> {
    const signal = sender ? AbortSignal.any([sender, stopping.signal]) : stopping.signal;
    const sent = deliver(event, signal).catch((error: unknown) => {
      if (!signal.aborted) console.error('the test broker failed:', error);
      if (sender?.aborted) deliveries.push({ ...told(event), attempts: 1, status: 0, body: '' });
      return 0;
    });
    under.add(sent);
    underWay += 1;
    void sent.finally(() => {
      under.delete(sent);
      underWay -= 1;
    });
    return sent;
  }

  async function deliver(event: CloudEvent<unknown>, signal: AbortSignal): Promise<number> {
    const { headers, body } = HTTP.binary(event);
    for (let attempt = 1; ; attempt++) {
      const answer = await fetch(target(), {
        method: 'POST',
        headers: headers as Record<string, string>,
        body: String(body),
        signal,
      }).then(
        async (response) => ({ status: response.status, body: await response.text() }),
        (error: unknown) => {
          if (signal.aborted) throw error;
          return { status: 0, body: '' };
        },
      );
      if (isFinal(answer.status) || attempt === attempts) {
        deliveries.push({ ...told(event), attempts: attempt, ...answer });
        return answer.status;
      }
      await pause(backoffMs * 2 ** (attempt - 1), undefined, { signal });
    }
  }

  // What changes from now on is told.
  const watched = [resources.clusters, resources.peers, resources.pods, resources.volumeClaims];
  const began = await Promise.all(watched.map(async (resource) => ({ resource, from: await listed(resource) })));
  for (const { resource, from } of began) under.add(source(resource, from));

  /**
   * Watches on and on, and lists again when that fails, as client-go's reflectors do. As Knative's source, it tells
   * nothing of what it lists: neither what was there before it began, nor what changed while it did not watch.
   */
  async function source(resource: Resource, from: string): Promise<void> {
    let resourceVersion: string | undefined = from;
    while (!stopping.signal.aborted) {
      try {
        resourceVersion = await watchedFrom(resource, resourceVersion ?? (await listed(resource)));
      } catch (error) {
        if (stopping.signal.aborted) return;
        console.error(`the test's source of ${resource.plural} begins again:`, error);
        await pause(backoffMs, undefined, { signal: stopping.signal }).catch(() => undefined);
        resourceVersion = undefined;
      }
    }
  }

  async function listed(resource: Resource): Promise<string> {
    return (await kube.list<KubeObject>(resource, { namespace, signal: stopping.signal })).resourceVersion;
  }

  /** Until it ends; from where another one goes on. */
  async function watchedFrom(resource: Resource, resourceVersion: string): Promise<string> {
    let last = resourceVersion;
    const verbs = { ADDED: 'add', MODIFIED: 'update', DELETED: 'delete' } as const;
    const options = { namespace, signal: stopping.signal, resourceVersion };
    for await (const { type, object } of kube.watch<KubeObject>(resource, options)) {
      last = object.metadata.resourceVersion ?? last;
      void send(eventOf(resource, object, verbs[type]));
    }
    return last;
  }

  const server = createServer((request, response) => void take(request, response));
  async function take(request: IncomingMessage, response: ServerResponse): Promise<void> {
    let body = '';
    for await (const chunk of request) body += chunk;
    const event = HTTP.toEvent({ headers: request.headers as IncomingHttpHeaders, body }) as CloudEvent<unknown>;
    if (annotations[asyncHandler] === 'true') {
      void send(event);
      response.writeHead(202).end();
      return;
    }
    const sender = new AbortController();
    response.once('close', () => sender.abort());
    const status = await send(event, sender.signal);
    response.writeHead(isTaken(status) ? 202 : 502).end();
  }
  const listening = Promise.withResolvers<void>();
  server.listen(0, host, listening.resolve);
  await listening.promise;

  return {
    sink: `http://${host}:${(server.address() as AddressInfo).port}`,
    deliveries,
    get underWay() {
      return underWay;
    },
    send: (event) => void send(event),
    ping: () =>
      void send(new CloudEvent({ type: 'dev.knative.sources.ping', source: '/apis/v1/pingsources/test', data: {} })),
    [Symbol.asyncDispose]: async () => {
      stopping.abort();
      server.close();
      server.closeAllConnections();
      await Promise.allSettled(under);
    },
  };
}

/** As ApiServerSource makes them, with cloudevents' own library. */
export function eventOf(
  { apiVersion, kind, plural }: Resource,
  object: KubeObject,
  verb: 'add' | 'update' | 'delete',
): CloudEvent<unknown> {
  const { namespace = '', name } = object.metadata;
  return new CloudEvent<unknown>({
    id: randomUUID(),
    type: `dev.knative.apiserver.resource.${verb}`,
    source: 'https://10.96.0.1:443',
    subject: `/apis/${apiVersion}/namespaces/${namespace}/${plural}/${name}`,
    datacontenttype: 'application/json',
    kind,
    name,
    namespace,
    // Lists leave these out of their items.
    data: { apiVersion, kind, ...object },
  });
}

function told({ type, subject }: CloudEvent<unknown>): Pick<Delivered, 'type' | 'subject'> {
  return { type, subject };
}

function isTaken(status: number): boolean {
  return status >= 200 && status < 300;
}

function isFinal(status: number): boolean {
  return !(status === 0 || status >= 500 || [404, 408, 409, 429].includes(status));
}
