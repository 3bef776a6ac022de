import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

interface Exchange {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
}

/**
 * Keeps room for those who come: where more than `most` connections are open, the one goes that has had nothing to be
 * answered for longest, be it silent, in the middle of its headers or of its body. One that waits for an answer to a
 * whole request stays.
 */
export function shedIdle(server: Server, most: number): void {
  /** The oldest first. */
  const open = new Map<Socket, Set<Exchange>>();

  server.on('connection', (socket) => {
    open.set(socket, new Set());
    socket.once('close', () => open.delete(socket));
    if (open.size > most) oldestIdle()?.destroy();
  });

  server.on('request', (request, response) => {
    const { socket } = request;
    const exchange = { request, response };
    open.get(socket)?.add(exchange);
    response.once('close', () => {
      const exchanges = open.get(socket);
      if (!exchanges) return;
      exchanges.delete(exchange);
      // What has just been answered is the youngest of those that wait.
      open.delete(socket);
      open.set(socket, exchanges);
    });
  });

  function oldestIdle(): Socket | undefined {
    for (const [socket, exchanges] of open) if (!socket.destroyed && ![...exchanges].some(isWhole)) return socket;
    return undefined;
  }
}

/** Its body is there to the last byte, and its answer is not sent. */
function isWhole({ request, response }: Exchange): boolean {
  return request.complete && !response.writableFinished;
}
