import type { PodTemplate } from '../api/member-settings.ts';
import { didYouMean } from '../api/suggest.ts';
import { records } from './pod-template-limits.ts';

/** Containers without an image, as fields with a reason. A misspelt `etcd` makes one: it patches nothing of ours. */
export function withoutImage(template: PodTemplate): string[] {
  const spec = template.spec ?? {};
  const missing = (field: 'containers' | 'initContainers', ours: readonly string[]) =>
    records(spec, field).flatMap(([{ name, image }, path]) =>
      image || (typeof name === 'string' && ours.includes(name))
        ? []
        : [`${path}.image: it is required${typeof name === 'string' ? didYouMean(name, ours) : ''}`],
    );
  return [...missing('containers', ['etcd']), ...missing('initContainers', [])];
}
