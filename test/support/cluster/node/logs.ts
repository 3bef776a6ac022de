import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import type { Informer } from './informer.ts';
import type { FindLog } from './kubelet-server.ts';
import type { Pod } from './wire.ts';

export function logDirectory(dir: string, { metadata: { namespace, name, uid } }: Pod): string {
  return join(dir, 'logs', `${namespace}_${name}_${uid}`);
}

/** One file per start of a container. They outlive the pod: a test that failed wants to read them. */
export function logPath(dir: string, pod: Pod, container: string, start: number): string {
  return join(logDirectory(dir, pod), container, `${start}.log`);
}

export function findLog(dir: string, pods: Informer<Pod>): FindLog {
  return ({ namespace, pod: name, container, previous }) => {
    const pod = pods.get(`${namespace}/${name}`);
    if (!pod) return undefined;
    const directory = join(logDirectory(dir, pod), container);
    if (!existsSync(directory)) return undefined;
    const starts = readdirSync(directory).map((file) => Number.parseInt(file, 10));
    const start = starts.sort((a, b) => b - a)[previous ? 1 : 0];
    if (start === undefined) return undefined;
    const running = () => {
      const { initContainerStatuses = [], containerStatuses = [] } = pods.get(`${namespace}/${name}`)?.status ?? {};
      const status = [...initContainerStatuses, ...containerStatuses].find((candidate) => candidate.name === container);
      return !previous && status?.state?.running !== undefined;
    };
    return { file: logPath(dir, pod, container, start), running };
  };
}
