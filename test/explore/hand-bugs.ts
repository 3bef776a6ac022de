import { decide } from '../../reconcile/cluster/decide/decide.ts';
import { keepTemplates } from '../../reconcile/cluster/decide/rules/rolling/keep-templates.ts';
import { wait } from '../../reconcile/cluster/know/decision.ts';
import type { Observation } from '../../reconcile/cluster/know/observation.ts';
import { type Bug, instead, unchecked } from './seeding.ts';

export const handBugs: readonly Bug[] = [
  {
    name: 'rolls out what it finds',
    what: 'a StatefulSet that another client changed is rolled out like a change of ours',
    violates: 'I16',
    scenario: 'hands',
    faults: { hand: 1 },
    seed: (code) => ({
      ...unchecked(code, 'restart-member', { readDrift: () => undefined }),
      decide: (observation) => decide(trusting(observation)),
    }),
  },
  {
    name: 'believes its own look',
    what: 'a StatefulSet is not compared again just before its member restarts',
    violates: 'I16',
    scenario: 'hands while it rolls',
    faults: { hand: 1 },
    seed: (code) => unchecked(code, 'change-template', { readDrift: () => undefined }),
  },
  {
    name: 'cures with what it finds',
    what: 'a StatefulSet is not compared again before a pod that is not Ready is made anew of it',
    violates: 'I16',
    scenario: 'hands while it rolls',
    faults: { hand: 1, crash: 1 },
    seed: (code) => unchecked(code, 'reconfigure-members', { readDrift: () => undefined }),
  },
  {
    name: 'stops-without-an-answer',
    what: 'a step fails whose dry runs get no answer: no member is healed',
    violates: 'convergence',
    scenario: 'heal 3, and dry runs are refused',
    faults: { webhook: 1, wipe: 1 },
    seed: (code) => ({
      ...code,
      decide: (observation) => {
        const unanswered = observation.slots.some(({ statefulSet }) => statefulSet?.drift?.kind === 'unknown');
        return unanswered ? wait('TemplateUnread', 'no answer', { on: 'time', afterSeconds: 5 }) : decide(observation);
      },
    }),
  },
  {
    name: 'never-seals-unread',
    what: 'a birth is not finished where dry runs are refused: its members are never sealed',
    violates: 'convergence',
    scenario: 'birth of 2, and dry runs are refused',
    faults: { noDryRuns: 1 },
    seed: (code) =>
      instead(code, 'keepTemplates', (situation) => {
        const { life } = situation;
        if (life.stage !== 'birth') return keepTemplates(situation);
        return keepTemplates({ ...situation, life: { ...life, stage: 'born', token: life.record.token } });
      }),
  },
];

/** Our annotation is on it, and its content is not compared. */
function trusting(observation: Observation): Observation {
  const slots = observation.slots.map((slot) => {
    if (!slot.statefulSet) return slot;
    const { drift: _, ...statefulSet } = slot.statefulSet;
    return { ...slot, statefulSet };
  });
  return { ...observation, slots };
}
