import type { ClusterSetAside } from '../../manifests/api/etcd-cluster.ts';
import { partsOf } from './action-parts.ts';
import type { Rule, Situation } from './decide.ts';
import type { Decision, Refused } from './decision.ts';
import { toldIn } from './outcome.ts';
import { awaitGrowth } from './rules/await-growth.ts';
import { checkCertificates } from './rules/check-certificates.ts';
import { converged } from './rules/converged.ts';
import { lackSpace } from './rules/free-space.ts';
import { gate } from './rules/gate.ts';
import { nameRefusals } from './rules/name-refusals.ts';
import { nameUnlabelledPods } from './rules/restore-labels.ts';
import { entryFor } from './set-aside.ts';
import { type Passing, passings } from './what-may-go-on.ts';

/** A rule that spoke, and was passed over. */
export interface PassedOver extends Passing {
  readonly told: Decision;
}

/** What is told in the end, of a cluster that is otherwise as it should be. */
const last: ReadonlySet<Rule> = new Set<Rule>([
  nameRefusals,
  nameUnlabelledPods,
  checkCertificates,
  awaitGrowth,
  converged,
]);

/** Below the gate, where changes may not go on: what is told, and that etcd takes no writes, and its cure. */
export function maySpeak(rule: Rule, passed: readonly PassedOver[]): boolean {
  if (passed.every(({ changesMayGoOn }) => changesMayGoOn) || last.has(rule)) return true;
  return rule === lackSpace && !passed.some(({ holds }) => holds.includes(gate));
}

/**
 * An action that was refused for good is a case for a person, until it is tried again. One about several members is tried for each of
 * them alone first; not at a birth, which is recorded whole before any member starts (I5).
 */
export function asItStands(decision: Decision, { refused, life }: Situation): Decision {
  if (decision.kind !== 'act' || refused.length === 0) return decision;
  const entry = entryFor(decision.action, refused);
  if (!entry) return decision;
  const parts = life.stage === 'born' ? partsOf(decision.action) : [];
  const open = parts.length > 1 ? parts.find((part) => entryFor(part, refused) === undefined) : undefined;
  return open ? { ...decision, action: open } : refusedBy(entry);
}

function refusedBy({ reason, message }: ClusterSetAside): Refused {
  const told = toldIn(message);
  return {
    kind: 'refuse',
    reason,
    message: told.message,
    cure: `${told.cure}; it is tried again by itself, and at once when the spec changes or a look is asked for`,
  };
}

/**
 * Whether, and how, the rules below may speak though this one has, and its action was refused or it wants a person. Before a cluster is
 * born there is nothing to heal.
 */
export function passOver(rule: Rule, said: Decision, stands: Decision, situation: Situation): Passing | undefined {
  if (stands.kind === 'act' || stands.kind === 'done' || situation.life.stage !== 'born') return undefined;
  return passings.get(rule)?.(said, situation);
}

/**
 * What is decided in the end, and what of the rest a person must know. A wait is no answer where what it waits for rests on what was
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
  const isInVain =
    decision.kind === 'wait' && (situation.membership.kind === 'unknown' || passed.some(({ inVain }) => inVain));
  const isLeft = decision.kind === 'done' || isInVain || last.has(rule);
  const head = isLeft ? blamed.told : decision;
  const others = passed.flatMap(({ told }) => (told !== head && told.kind === 'refuse' ? [told] : []));
  return withGrowth(head, others, situation);
}

/** A growth that was refused holds up nothing: it is among what the spec asks for and can't have. */
function withGrowth(decision: Decision, others: readonly Refused[], { effective, refused }: Situation): Decision {
  const isRefused = refused.some(({ action }) => action === 'grow-volumes');
  const growth = effective.refusals
    .filter(({ field, message }) => isRefused && field === 'spec.storage.size' && message !== decision.message)
    .map(({ reason, message, cure }): Refused => ({ kind: 'refuse', reason, message, cure }));
  const besides = [...others, ...growth];
  return besides.length === 0 ? decision : { ...decision, besides };
}
