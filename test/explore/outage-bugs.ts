import { awaitQuorum } from '../../reconcile/cluster/decide/rules/recovery/await-quorum.ts';
import type { Situation } from '../../reconcile/cluster/know/situation.ts';
import { type Bug, instead } from './seeding.ts';

export const outageBugs: readonly Bug[] = [
  {
    name: 'waits for ever',
    what: 'members that run and do not hear each other are waited for without end',
    violates: 'convergence',
    scenario: 'members apart',
    faults: { apart: 1 },
    seed: (code) => instead(code, 'awaitQuorum', (situation) => awaitQuorum({ ...situation, at: new Date(0) })),
  },
  {
    name: 'waits for who never leads',
    what: 'a birth of which no log has an entry is waited for without end',
    violates: 'convergence',
    scenario: 'birth of 1, cut short',
    faults: { blank: 1 },
    seed: (code) => instead(code, 'awaitQuorum', (situation) => awaitQuorum(withoutBirths(situation))),
  },
  {
    name: 'cure waits for room',
    what: 'a larger quota for a cluster that accepts no writes waits for room in its fleet',
    violates: 'convergence',
    scenario: 'out of space, without room',
    faults: {},
    seed: (code) => instead(code, 'raiseQuota', () => undefined),
  },
  {
    name: 'hides refused writes',
    what: 'only a lost quorum makes a cluster unavailable',
    violates: 'I15',
    scenario: 'out of space, without room',
    faults: {},
    seed: (code) => ({ ...code, report: (situation, decision) => code.report(deaf(situation), decision) }),
  },
  {
    name: 'hides a lost quorum',
    what: 'a cluster that has lost its quorum is reported as one that is being born',
    violates: 'I15',
    scenario: 'two disks of 3',
    faults: { wipe: 2 },
    seed: (code) => ({
      ...code,
      report: (situation, decision) => code.report({ ...situation, life: { stage: 'unborn' } }, decision),
    }),
  },
];

/** The metrics of a birth are not asked. */
function withoutBirths(situation: Situation): Situation {
  const slots = situation.slots.map((slot) => {
    if (slot.endpoint.kind === 'known') return slot;
    const { atBirth: _, ...endpoint } = slot.endpoint;
    return { ...slot, endpoint };
  });
  return { ...situation, slots };
}

/** What a status says of alarms is not heard. */
function deaf(situation: Situation): Situation {
  const slots = situation.slots.map((slot) =>
    slot.endpoint.kind === 'known'
      ? { ...slot, endpoint: { ...slot.endpoint, status: { ...slot.endpoint.status, errors: [] } } }
      : slot,
  );
  return { ...situation, slots };
}
