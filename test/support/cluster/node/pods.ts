import type { NodeContext } from './context.ts';
import { type PodWorker, startPodWorker } from './pod-worker.ts';
import type { Pod } from './wire.ts';

/** The pods of one node: a worker for each that the API server has bound to it. */
export type NodePods = {
  update(pod: Pod): void;
  remove(pod: Pod): void;
  worker(uid: string): PodWorker | undefined;
  workers(): PodWorker[];
  /** Every process gone, nothing reported. */
  powerOff(): Promise<void>;
};

export function createNodePods(context: NodeContext): NodePods {
  const workers = new Map<string, PodWorker>();
  return {
    update: (pod) => {
      const known = workers.get(pod.metadata.uid);
      if (known) {
        known.update(pod);
        return;
      }
      const worker = startPodWorker(context, pod);
      workers.set(worker.uid, worker);
    },
    remove: (pod) => {
      const worker = workers.get(pod.metadata.uid);
      if (!worker) return;
      worker.forget();
      void worker.finished.then(() => workers.delete(worker.uid));
    },
    worker: (uid) => workers.get(uid),
    workers: () => [...workers.values()],
    powerOff: async () => {
      const all = [...workers.values()];
      workers.clear();
      await Promise.all(all.map((worker) => worker.powerOff()));
    },
  };
}
