import { connect, createServer, isIPv6, type Server, type Socket } from 'node:net';
import { hostPort } from '../../../../manifests/render/hosts.ts';
import type { Informer } from './informer.ts';
import type { Log } from './options.ts';
import type { ServiceIndex } from './service-index.ts';
import { type EndpointSlice, keyOf, type Service } from './wire.ts';

type Backend = { readonly host: string; readonly port: number };
type Listener = { readonly server: Server; backends: readonly Backend[] };

/**
 * Stands in for kube-proxy: listens on the cluster address and port of every TCP Service that has ready endpoints, and
 * at its node port on each node, and hands each connection to one of them. Without endpoints nothing listens, so that a
 * client is refused as in life.
 */
export function startServiceProxy(
  services: Informer<Service>,
  slices: Informer<EndpointSlice>,
  index: ServiceIndex,
  { log, nodeAddresses }: { readonly log: Log; readonly nodeAddresses: readonly string[] },
): { close(): void } {
  const listeners = new Map<string, Listener>();
  // Of Services that are gone, too: a connection to a pod whose network is gone would keep the process for a quarter of
  // an hour.
  const sockets = new Set<Socket>();
  let closed = false;

  function look(service: Service): void {
    const slices = index.slices(keyOf(service));
    for (const address of placesOf(service, nodeAddresses)) set(address, backendsOf(slices, address));
  }

  function set({ host, port }: Backend, backends: readonly Backend[]): void {
    const key = hostPort(host, port);
    // An endpoint that is the Service's own address is served by whoever has it (the API server).
    const elsewhere = backends.filter((backend) => backend.host !== host);
    const listener = listeners.get(key);
    if (elsewhere.length === 0) {
      listener?.server.close();
      listeners.delete(key);
    } else if (listener) {
      listener.backends = elsewhere;
    } else if (!closed) {
      listeners.set(key, listen({ host, port }, elsewhere, sockets, log));
    }
  }

  services.onChange((service, previous) => {
    if (previous) {
      const kept = service ? placesOf(service, nodeAddresses) : [];
      const isKept = (place: Backend) => kept.some(({ host, port }) => host === place.host && port === place.port);
      for (const place of placesOf(previous, nodeAddresses)) if (!isKept(place)) set(place, []);
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
    log.warn({ address: hostPort(host, port), error: String(error) }, 'a Service is not served'),
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

type Place = Backend & { readonly family: EndpointSlice['addressType']; readonly portName: string };

/** Where a Service is to be listened for: each of its ports at its address of each family, and at each node. */
function placesOf({ spec }: Service, nodeAddresses: readonly string[]): Place[] {
  const addresses = (spec?.clusterIPs ?? []).filter((address) => address !== 'None');
  const ports = (spec?.ports ?? []).filter(({ protocol = 'TCP' }) => protocol === 'TCP');
  const at = (host: string, port: number, portName = ''): Place => ({
    host,
    port,
    portName,
    family: isIPv6(host) ? 'IPv6' : 'IPv4',
  });
  return [
    ...addresses.flatMap((host) => ports.map(({ port, name }) => at(host, port, name))),
    ...nodeAddresses.flatMap((host) =>
      ports.flatMap(({ nodePort, name }) => (nodePort ? [at(host, nodePort, name)] : [])),
    ),
  ];
}

function backendsOf(slices: readonly EndpointSlice[], { family, portName }: Place): Backend[] {
  return slices.flatMap((slice) => {
    const port = slice.ports?.find(({ name = '' }) => name === portName)?.port;
    if (port === undefined || slice.addressType !== family) return [];
    const ready = (slice.endpoints ?? []).filter(({ conditions }) => conditions?.ready ?? true);
    return ready.flatMap(({ addresses }) => addresses.map((host) => ({ host, port })));
  });
}
