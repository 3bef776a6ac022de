/**
 * etcd3 as this project wants it. A file of its own, with static imports, because it is loaded lazily as a whole: of a
 * CommonJS package that is itself imported dynamically, a bundle has no named exports.
 */

import { AsyncLocalStorage } from 'node:async_hooks';
import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import type { Socket } from 'node:net';
import { Channel, connectivityState, credentials, InterceptingCall, type Interceptor, status } from '@grpc/grpc-js';
import { noop } from 'cockatiel';
import { Etcd3 } from 'etcd3';
import type { Secured } from './etcd-tls.ts';

export interface Connection {
  ask<T>(question: (client: Etcd3) => Promise<T>): Promise<T>;
  /** Ends what is still asked over it. Must be called. */
  close(): void;
}

/** A client of one endpoint that never retries, never asks anybody else, and has one connection for all it asks. */
export function connect(endpoint: string, own?: Secured): Connection {
  let channel: Channel | undefined;
  const dialled = dialledSockets();
  const client = new Etcd3({
    hosts: endpoint,
    faultHandling: { host: () => noop, global: noop },
    grpcOptions: {
      'grpc.enable_retries': 0,
      // Members are reached directly, whatever HTTP_PROXY says.
      'grpc.enable_http_proxy': 0,
      // No TXT query for every name.
      'grpc.service_config_disable_resolution': 1,
      // A back-off left behind by an earlier client of the same endpoint is none of ours.
      'grpc.use_local_subchannel_pool': 1,
      ...(own && namedAs(own.serverName(endpoint))),
      // etcd3 makes a channel for each of etcd's services; here it is the same one, with one handshake for all.
      channelFactoryOverride: (address: string, ...[etcd3s, options]: ChannelRest) => {
        const ours = own ? credentials.createFromSecureContext(own.context) : etcd3s;
        channel ??= keptOpen(new Channel(address, ours, options));
        return channel;
      },
    },
  });
  return {
    ask: (question) => dialled.during(() => question(client)),
    close: () => {
      client.close();
      if (channel !== undefined) Channel.prototype.close.call(channel);
      channel = undefined;
      dialled.destroy();
    },
  };
}

type ChannelRest = [
  credentials: ConstructorParameters<typeof Channel>[1],
  options: ConstructorParameters<typeof Channel>[2],
];

/**
 * gRPC lets nobody at a socket whose connection or handshake is not done yet, and keeps it also when it is closed: one to a
 * host that is gone would hold the process for minutes, one to a frozen process for ever. Node tells of each socket it
 * makes, and in whose course.
 */
function dialledSockets() {
  const sockets = new Set<Socket>();
  const course = new AsyncLocalStorage<true>();
  const keep = (message: unknown) => {
    if (course.getStore() === undefined) return;
    const { socket } = message as { readonly socket: Socket };
    sockets.add(socket);
    socket.once('close', () => sockets.delete(socket));
  };
  subscribe('net.client.socket', keep);
  return {
    during: <T>(run: () => T): T => course.run(true, run),
    destroy: () => {
      unsubscribe('net.client.socket', keep);
      for (const socket of sockets) socket.destroy();
    },
  };
}

/** What is dialled is an address; the certificate, the `:authority` and SNI bear the name. */
function namedAs(serverName: string) {
  return { 'grpc.ssl_target_name_override': serverName, 'grpc.default_authority': serverName };
}

/** etcd3 closes all channels of a client when one call on it fails or is cancelled, however well the others do. */
function keptOpen(channel: Channel): Channel {
  channel.close = () => {};
  const stateOf = channel.getConnectivityState.bind(channel);
  // While one is connecting, as to a frozen member, etcd3 closes it only after a second, and keeps the process as long. So it
  // is not told: this is how it asks before it closes.
  channel.getConnectivityState = (wanted) => {
    const state = stateOf(wanted);
    return state === connectivityState.CONNECTING && !wanted ? connectivityState.IDLE : state;
  };
  return channel;
}

/** Makes a call end as soon as the signal aborts: etcd3 itself cannot cancel, and a call in flight keeps the process. */
export function cancelledBy(signal: AbortSignal): Interceptor {
  return (options, nextCall) => {
    const call = new InterceptingCall(nextCall(options));
    const cancel = () => call.cancelWithStatus(status.CANCELLED, 'given up');
    if (signal.aborted) queueMicrotask(cancel);
    else signal.addEventListener('abort', cancel, { once: true });
    return call;
  };
}
