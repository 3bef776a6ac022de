import { connect, createServer, type Server, type Socket } from 'node:net';
import type { Informer } from './informer.ts';
import type { Log } from './options.ts';
import type { ServiceIndex } from './service-index.ts';
import { type EndpointSlice, keyOf, type Service } from './wire.ts';

type Backend = { readonly host: string; readonly port: number };
type Listener = { readonly server: Server; backends: readonly Backend[] };

/**
 * Stands in for kube-proxy: listens on the cluster address and port of every TCP Service that has ready endpoints, and hands
 * each connection to one of them. Without endpoints nobody listens, so that a client is refused as in life.
 */
export function startServiceProxy(
  services: Informer<Service>,
  slices: Informer<EndpointSlice>,
  index: ServiceIndex,
  log: Log,
): { close(): void } {
  const listeners = new Map<string, Listener>();
  // Of Services that are gone, too: a connection to a pod whose network is gone would keep the process for a quarter of an hour.
  const sockets = new Set<Socket>();
  let closed = false;

  function look(service: Service): void {
    const address = service.spec?.clusterIP ?? '';
    for (const port of service.spec?.ports ?? []) {
      if ((port.protocol ?? 'TCP') !== 'TCP' || !/^\d+\./.test(address)) continue;
      set(`${address}:${port.port}`, backendsOf(index.slices(keyOf(service)), port.name ?? ''));
    }
  }

  function set(key: string, backends: readonly Backend[]): void {
    const [host = '', port = ''] = key.split(':');
    // An endpoint that is the Service's own address is served by whoever has it (the API server).
    const elsewhere = backends.filter((backend) => backend.host !== host);
    const listener = listeners.get(key);
    if (elsewhere.length === 0) {
      listener?.server.close();
      listeners.delete(key);
    } else if (listener) {
      listener.backends = elsewhere;
    } else if (!closed) {
      listeners.set(key, listen({ host, port: Number(port) }, elsewhere, sockets, log));
    }
  }

  services.onChange((service, previous) => {
    if (previous) {
      const kept = new Set(service?.spec?.ports?.map(({ port }) => `${service.spec?.clusterIP}:${port}`));
      for (const { port } of previous.spec?.ports ?? []) {
        const key = `${previous.spec?.clusterIP}:${port}`;
        if (!kept.has(key)) set(key, []);
      }
    }
    if (service) look(service);
  });
  slices.onChange((slice, previous) => {
    const owner = (slice ?? previous)?.metadata.labels?.['kubernetes.io/service-name'];
    const service = services.get(`${(slice ?? previous)?.metadata.namespace}/${owner}`);
    if (service) look(service);
  });
  return {
    close: () => {
      closed = true;
      for (const { server } of listeners.values()) server.close();
      for (const socket of sockets) socket.destroy();
    },
  };
}

function listen({ host, port }: Backend, backends: readonly Backend[], sockets: Set<Socket>, log: Log): Listener {
  const server = createServer({ allowHalfOpen: true }, (client) => {
    const backend = listener.backends[Math.floor(Math.random() * listener.backends.length)];
    if (!backend) client.destroy();
    else join(client, connect({ ...backend, allowHalfOpen: true }), sockets);
  });
  const listener: Listener = { server, backends };
  server.on('error', (error) =>
    log.warn({ address: `${host}:${port}`, error: String(error) }, 'a Service is not served'),
  );
  server.listen(port, host);
  return listener;
}

function join(client: Socket, backend: Socket, sockets: Set<Socket>): void {
  const pairs = [
    [client, backend],
    [backend, client],
  ] as const;
  for (const [from, to] of pairs) {
    sockets.add(from);
    from.setNoDelay(true);
    from.pipe(to);
    // What breaks on one side breaks on the other.
    from.on('error', () => to.resetAndDestroy());
    from.on('close', () => {
      sockets.delete(from);
      to.destroySoon();
    });
  }
}

function backendsOf(slices: readonly EndpointSlice[], portName: string): Backend[] {
  return slices.flatMap((slice) => {
    const port = slice.ports?.find(({ name = '' }) => name === portName)?.port;
    if (port === undefined || slice.addressType !== 'IPv4') return [];
    const ready = (slice.endpoints ?? []).filter(({ conditions }) => conditions?.ready ?? true);
    return ready.flatMap(({ addresses }) => addresses.map((host) => ({ host, port })));
  });
}
