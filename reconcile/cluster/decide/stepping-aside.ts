import type { ClusterSetAside } from '../../../manifests/api/etcd-cluster-status.ts';
import { mustNotRun } from '../../../manifests/api/version-defects.ts';
import { podName } from '../../../manifests/render/names.ts';
import { toldIn } from '../../reasons/cure.ts';
import { refusalIn } from '../../reasons/refusals.ts';
import { partsOf, targetOf } from '../act/act.ts';
import type { Action } from '../know/action.ts';
import { type Decision, type Refused, refusalsOf, refuse } from '../know/decision.ts';
import { isUnreadable, unreadableInWords } from '../know/life.ts';
import { entryFor } from '../know/set-aside.ts';
import type { Rule, Situation } from '../know/situation.ts';
import { defective } from '../know/versions/version-refusals.ts';
import { converged } from './rules/general/converged.ts';
import { gate } from './rules/general/gate.ts';
import { nameWhatIsLeft } from './rules/general/name-what-is-left.ts';
import { lackSpace } from './rules/space/free-space.ts';
import { keepsAlive, type Passing, passings } from './what-may-go-on.ts';

/** A rule that decided, and was passed over. */
export interface PassedOver extends Passing {
  readonly told: Decision;
  /** Done all the same where no other step is possible: the failure may pass, and a member's life depends on it. */
  readonly again?: Decision;
}

/** Rules that report last, of a cluster that is otherwise as it should be. */
const last: ReadonlySet<Rule> = new Set<Rule>([nameWhatIsLeft, converged]);

/** Below the gate, where no change may begin: the reports, and that etcd accepts no writes, with its cure. */
export function maySpeak(rule: Rule, passed: readonly PassedOver[]): boolean {
  if (passed.every(({ changesMayGoOn }) => changesMayGoOn) || last.has(rule)) return true;
  return rule === lackSpace && !passed.some(({ holds }) => holds.includes(gate));
}

/**
 * An action that was refused for good is left to a person until it is retried. An action on several members is first
 * tried for each of them alone; not at a birth, which is recorded whole before any member starts (I5).
 */
export function asItStands(rule: Rule, decision: Decision, situation: Situation): Decision {
  if (decision.kind !== 'act') return decision;
  const spared = withoutUnreadable(decision, situation);
  return spared.kind === 'act' ? withoutRefused(rule, spared, situation) : spared;
}

/** A volume with unreadable annotations may hold anything: its member is left alone, the others are looked after. */
function withoutUnreadable(decision: Deed, { cluster, slots, life }: Situation): Decision {
  const unreadable = slots.filter(isUnreadable);
  const [first] = unreadable;
  // A deletion is a person's decision about all of them.
  if (!first || life.stage !== 'born' || cluster.metadata.deletionTimestamp !== undefined) return decision;
  const touches = (action: Action) => {
    const targets = targetOf(action)?.split(', ') ?? [];
    return unreadable.some(({ name }) => targets.includes(name) || targets.includes(podName(name)));
  };
  if (!touches(decision.action)) return decision;
  const others = partsOf(decision.action).find((part) => !touches(part));
  const { message, cure } = unreadableInWords(first);
  return others ? { ...decision, action: others } : refuse('VolumeRecordUnreadable', message, cure);
}

type Deed = Extract<Decision, { kind: 'act' }>;

function withoutRefused(rule: Rule, decision: Deed, situation: Situation): Decision {
  const { refused, life } = situation;
  if (refused.length === 0) return decision;
  const entry = entryFor(decision.action, refused);
  // A failure that may pass steps aside only for other rules: where none may go on, a pause helps nothing.
  if (!entry || (entry.repeated && !passOver(rule, decision, refusedBy(entry), situation))) return decision;
  const parts = life.stage === 'born' ? partsOf(decision.action) : [];
  const open = parts.length > 1 ? parts.find((part) => entryFor(part, refused) === undefined) : undefined;
  return open ? { ...decision, action: open } : refusedBy(entry);
}

function refusedBy({ reason, message }: ClusterSetAside): Refused {
  const told = toldIn(message);
  return {
    kind: 'refuse',
    reason: refusalIn(reason),
    message: told.message,
    cure: `${told.cure}; it is retried by itself, and at once when the spec changes or a look is requested`,
  };
}

/**
 * Whether, and how, the rules below may decide although the action of this rule was refused, or it asks for a person.
 * Before a cluster is born there is nothing to heal.
 */
export function passOver(rule: Rule, said: Decision, stands: Decision, situation: Situation): PassedOver | undefined {
  if (stands.kind === 'act' || stands.kind === 'done' || situation.life.stage !== 'born') return undefined;
  const passing = passings.get(rule)?.(said, situation);
  if (!passing) return undefined;
  const isTriedAgain =
    said.kind === 'act' && keepsAlive.has(said.action.kind) && entryFor(said.action, situation.refused)?.repeated;
  return { ...passing, told: stands, ...(isTriedAgain && { again: said }) };
}

/**
 * The final decision, and what else a person must know. A wait is no answer where its condition depends on what was
 * passed over.
 */
export function concluded(
  rule: Rule,
  decision: Decision,
  passed: readonly PassedOver[],
  situation: Situation,
): Decision {
  const blamed = passed.find(({ inVain }) => inVain) ?? passed[0];
  if (!blamed) return withGrowth(decision, [], situation);
  const again = decision.kind === 'act' ? undefined : passed.find((one) => one.again)?.again;
  if (again) return withGrowth(again, refusalsIn(passed), situation);
  const isInVain =
    decision.kind === 'wait' && (situation.membership.kind === 'unknown' || passed.some(({ inVain }) => inVain));
  const isLeft = decision.kind === 'done' || isInVain || last.has(rule);
  const head = isLeft ? blamed.told : decision;
  // The last reports are added: no report for a person hides another.
  const left = head !== decision && last.has(rule) ? refusalsOf(decision) : [];
  return withGrowth(head, [...refusalsIn(passed).filter((told) => told !== head), ...left], situation);
}

function refusalsIn(passed: readonly PassedOver[]): readonly Refused[] {
  return passed.flatMap(({ told }) => (told.kind === 'refuse' ? [told] : []));
}

/** Of the version that members are to keep. etcd-ratchet changes no version by itself: a person must leave it. */
function defectOf({ effective, life }: Situation): readonly Refused[] {
  const { version } = effective.inputs;
  const found = life.stage === 'born' ? mustNotRun(version) : undefined;
  if (!found) return [];
  const { field: _, ...told } = defective(version, found);
  return [{ kind: 'refuse', ...told }];
}

/** A refused growth holds up nothing: it counts among the wishes of the spec that cannot be fulfilled. */
function withGrowth(decision: Decision, others: readonly Refused[], situation: Situation): Decision {
  const { effective, refused } = situation;
  const isRefused = refused.some(({ action }) => action === 'grow-volumes');
  const growth = effective.refusals
    .filter(({ field }) => isRefused && field === 'spec.storage.size')
    .map(({ reason, message, cure }): Refused => ({ kind: 'refuse', reason, message, cure }));
  const all = [...(decision.besides ?? []), ...others, ...growth, ...defectOf(situation)];
  const besides = all.filter(
    ({ message }, index) => message !== decision.message && all.findIndex((one) => one.message === message) === index,
  );
  return besides.length === 0 ? decision : { ...decision, besides };
}
