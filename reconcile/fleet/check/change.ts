import { isDeepStrictEqual } from 'node:util';
import { type FleetObject, identityOf, identityOfObject } from '../objects.ts';
import { type PlanInput, type PlannedApply, planFleet } from '../plan.ts';
import type { Unlisted } from '../prune.ts';
import type { DesiredSpec, DesiredTree, SpecProblem } from '../reading.ts';

/** The effect on the live clusters of going from one tree to another, apart from all other pending changes. */
export interface RequestedChange {
  /** What the new tree brings. */
  readonly problems: readonly SpecProblem[];
  /** Problems that the old tree has as well. */
  readonly inherited: readonly SpecProblem[];
  readonly warnings: readonly SpecProblem[];
  /** Documents that differ. */
  readonly applies: readonly Exclude<PlannedApply, { kind: 'settled' }>[];
  readonly prune: readonly FleetObject[];
  /** Live, no longer listed, and kept. */
  readonly kept: readonly Unlisted[];
  /** Documents that differ, of objects that are being deleted. */
  readonly leaving: readonly DesiredSpec[];
}

/** Pure. `before` is what is there without the change, `after` with it. */
export function changeBetween(
  before: DesiredTree,
  after: DesiredTree,
  input: Omit<PlanInput, 'tree'>,
): RequestedChange {
  const was = planFleet({ ...input, tree: before });
  const is = planFleet({ ...input, tree: after });
  const known = new Set(was.problems.map(sameness));
  const warned = new Set((before.warnings ?? []).map(sameness));
  const documents = new Map(before.specs.map((spec) => [key(spec), spec.object]));
  const differs = (spec: DesiredSpec) => !isDeepStrictEqual(documents.get(key(spec)), spec.object);
  const listed = new Set([...before.specs, ...before.problems].map(key));
  const goneAnyway = new Set(was.prune.map(identityOfObject));
  return {
    problems: is.problems.filter((problem) => !known.has(sameness(problem))),
    inherited: is.problems.filter((problem) => known.has(sameness(problem))),
    warnings: (after.warnings ?? []).filter((warning) => !warned.has(sameness(warning))),
    applies: is.applies.flatMap((apply) => (apply.kind !== 'settled' && differs(apply.spec) ? [apply] : [])),
    // Also what was unlisted before and kept for a reason that is mended now, such as a broken document elsewhere.
    prune: is.prune.filter((object) => !goneAnyway.has(identityOfObject(object))),
    kept: is.keep.filter(({ object }) => listed.has(identityOfObject(object))),
    leaving: is.leaving.filter(differs),
  };
}

/** Lines move without anything being wrong that was not. */
function sameness({ file, message, kind, namespace, name }: SpecProblem): string {
  return JSON.stringify([file, message, kind, namespace, name]);
}

function key(one: Pick<SpecProblem, 'kind' | 'namespace' | 'name'>): string {
  return identityOf(one.kind, one);
}
