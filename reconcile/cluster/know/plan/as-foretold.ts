import type { ClusterHistoryEntry } from '../../../../manifests/api/etcd-cluster-status.ts';
import { refusalIn, refusals } from '../../../reasons/refusals.ts';

export type Step = Pick<ClusterHistoryEntry, 'action' | 'target' | 'reason'>;
export type Taken = Step & Pick<ClusterHistoryEntry, 'outcome'>;

/** How much of what was foretold must have come. */
export interface Extent {
  /** What was taken first may be forgotten. */
  readonly isCutOff?: boolean;
  /** Something else was asked, or the story ended, before it was over. */
  readonly isUnderWay?: boolean;
  /** A failed step may be made up for at any member. */
  readonly makesUpAnywhere?: boolean;
}

/**
 * The steps that were taken are those that were foretold, in their order.
 *
 * Waiting is no step. Members that have started are sealed at once, and do not all start at once: however many steps
 * that takes, it counts as one. It promotes learners that have the log by then: how fast etcd sends it is not foreseen,
 * so a promotion by a step of its own is part of the sealing before it. How often `advance-log` is repeated depends on
 * how fast etcd is, so it counts as one.
 * An issuer signs one certificate after the other, and each is handed over as it comes: that counts as one, too.
 * Leaves of a member that is restored are issued while its Job runs, or after it if that was quick.
 * Members that are adopted are started as their former objects go, together or one after the other: that counts as one.
 * etcd may elect another leader at any time, and the leader is started anew last: restarts that follow each other for
 * one reason are compared whatever their order (that the leader is the last is `rolling.test.ts`'s).
 * A plan holds as long as nothing fails: a step that failed for a cause that passes, and the step that makes up for it,
 * are no difference (`withoutFailures`).
 */
export function isAsForetold(foretold: readonly Step[], taken: readonly Taken[], extent: Extent = {}): boolean {
  const [whole, done] = [joined(foretold), joined(withoutFailures(foretold, taken, extent))];
  if (extent.isUnderWay) return isBegunAsForetold(whole, done);
  const expected = extent.isCutOff ? whole.slice(-done.length) : whole;
  return sameLines(expected.map(line), done.map(line));
}

/** It is taken again, or made up for, without a person. */
export function mayPass({ outcome, reason }: Pick<Taken, 'outcome' | 'reason'>): boolean {
  return outcome === 'failed' && refusals[refusalIn(reason)] !== 'person';
}

/**
 * What was done, as if nothing had failed. A failed step counts as taken where it is foretold and no other step did it:
 * it was begun, and one step of another name finishes it, for the same member. etcd refuses changes of its list for
 * five seconds after a member started, and may take a call without an answer.
 */
function withoutFailures(
  foretold: readonly Step[],
  taken: readonly Taken[],
  { makesUpAnywhere = false }: Extent,
): readonly Step[] {
  const left = joined(foretold).map((step) => ({ step, targets: new Set(targets(step)) }));
  const takes = (step: Step, isOf = isPartOf) => {
    const found = left.find((one) => isOf(step, one.step) && targets(step).every((name) => one.targets.has(name)));
    if (step.action !== 'advance-log') for (const name of targets(step)) found?.targets.delete(name);
    return found?.step;
  };
  const relevant = promotedAsSealed(taken);
  const expected = new Set(relevant.filter((step) => step.outcome === 'acted' && takes(step)));
  const failed: Step[] = [];
  const makesUp = (step: Step) =>
    failed.findIndex((one) => makesUpAnywhere || targets(step).every((name) => targets(one).includes(name)));
  return relevant.flatMap((step) => {
    if (step.outcome === 'acted') {
      const at = expected.has(step) ? -1 : makesUp(step);
      if (at < 0) return [step];
      failed.splice(at, 1);
      return [];
    }
    if (!mayPass(step)) return [];
    failed.push(step);
    const begun = takes(step, (one, other) => isPartOf({ ...one, reason: other?.reason ?? '' }, other));
    return begun ? [{ ...step, reason: begun.reason }] : [];
  });
}

/**
 * Of restarts next to each other, and of members that are sealed together, only some may have had their turn; of
 * members that are adopted, each may be at another action.
 */
function isBegunAsForetold(whole: readonly Step[], done: readonly Step[]): boolean {
  const last = done.at(-1);
  if (!last) return true;
  const adopts = whole.some(isAdoption);
  const isBeside = (step: Step, other: Step) =>
    isRestartLike(step, other) || (adopts && isAdopting(step) && isAdopting(other));
  const start = done.findLastIndex((step) => !isBeside(step, last)) + 1;
  const next = whole[start];
  const block = whole.slice(start).findIndex((step) => !next || !isBeside(step, next));
  const left = whole.slice(start, block < 0 ? whole.length : start + Math.max(1, block));
  const hasItsTurn = (step: Step) => {
    const at = left.findIndex((other) => isPartOf(step, other));
    return at >= 0 && (isAdopting(step) || left.splice(at, 1).length > 0);
  };
  return (
    done.slice(0, start).every((step, index) => isPartOf(step, whole[index])) && done.slice(start).every(hasItsTurn)
  );
}

function isRestartLike(step: Step, last: Step): boolean {
  return step === last || (step.action === 'change-template' && isAlike(step, last));
}

/** Of what is sealed, or adopted, together, only some may have started so far. */
function isPartOf(step: Step, whole: Step | undefined): boolean {
  if (whole === undefined) return false;
  if (!inParts.includes(step.action) && !adopting.includes(step.action)) return line(step) === line(whole);
  return isAlike(step, whole) && targets(step).every((target) => targets(whole).includes(target));
}

function joined<T extends Step>(steps: readonly T[]): readonly T[] {
  const all = issuedAfterRestore(inAnyOrder(partsTogether(adoptedTogether(promotedAsSealed(steps)))));
  return all.filter((step, index) => {
    const before = all[index - 1];
    return step.action !== 'advance-log' || !before || line(before) !== line(step);
  });
}

function issuedAfterRestore<T extends Step>(steps: readonly T[]): readonly T[] {
  const isLate = ({ action }: Step, index: number) =>
    action === 'issue-certificates' &&
    steps[index - 1]?.action === 'restore-snapshot' &&
    steps[index + 1]?.action === 'conclude-restore';
  const at = steps.findIndex(isLate);
  return at < 0
    ? steps
    : steps.slice(0, at).concat(steps.slice(at + 1, at + 2), steps.slice(at, at + 1), steps.slice(at + 2));
}

function promotedAsSealed<T extends Step>(steps: readonly T[]): readonly T[] {
  return steps.filter(({ action, target = '' }, index) => {
    const before = steps.slice(0, index);
    const isSealed = before.some((one) => one.action === 'seal-members' && targets(one).includes(target));
    return action !== 'promote-learner' || !isSealed;
  });
}

/** Actions that are taken for each member or leaf as soon as that is ready. */
const inParts = ['seal-members', 'hand-over-certificates'];

function partsTogether<T extends Step>(steps: readonly T[]): readonly T[] {
  const together: T[] = [];
  for (const step of steps) {
    const before =
      inParts.includes(step.action) && together.at(-1)?.action === step.action ? together.pop() : undefined;
    const all = before ? targets(before, step) : targets(step);
    together.push(inParts.includes(step.action) ? { ...step, target: all.join(', ') } : step);
  }
  return together;
}

const adopting = ['prepare-members', 'issue-certificates', 'start-members'];

function isAdopting({ action }: Step): boolean {
  return adopting.includes(action);
}

function isAdoption({ reason }: Step): boolean {
  return reason === 'AdoptingVolumes';
}

/** Each action once, for all that it is taken for, in the order in which one member needs them. */
function adoptedTogether<T extends Step>(steps: readonly T[]): readonly T[] {
  const first = steps.find(isAdoption);
  if (!first) return steps;
  const at = steps.indexOf(first);
  const start = steps.slice(0, at).findLastIndex((step) => !isAdopting(step)) + 1;
  const end = steps.slice(at).findIndex((step) => !isAdopting(step));
  const block = steps.slice(start, end < 0 ? undefined : at + end);
  const together = adopting.flatMap((action) => {
    const same = block.filter((step) => step.action === action);
    return same.slice(0, 1).map((step) => ({ ...step, target: targets(...same).join(', ') }));
  });
  return [...steps.slice(0, start), ...together, ...(end < 0 ? [] : steps.slice(at + end))];
}

/** Restarts next to each other, for one reason, by the name of the member. */
function inAnyOrder<T extends Step>(steps: readonly T[]): readonly T[] {
  const sorted = [...steps];
  for (let start = 0, end = 1; start < sorted.length; start = end++) {
    const first = sorted[start];
    while (first?.action === 'change-template' && isAlike(first, sorted[end])) end++;
    const block = sorted.slice(start, end).toSorted((a, b) => (a.target ?? '').localeCompare(b.target ?? ''));
    sorted.splice(start, block.length, ...block);
  }
  return sorted;
}

function isAlike(one: Step, other: Step | undefined): boolean {
  return one.action === other?.action && one.reason === other.reason;
}

function targets(...steps: readonly Step[]): readonly string[] {
  return steps.flatMap(({ target = '' }) => target.split(', ')).toSorted();
}

function begunAs({ action, target = '' }: Step): string {
  return `${action} ${target}`;
}

export function line(step: Step): string {
  return `${begunAs(step)} ${step.reason}`;
}

function sameLines(one: readonly string[], other: readonly string[]): boolean {
  return one.length === other.length && one.every((step, index) => step === other[index]);
}

/**
 * Without what a look that read no certificates can't tell: whether the step that records a member finds what it needs
 * to sign for it, and starts it, too.
 */
export function knowable<T extends Step>(steps: readonly T[]): readonly T[] {
  return steps.filter(({ action, target = '' }, index) => {
    const isPrepared = steps.slice(0, index).some((one) => one.action === 'prepare-members' && one.target === target);
    return action !== 'issue-certificates' && !(action === 'add-learner' && isPrepared);
  });
}
