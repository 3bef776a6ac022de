import type { PlanCosts } from '../../../../manifests/api/check-report.ts';
import type { EtcdCluster } from '../../../../manifests/api/etcd-cluster.ts';
import type { ClusterPlan } from '../../../../manifests/api/etcd-cluster-status.ts';
import { courseOf } from '../../../reasons/reasons.ts';
import { refusals } from '../../../reasons/refusals.ts';
import { timestamp } from '../../../time/timestamp.ts';
import type { Decision } from '../decision.ts';
import type { Situation } from '../situation.ts';
import { isAsForetold, knowable, type Step, type Taken } from './as-foretold.ts';
import { counted } from './costs.ts';

/** The steps foretold of a cluster. */
export interface Foretold {
  readonly steps: readonly Step[];
  /** `unknown`: it could not be made. */
  readonly end: 'done' | 'refused' | 'waits' | 'goes-on' | 'circles' | 'unknown';
  /** The look had no occasion to read certificates: none is foretold. */
  readonly isBlind: boolean;
  /** Absent where it could not be made. */
  readonly costs?: PlanCosts;
}

/** Which spec it is for: the same word as long as that is the same. */
export function askedOf({ metadata }: EtcdCluster): string {
  const { generation = 0, uid = '' } = metadata;
  return `${generation}-${uid.slice(0, 8)}`;
}

/**
 * Whether this look is the first that takes on what is asked, so that its plan is the one to be kept; or the first
 * that goes on after something that could not be foreseen. Healing and approvals have none.
 */
export function beginsPlan({ cluster, lease }: Situation, { kind }: Decision): boolean {
  if (cluster.metadata.deletionTimestamp !== undefined || lease.kind === 'held') return false;
  if (kind !== 'act' && kind !== 'wait') return false;
  const { plan, observedGeneration } = cluster.status ?? {};
  if (plan?.asked === askedOf(cluster)) return kind === 'act' && goesOn(plan);
  return observedGeneration !== cluster.metadata.generation;
}

/** So long a person has to stop a change that costs more than was shown. */
export const tellSeconds = 60;

/** Words of a plan that costs more than was shown, while they are too new for what it costs. */
export function justTold({ cluster, at }: Situation): string | undefined {
  const { plan } = cluster.status ?? {};
  if (plan?.asked !== askedOf(cluster)) return undefined;
  const age = at.getTime() - Date.parse(plan.at);
  return age >= 0 && age < tellSeconds * 1000 ? plan.outgrown : undefined;
}

/** All is done that could be foreseen when it was made. */
function goesOn(plan: ClusterPlan): boolean {
  if (plan.state === 'Pending') return true;
  const isOpen = plan.ends === 'waits' || plan.ends === 'goes-on';
  return plan.state === 'UnderWay' && isOpen && isKept(plan, takenIn(plan));
}

const longest = 64;
const longestTaken = 96;
/** Characters: nine members of the longest name. */
export const longestTarget = 1024;

/** The plan as it begins. */
export function begun(foretold: Foretold, { cluster, at, outgrown }: Situation): ClusterPlan {
  const { steps, end, isBlind } = foretold;
  const known = isBlind ? knowable(steps) : steps;
  const asked = askedOf(cluster);
  const before = cluster.status?.plan?.asked === asked ? cluster.status.plan : undefined;
  const earlier = (before?.earlier ?? 0) + (before?.foretold?.length ?? 0);
  const base = {
    ...{ asked, generation: cluster.metadata.generation ?? 0, at: timestamp(at) },
    ...(earlier > 0 && { earlier }),
    ...(before?.interrupted && { interrupted: true }),
    ...(outgrown !== undefined && { outgrown }),
  };
  if (end === 'unknown') return { ...base, state: 'NotFollowed', message: 'its plan could not be made' };
  if (known.length > longest)
    return { ...base, state: 'NotFollowed', message: `its plan has ${known.length} steps: too many to be followed` };
  if (known.length === 0) return { ...base, state: 'Pending', message: 'no step can be foreseen yet' };
  return {
    ...base,
    state: 'UnderWay',
    message: `${earlier} of ${counted(earlier + known.length, 'step')}`,
    foretold: known.map(asFollowed),
    taken: [],
    ends: end,
    ...(isBlind && { withoutCertificates: true }),
  };
}

function asFollowed({ action, target, reason }: Step): Step {
  return { action, ...(target !== undefined && { target: target.slice(0, longestTarget) }), reason };
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
  if (plan.state !== 'UnderWay') return plan;
  const isCut = plan.interrupted === true || unreported !== undefined || step?.outcome === 'failed';
  const on = { ...plan, ...(isCut && { interrupted: true }) };
  const before = decision.kind === 'wait' ? takenIn(plan) : withUnreported(plan, unreported, step);
  const taken = step ? withStep(before, step, plan) : before;
  if (taken.length > longestTaken) return over(on, 'NotFollowed', 'more steps than can be followed');
  if (!isKept(plan, taken, true)) {
    const next = plan.foretold?.[before.length];
    const came = step ? `${said(step)} came` : 'something else came';
    return over(on, 'Left', `left its plan at step ${placeOf(on, before.length + 1)}: ${came}${instead(next)}`);
  }
  switch (decision.kind) {
    case 'done':
      if (courseOf(decision.reason) === 'stopped') return { ...on, taken };
      return isKept(plan, taken) ? kept(on) : short(on, taken, 'it was done');
    case 'refuse':
      // What ends by itself is a wait.
      if (refusals[decision.reason] !== 'person') return { ...on, taken };
      return plan.ends === 'refused' && isKept(plan, taken)
        ? kept(on, `, then a person is needed (${decision.reason})`)
        : short(on, taken, `a person is needed (${decision.reason})`);
    default:
      return { ...on, taken, message: countOf(on, taken.length) };
  }
}

function takenIn({ taken = [] }: ClusterPlan): readonly Taken[] {
  return taken as readonly Taken[];
}

/** Repeated failures of one kind are one, as in the history. */
function withStep(taken: readonly Taken[], step: Taken, { withoutCertificates }: ClusterPlan): readonly Taken[] {
  const last = taken.at(-1);
  const isAgain = last?.outcome === 'failed' && step.outcome === 'failed' && isSame(last, step);
  if (isAgain && last.reason === step.reason) return taken;
  const all = [...taken, { ...asFollowed(step), outcome: step.outcome }];
  return withoutCertificates ? knowable(all) : all;
}

function isSame(one: Step, other: Step | undefined): boolean {
  return one.action === other?.action && one.target === other.target;
}

/** Its lease says what it had taken on. Where the same step is not taken again, it had been through with it. */
function withUnreported(plan: ClusterPlan, unreported: Step | undefined, step: Taken | undefined): readonly Taken[] {
  const taken = takenIn(plan);
  if (!unreported || isSame(unreported, step)) return taken;
  const all = withStep(taken, { ...unreported, outcome: 'acted' }, plan);
  return isKept(plan, all, true) ? all : taken;
}

function isKept({ foretold = [] }: ClusterPlan, taken: readonly Taken[], isUnderWay = false): boolean {
  return isAsForetold(foretold, taken, { isUnderWay });
}

function kept(plan: ClusterPlan, then = ''): ClusterPlan {
  return over(plan, 'AsPlanned', `as planned, ${countOf(plan, plan.foretold?.length ?? 0)}${then}`);
}

function short(plan: ClusterPlan, taken: readonly Taken[], why: string): ClusterPlan {
  return over(plan, 'Left', `left its plan after step ${placeOf(plan, taken.length)}: ${why}`);
}

/** With those of before something that could not be foreseen. */
function countOf({ earlier = 0, foretold = [] }: ClusterPlan, taken: number): string {
  return `${earlier + Math.min(taken, foretold.length)} of ${counted(earlier + foretold.length, 'step')}`;
}

function placeOf({ earlier = 0, foretold = [], interrupted }: ClusterPlan, step: number): string {
  const cut = interrupted ? ', after a step that failed or was cut off' : '';
  return `${earlier + step} of ${earlier + foretold.length}${cut}`;
}

function over(plan: ClusterPlan, state: ClusterPlan['state'], message: string): ClusterPlan {
  const { asked, generation, at, interrupted, outgrown } = plan;
  const whole = outgrown === undefined ? message : `${message}; ${outgrown}`;
  const marks = { ...(interrupted && { interrupted }), ...(outgrown !== undefined && { outgrown }) };
  return { asked, generation, at, state, message: whole.slice(0, 512), ...marks };
}

function instead(next: Step | undefined): string {
  return next ? `, where ${said(next)} was planned` : ', where no more was planned';
}

function said({ action, target, reason }: Step): string {
  return `${action}${target ? ` ${target}` : ''} (${reason})`;
}
