import { reservedIn, withoutImage } from '../render/pod-template-limits.ts';
import { privilegesIn } from '../render/privileges.ts';
import type { PodTemplate } from './member-settings.ts';
import { podSpecSchema, podSpecVersion } from './pod-spec.ts';
import { collectProblems, type DocumentProblem, dotted, type Path, type Problems } from './problem.ts';
import { walk } from './walk.ts';

/**
 * Problems of a podTemplate: fields that would lend our privileges or have no effect, and fields that no PodSpec has.
 * As strict as our own schema: a slip would otherwise be dropped in silence.
 */
export function findRefusedInPods(template: PodTemplate, path: Path, problems: Problems): void {
  for (const { path: at, message } of refusedInPods(template, path)) problems.add(at, message);
}

export function refusedInPods(template: PodTemplate, path: Path): readonly DocumentProblem[] {
  const said = [...privilegesIn(template), ...reservedIn(template)].map((complaint) => inTemplate(complaint, path));
  const malformed = collectProblems();
  if (template.spec) walk(podSpecSchema, template.spec, [...path, 'spec'], malformed);
  const others = [...malformed.found.map(ofKubernetes), ...withoutImage(template).map((one) => inTemplate(one, path))];
  const places = new Set(said.map((problem) => dotted(problem.path)));
  return [...said, ...others.filter((problem) => !places.has(dotted(problem.path)))];
}

function inTemplate(complaint: string, path: Path): DocumentProblem {
  const where = /^[\w.[\]-]+(?=: )/.exec(complaint)?.[0] ?? '';
  return { path: [...path, ...keysOf(where)], message: `spec.podTemplate.${complaint}` };
}

function ofKubernetes({ path, message }: DocumentProblem): DocumentProblem {
  return { path, message: message.replace('is not a known field', `is not a field of Kubernetes ${podSpecVersion}`) };
}

/** `spec.volumes[0].hostPath` as keys and indices. */
function keysOf(dotted: string): (string | number)[] {
  return [...dotted.matchAll(/[^.[\]]+/g)].map(([key]) => (/^\d+$/.test(key) ? Number(key) : key));
}
