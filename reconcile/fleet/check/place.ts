import { problemAt } from '../plan.ts';
import type { DesiredSpec, SpecProblem } from '../reading.ts';

/** A problem at a field (`spec.storage.size`, `spec.podTemplate.containers[0].name`), or where the document begins. */
export function problemInField(spec: DesiredSpec, field: string | undefined, message: string): SpecProblem {
  const problem = problemAt(spec, message);
  if (field === undefined || !spec.locate) return problem;
  return { ...problem, ...spec.locate(pathOf(field), 'value') };
}

function pathOf(field: string): (string | number)[] {
  const parts = field.match(/[^.[\]]+/g) ?? [];
  return parts.map((part) => (/^\d+$/.test(part) ? Number(part) : part.replaceAll('"', '')));
}
