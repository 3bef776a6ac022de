import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { type Api, ApiError } from './api.ts';
import { type Heartbeat, type NodeIdentity, registerNode, reportReady, startHeartbeat } from './node-object.ts';
import type { Log, Timing } from './options.ts';
import type { NodePods } from './pods.ts';
import type { Pod } from './wire.ts';

/** One node of the cluster: its pods, its heartbeat, and whether it has power and reaches the API server. */
export type LocalNode = NodeIdentity & {
  readonly pods: NodePods;
  start(): Promise<void>;
  see(pod: Pod | undefined, previous: Pod | undefined): void;
  /** Power failure: every process dies, nothing is said. */
  lose(): Promise<void>;
  /** The node hears and says nothing, its processes go on. */
  cut(): void;
  /**
   * It goes down as on a reboot, without a word, and is back after so long (milliseconds): with another boot, for a
   * moment not Ready, and then with the pods that it has.
   */
  reboot(downMs: number, pods: () => readonly Pod[]): Promise<void>;
  /** After `lose` or `cut`. */
  restore(pods: readonly Pod[]): Promise<void>;
  stop(): Promise<void>;
};

/** Until a kubelet that has started has its network, in milliseconds. */
const notReadyMs = 300;

export type Link = { up: boolean };

/** The API server as one node reaches it. */
export function linkedApi(api: Api, link: Link, node: string): Api {
  const guarded = <A extends unknown[], R>(call: (...args: A) => Promise<R>) => {
    return (...args: A): Promise<R> => {
      return link.up
        ? call(...args)
        : Promise.reject(new ApiError(0, 'NodeCut', `${node} is cut off from the API server`));
    };
  };
  return {
    ...api,
    get: guarded(api.get) as Api['get'],
    create: guarded(api.create) as Api['create'],
    replace: guarded(api.replace) as Api['replace'],
    patch: guarded(api.patch) as Api['patch'],
    remove: guarded(api.remove),
  };
}

export function createLocalNode(
  identity: NodeIdentity,
  { api, link, pods, timing, log }: { api: Api; link: Link; pods: NodePods; timing: Timing; log: Log },
): LocalNode {
  let heartbeat: Heartbeat | undefined;
  const boot = { id: randomUUID() };
  let powered = true;

  function catchUp(present: readonly Pod[]): void {
    const mine = present.filter(({ spec }) => spec.nodeName === identity.name);
    const uids = new Set(mine.map(({ metadata }) => metadata.uid));
    for (const worker of pods.workers()) if (!uids.has(worker.uid)) worker.forget();
    for (const pod of mine) pods.update(pod);
  }

  async function lose(): Promise<void> {
    powered = false;
    link.up = false;
    heartbeat?.stop();
    await pods.powerOff();
  }

  async function restore(present: readonly Pod[]): Promise<void> {
    heartbeat?.stop();
    link.up = true;
    powered = true;
    await reportReady(api, identity, boot);
    heartbeat = startHeartbeat(api, identity, boot, timing, log);
    catchUp(present);
  }

  return {
    ...identity,
    pods,
    start: async () => {
      await registerNode(api, identity, boot);
      heartbeat = startHeartbeat(api, identity, boot, timing, log);
    },
    see: (pod, previous) => {
      if (!powered || !link.up) return;
      if (pod?.spec.nodeName === identity.name) pods.update(pod);
      else if (!pod && previous?.spec.nodeName === identity.name) pods.remove(previous);
    },
    lose,
    cut: () => {
      link.up = false;
      heartbeat?.stop();
    },
    reboot: async (downMs, present) => {
      if (!powered) return;
      await lose();
      boot.id = randomUUID();
      await delay(downMs);
      link.up = true;
      await reportReady(api, identity, boot, false);
      await delay(notReadyMs);
      await restore(present());
    },
    restore,
    stop: async () => {
      heartbeat?.stop();
      powered = false;
      await pods.powerOff();
    },
  };
}
