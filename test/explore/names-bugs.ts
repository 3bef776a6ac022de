import { annotations } from '../../manifests/render/names.ts';
import { takeNames } from '../../reconcile/cluster/decide/rules/certificates/take-names.ts';
import { namesToApprove } from '../../reconcile/cluster/know/certificates/take-names.ts';
import { recordOf } from '../../reconcile/cluster/know/life.ts';
import type { Observation, Slot } from '../../reconcile/cluster/know/observation.ts';
import type { Situation } from '../../reconcile/cluster/know/situation.ts';
import type { Code } from './model/code.ts';
import { type Bug, instead } from './seeding.ts';

/** Bugs by which members would let in names too early, or never. */
export const namesBugs: readonly Bug[] = [
  {
    name: 'asks no person',
    what: 'members are to let in names as soon as all leaves have theirs, and no person has approved it',
    violates: 'I1',
    scenario: 'names of 1',
    faults: {},
    seed: (code) => instead(approving(code), 'takeNames', (situation) => takeNames(approved(situation))),
  },
  {
    name: 'asks before leaves have names',
    what: 'a person is asked, and volumes say it, while leaves have no names',
    violates: 'I1',
    scenario: 'names of 3',
    faults: {},
    seed: (code) => ({ ...code, decide: (observation) => code.decide(named(observation)) }),
  },
  {
    name: 'believes late records',
    what: 'members are told as volumes say, also where leaves have lost their names since',
    violates: 'I1',
    scenario: 'names of 1',
    faults: { late: 1 },
    seed: (code) => ({
      ...code,
      decide: (observation) => code.decide(observation.slots.every(saysSo) ? named(observation) : observation),
    }),
  },
  {
    name: 'takes half for all',
    what: 'members are told as soon as one volume says it',
    violates: 'I1',
    scenario: 'names of 3',
    faults: { death: 1 },
    seed: (code) => ({
      ...code,
      decide: (observation) => code.decide(observation.slots.some(saysSo) ? saying(observation) : observation),
    }),
  },
  {
    name: 'stops halfway',
    what: 'what an invocation left of the records is not finished',
    violates: 'convergence',
    scenario: 'names of 3',
    faults: { death: 1 },
    seed: (code) =>
      instead(code, 'takeNames', (situation) => (situation.slots.some(saysSo) ? undefined : takeNames(situation))),
  },
];

function saysSo(slot: Slot): boolean {
  return recordOf(slot)?.allowedNames !== undefined;
}

/** The action finds the approval that it was leased for. */
function approving(code: Code): Code {
  return {
    ...code,
    run: (action, claimed) => {
      if (action.kind !== 'take-names' || action.approval === undefined) return code.run(action, claimed);
      const given = { ...claimed.annotations, [annotations.takeNames]: action.approval };
      return code.run(action, { ...claimed, annotations: given });
    },
  };
}

function approved(situation: Situation): Situation {
  const value = namesToApprove(situation, situation.life)?.value;
  if (value === undefined) return situation;
  const { cluster } = situation;
  const given = { ...cluster.metadata.annotations, [annotations.takeNames]: value };
  return { ...situation, cluster: { ...cluster, metadata: { ...cluster.metadata, annotations: given } } };
}

/** Each leaf has what is planned, and its member shows it. */
function named(observation: Observation): Observation {
  const { certificates } = observation;
  if (certificates.kind !== 'read') return observation;
  const leaves = certificates.leaves.map((leaf) => {
    const { plan, facts, served } = leaf;
    if (!facts) return leaf;
    const shown = served !== undefined && { served: facts.fingerprint };
    return { ...leaf, facts: { ...facts, dnsNames: plan.dnsNames }, defects: [], ...shown };
  });
  return { ...observation, certificates: { ...certificates, leaves } };
}

function saying(observation: Observation): Observation {
  const slots = observation.slots.map((slot): Slot => {
    const record = recordOf(slot);
    if (!slot.volume || !record) return slot;
    const said = { kind: 'valid', record: { ...record, allowedNames: 'Taken' } } as const;
    return { ...slot, volume: { ...slot.volume, record: said } };
  });
  return { ...observation, slots };
}
