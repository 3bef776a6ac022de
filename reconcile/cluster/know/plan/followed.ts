import { createHash } from 'node:crypto';
import type { EtcdCluster } from '../../../../manifests/api/etcd-cluster.ts';
import type { ClusterPlan } from '../../../../manifests/api/etcd-cluster-status.ts';
import { annotations, approvals } from '../../../../manifests/render/names.ts';
import { courseOf } from '../../../reasons/reasons.ts';
import { refusals } from '../../../reasons/refusals.ts';
import { timestamp } from '../../../time/timestamp.ts';
import type { Decision } from '../decision.ts';
import type { Situation } from '../situation.ts';
import { isAsForetold, knowable, type Step, type Taken } from './as-foretold.ts';

/** The steps foretold of a cluster. */
export interface Foretold {
  readonly steps: readonly Step[];
  readonly end: 'done' | 'refused' | 'waits' | 'goes-on' | 'circles';
  /** The look had no occasion to read certificates: none is foretold. */
  readonly isBlind: boolean;
}

/** The other annotations are notes of ours, or ask for a look. */
const requests = [annotations.defragment, annotations.rotateCertificates, ...approvals];

/** What the spec and people ask, in a word: the same as long as they ask the same. */
export function askedOf({ metadata }: EtcdCluster): string {
  const notes = requests.flatMap((key) => {
    const value = metadata.annotations?.[key];
    return value === undefined ? [] : [`${key}=${value}`];
  });
  const generation = String(metadata.generation ?? 0);
  if (notes.length === 0) return generation;
  return `${generation}-${createHash('sha256').update(notes.join('\n')).digest('hex').slice(0, 8)}`;
}

/**
 * Whether this look is the first that takes on what is asked, so that its plan is the one to be kept. Healing has
 * none: no person asked for it.
 */
export function beginsPlan({ cluster, lease }: Situation, { kind }: Decision): boolean {
  if (cluster.metadata.deletionTimestamp !== undefined || lease.kind === 'held') return false;
  if (kind !== 'act' && kind !== 'wait') return false;
  const { plan, observedGeneration } = cluster.status ?? {};
  if (plan?.asked === askedOf(cluster)) return plan.state === 'Pending' && kind === 'act';
  return plan !== undefined || observedGeneration !== cluster.metadata.generation;
}

const longest = 64;
const longestTaken = 96;

/** The plan as it begins. */
export function begun(foretold: Foretold, { cluster, at }: Situation): ClusterPlan {
  const { steps, end, isBlind } = foretold;
  const known = isBlind ? knowable(steps) : steps;
  const base = { asked: askedOf(cluster), generation: cluster.metadata.generation ?? 0, at: timestamp(at) };
  if (known.length > longest)
    return { ...base, state: 'NotFollowed', message: `its plan has ${known.length} steps: too many to be followed` };
  if (known.length === 0) return { ...base, state: 'Pending', message: 'no step can be foreseen yet' };
  return {
    ...base,
    state: 'UnderWay',
    message: `0 of ${counted(known.length)}`,
    foretold: known.map(asFollowed),
    taken: [],
    ends: end,
    ...(isBlind && { withoutCertificates: true }),
  };
}

function asFollowed({ action, target, reason }: Step): Step {
  return { action, ...(target !== undefined && { target: target.slice(0, 253) }), reason };
}

export interface Look {
  readonly decision: Decision;
  /** What this step did, or tried. */
  readonly step?: Taken;
  /** What an invocation did that ended without a report. */
  readonly unreported?: Step;
}

/** The plan after this look: gone on with, kept, or left. */
export function followed(plan: ClusterPlan, { decision, step, unreported }: Look): ClusterPlan {
  const { state, foretold = [], ends } = plan;
  if (state !== 'UnderWay') return plan;
  const { interrupted = unreported !== undefined } = plan;
  const before = withUnreported(plan, unreported, step);
  const ending = { ...plan, ...(interrupted && { interrupted }) };
  if (decision.kind === 'act' && ends !== 'done' && isKept(plan, before)) return kept(plan);
  const taken = step ? withStep(before, step, plan) : before;
  if (taken.length > longestTaken) return over(plan, 'NotFollowed', 'more steps than can be followed');
  if (!isKept(plan, taken, true)) {
    const at = Math.min(before.length, foretold.length);
    const next = foretold[at];
    const came = step ? `${said(step)} came` : 'something else came';
    const why = interrupted ? ', after an invocation had died' : '';
    return over(ending, 'Left', `left its plan at step ${at + 1} of ${foretold.length}${why}: ${came}${instead(next)}`);
  }
  const on = { ...ending, taken };
  switch (decision.kind) {
    case 'done':
      if (courseOf(decision.reason) === 'stopped') return on;
      return isKept(plan, taken) ? kept(plan) : short(ending, taken, 'it was done');
    case 'refuse':
      // What ends by itself is a wait.
      if (refusals[decision.reason] !== 'person') return on;
      return ends === 'refused' && isKept(plan, taken)
        ? kept(plan)
        : short(ending, taken, `a person is needed (${decision.reason})`);
    default:
      return { ...on, message: `${Math.min(taken.length, foretold.length)} of ${counted(foretold.length)}` };
  }
}

/** Repeated failures of one kind are one, as in the history. */
function withStep(taken: readonly Taken[], step: Taken, { withoutCertificates }: ClusterPlan): readonly Taken[] {
  const last = taken.at(-1);
  const isSame = last?.outcome === 'failed' && last.action === step.action && last.reason === step.reason;
  if (isSame && step.outcome === 'failed') return taken;
  const all = [...taken, { ...asFollowed(step), outcome: step.outcome }];
  return withoutCertificates ? knowable(all) : all;
}

/** Its lease says what it had taken on. Where the same step is not taken again, it had been through with it. */
function withUnreported(plan: ClusterPlan, unreported: Step | undefined, step: Taken | undefined): readonly Taken[] {
  const taken = (plan.taken ?? []) as readonly Taken[];
  if (!unreported || (step?.action === unreported.action && step.target === unreported.target)) return taken;
  const all = withStep(taken, { ...unreported, outcome: 'acted' }, plan);
  return isKept(plan, all, true) ? all : taken;
}

function isKept({ foretold = [] }: ClusterPlan, taken: readonly Taken[], isUnderWay = false): boolean {
  return isAsForetold(foretold, taken, { isUnderWay });
}

function kept(plan: ClusterPlan): ClusterPlan {
  const count = plan.foretold?.length ?? 0;
  return over(plan, 'AsPlanned', `as planned, ${count} of ${counted(count)}`);
}

function short(plan: ClusterPlan, taken: readonly Taken[], why: string): ClusterPlan {
  const { foretold = [] } = plan;
  return over(
    plan,
    'Left',
    `left its plan after step ${Math.min(taken.length, foretold.length)} of ${foretold.length}: ${why}`,
  );
}

function over(plan: ClusterPlan, state: ClusterPlan['state'], message: string): ClusterPlan {
  const { asked, generation, at, interrupted } = plan;
  return { asked, generation, at, state, message: message.slice(0, 512), ...(interrupted && { interrupted }) };
}

function instead(next: Step | undefined): string {
  return next ? `, where ${said(next)} was planned` : ', where no more was planned';
}

function said({ action, target, reason }: Step): string {
  return `${action}${target ? ` ${target}` : ''} (${reason})`;
}

function counted(count: number): string {
  return count === 1 ? '1 step' : `${count} steps`;
}
