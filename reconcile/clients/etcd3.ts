/**
 * etcd3 as this project wants it. A file of its own, with static imports, because it is loaded lazily as a whole: of a
 * CommonJS package that is itself imported dynamically, a bundle has no named exports.
 */

import { Channel, connectivityState, InterceptingCall, type Interceptor, status } from '@grpc/grpc-js';
import { noop } from 'cockatiel';
import { Etcd3 } from 'etcd3';

/** A client of one endpoint that never retries and never asks anybody else. */
export function connect(endpoint: string): Etcd3 {
  return new Etcd3({
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
      channelFactoryOverride: (...what: ConstructorParameters<typeof Channel>) => {
        const channel = new Channel(...what);
        const stateOf = channel.getConnectivityState.bind(channel);
        // etcd3 closes a channel that is connecting, as those to a frozen member are, only after a second, and keeps
        // the process as long. So it is not told: this is how it asks before it closes.
        channel.getConnectivityState = (wanted) => {
          const state = stateOf(wanted);
          return state === connectivityState.CONNECTING && !wanted ? connectivityState.IDLE : state;
        };
        return channel;
      },
    },
  });
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
