import { join } from 'node:path';
import type { Pod } from './wire.ts';

export function logDirectory(dir: string, { metadata: { namespace, name, uid } }: Pod): string {
  return join(dir, 'logs', `${namespace}_${name}_${uid}`);
}

/** One file per start of a container. They outlive the pod: a test that failed wants to read them. */
export function logPath(dir: string, pod: Pod, container: string, start: number): string {
  return join(logDirectory(dir, pod), container, `${start}.log`);
}
