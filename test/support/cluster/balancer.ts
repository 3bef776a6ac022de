import { once } from 'node:events';
import { connect, createServer, type Socket } from 'node:net';

export interface Balancer extends AsyncDisposable {
  readonly address: string;
}

/**
 * What a cloud's load balancer does with a Service: takes connections at an address of its own and the Service's port,
 * and passes them on to a node port. No cloud controller runs here, so the test writes `status.loadBalancer` itself.
 *
 * @param address of the loopback network, so that nothing leaves the machine
 */
export async function startBalancer(
  address: string,
  port: number,
  node: { readonly host: string; readonly port: number },
): Promise<Balancer> {
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    const onward = connect(node.port, node.host);
    for (const [one, other] of [
      [socket, onward],
      [onward, socket],
    ] as const) {
      sockets.add(one);
      one.on('error', () => other.destroy()).on('close', () => sockets.delete(one));
      one.pipe(other);
    }
  });
  server.listen(port, address);
  await once(server, 'listening');
  return {
    address,
    async [Symbol.asyncDispose]() {
      for (const socket of sockets) socket.destroy();
      server.close();
      await once(server, 'close');
    },
  };
}
