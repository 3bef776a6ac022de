import { reservedIn } from '../build/pod-template-limits.ts';
import { privilegesIn } from '../build/privileges.ts';
import type { PodTemplate } from './member-settings.ts';
import type { Path, Problems } from './problem.ts';

/** What a well-formed podTemplate may not have: it would lend our privileges, or have no effect. */
export function findRefusedInPods(template: PodTemplate, path: Path, problems: Problems): void {
  for (const complaint of [...privilegesIn(template), ...reservedIn(template)]) {
    const where = /^[\w.[\]-]+(?=: )/.exec(complaint)?.[0] ?? '';
    problems.add([...path, ...keysOf(where)], `spec.podTemplate.${complaint}`);
  }
}

/** `spec.volumes[0].hostPath` as keys and indices. */
function keysOf(dotted: string): (string | number)[] {
  return [...dotted.matchAll(/[^.[\]]+/g)].map(([key]) => (/^\d+$/.test(key) ? Number(key) : key));
}
