/**
 * etcd3 as this project wants it, with static imports in a file of its own, because it is loaded lazily as a whole: of
 * a CommonJS package that is imported dynamically, a bundle has no named exports.
 */

import { AsyncLocalStorage } from 'node:async_hooks';
import { subscribe } from 'node:diagnostics_channel';
import type { Socket } from 'node:net';
import { Channel, connectivityState, credentials, InterceptingCall, type Interceptor, status } from '@grpc/grpc-js';
import { noop } from 'cockatiel';
import { Etcd3 } from 'etcd3';
import { boundedBytes, withBoundedFields } from './etcd-answer-bounds.ts';
import type { Secured } from './etcd-tls.ts';

export interface Connection {
  ask<T>(question: (client: Etcd3) => Promise<T>): Promise<T>;
  /** Ends what is still asked over it. Must be called. */
  close(): void;
}

/**
 * A client of one endpoint that never retries, never asks another endpoint, and has one connection for all calls.
 * @param windowBytes bytes that the endpoint may send ahead; HTTP/2's own 64 KiB unless given
 */
export function connect(endpoint: string, own?: Secured, windowBytes?: number): Connection {
  if (own === undefined && endpoint.startsWith('https:'))
    throw new Error(`${endpoint} is asked with certificates only`);
  let channel: Channel | undefined;
  const dialled = { sockets: new Set<Socket>(), closed: false };
  const client = new Etcd3({
    // Without a scheme: for https, etcd3 would have all public authorities parsed (5 ms each time), though we bring our
    // own credentials below.
    hosts: endpoint.replace(/^https?:\/\//, ''),
    faultHandling: { host: () => noop, global: noop },
    grpcOptions: {
      'grpc.enable_retries': 0,
      // Members are reached directly, whatever HTTP_PROXY says.
      'grpc.enable_http_proxy': 0,
      // No TXT query for every name.
      'grpc.service_config_disable_resolution': 1,
      // A back-off left behind by an earlier client of the same endpoint does not concern us.
      'grpc.use_local_subchannel_pool': 1,
      ...boundedBytes,
      ...(windowBytes && { 'grpc-node.flow_control_window': windowBytes }),
      ...(own && namedAs(own.serverName(endpoint))),
      // etcd3 makes a channel for each of etcd's services; here it is the same one, with one handshake for all.
      channelFactoryOverride: (address: string, ...[, options]: ChannelRest) => {
        const ours = own ? credentials.createFromSecureContext(own.context) : credentials.createInsecure();
        channel ??= keptOpen(withBoundedFields(new Channel(address, ours, options)));
        return channel;
      },
    },
  });
  return {
    ask: (question) => dialling.run(dialled, () => question(client)),
    close: () => {
      client.close();
      if (channel !== undefined) Channel.prototype.close.call(channel);
      channel = undefined;
      dialled.closed = true;
      for (const socket of dialled.sockets) socket.destroy();
    },
  };
}

type ChannelRest = [
  credentials: ConstructorParameters<typeof Channel>[1],
  options: ConstructorParameters<typeof Channel>[2],
];

/**
 * gRPC keeps a socket even when closed before its handshake is done: to a lost host that holds the process for minutes,
 * to a frozen process for ever. Node announces each new socket in its asynchronous context.
 */
const dialling = new AsyncLocalStorage<{ readonly sockets: Set<Socket>; closed: boolean }>();
subscribe('net.client.socket', (message) => {
  const { socket } = message as { readonly socket: Socket };
  const dialled = dialling.getStore();
  // gRPC may just have been about to dial when it was closed. Node tells of a socket before it connects it, and a
  // socket that is destroyed before that is not.
  if (dialled?.closed) setImmediate(() => socket.destroy());
  if (dialled === undefined || dialled.closed) return;
  dialled.sockets.add(socket);
  socket.once('close', () => dialled.sockets.delete(socket));
});

/** An address is dialled, while the certificate, the `:authority` and SNI bear the name. */
function namedAs(serverName: string) {
  return { 'grpc.ssl_target_name_override': serverName, 'grpc.default_authority': serverName };
}

/** etcd3 closes all channels of a client when one call on it fails or is cancelled, however well the others do. */
function keptOpen(channel: Channel): Channel {
  channel.close = () => {};
  const stateOf = channel.getConnectivityState.bind(channel);
  // While one is connecting, as to a frozen member, etcd3 closes it only after a second, and keeps the process as long.
  // So it is not told: this is how it asks before it closes.
  channel.getConnectivityState = (wanted) => {
    const state = stateOf(wanted);
    return state === connectivityState.CONNECTING && !wanted ? connectivityState.IDLE : state;
  };
  return channel;
}

/** Ends a call when the signal aborts: etcd3 itself cannot cancel, and a call in flight keeps the process. */
export function cancelledBy(signal: AbortSignal): Interceptor {
  return (options, nextCall) => {
    const call = new InterceptingCall(nextCall(options));
    const cancel = () => call.cancelWithStatus(status.CANCELLED, 'given up');
    if (signal.aborted) queueMicrotask(cancel);
    else signal.addEventListener('abort', cancel, { once: true });
    return call;
  };
}
