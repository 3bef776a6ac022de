import { type Api, isStatus } from './api.ts';
import type { Log } from './options.ts';
import { formatTime } from './status.ts';
import type { Pod } from './wire.ts';

export type EventRecorder = (
  pod: Pod,
  type: 'Normal' | 'Warning',
  reason: string,
  message: string,
  container?: string,
) => void;

type Sent = { path: string; count: number };

/**
 * Records what happens to pods as Events on them. A repetition counts up, as client-go's correlator does; at most
 * `maxQueued` wait, because events are for people to read and never worth holding anything up.
 */
export function createEventRecorder(api: Api, node: string, log: Log, maxQueued = 200): EventRecorder {
  const queue: (() => Promise<void>)[] = [];
  const sent = new Map<string, Sent>();
  let sending = false;

  async function drain(): Promise<void> {
    if (sending) return;
    sending = true;
    for (let next = queue.shift(); next; next = queue.shift()) {
      // A namespace that is being deleted takes no events; nobody will look for them there either.
      await next().catch((error: unknown) => {
        if (!isStatus(error, 403, 404)) log.debug({ error: String(error) }, 'an event was not recorded');
      });
    }
    sending = false;
  }

  async function send(pod: Pod, type: string, reason: string, message: string, container?: string): Promise<void> {
    const { namespace, name, uid } = pod.metadata;
    const key = `${uid} ${reason} ${container} ${message}`;
    const now = formatTime(Date.now());
    const before = sent.get(key);
    if (before) {
      before.count++;
      await api.patch(before.path, 'merge', { count: before.count, lastTimestamp: now });
      return;
    }
    const path = `/api/v1/namespaces/${namespace}/events`;
    const eventName = `${name}.${Math.floor(Math.random() * 2 ** 48).toString(16)}`;
    await api.create(path, {
      metadata: { name: eventName, namespace },
      involvedObject: {
        apiVersion: 'v1',
        kind: 'Pod',
        namespace,
        name,
        uid,
        ...(container !== undefined && { fieldPath: `spec.containers{${container}}` }),
      },
      type,
      reason,
      message: message.slice(0, 1000),
      source: { component: 'kubelet', host: node },
      reportingComponent: 'kubelet',
      reportingInstance: node,
      firstTimestamp: now,
      lastTimestamp: now,
      count: 1,
    });
    sent.set(key, { path: `${path}/${eventName}`, count: 1 });
    const [oldest] = sent.keys();
    if (sent.size > 1000 && oldest !== undefined) sent.delete(oldest);
  }

  return (...event) => {
    if (queue.length >= maxQueued) return;
    queue.push(() => send(...event));
    void drain();
  };
}
