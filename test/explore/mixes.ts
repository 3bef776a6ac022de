import { partOf } from '../run/part.ts';
import { adoptionScenarios } from './adoption-scenarios.ts';
import { backupScenarios } from './backup-scenarios.ts';
import type { FaultKind } from './model/fault-kind.ts';
import { restoreScenarios } from './restore-scenarios.ts';
import { revisionScenarios } from './revision-scenarios.ts';
import type { Scenario } from './scenario.ts';

const once = {
  ...{ death: 1, late: 1, again: 1, second: 1, crash: 1, blank: 1, eviction: 1, wipe: 1, claim: 1, lost: 1, leader: 1 },
  ...{ lag: 1, peer: 1, set: 1, configMap: 1, hand: 1, newer: 1, scale: 1, remove: 1, status: 1, writes: 1 },
  ...{ noDryRuns: 1, webhook: 1, dryRuns: 1 },
  ...{ node: 1, cut: 1, returns: 1, force: 1, restore: 1, jobPod: 1, kill: 1, trial: 1, cramped: 1, apart: 1 },
  ...{ backupFails: 1, backupAges: 1, backupGoes: 1, objectGoes: 1, namedGoes: 1, namedTurns: 1, namedAnew: 1 },
  ...{ userMade: 1, rightsGiven: 1, rightsTaken: 1, authTurned: 1 },
} as const satisfies Readonly<Record<FaultKind, 1>>;

/** Any one fault beside a backup, a rollback or an adoption: two rare things at once. In ring 1 a third, by turns. */
export const mixes: readonly Scenario[] = partOf(
  [...backupScenarios, ...restoreScenarios, ...revisionScenarios, ...adoptionScenarios].map((scenario) => ({
    ...scenario,
    name: `${scenario.name}; any fault`,
    faults: once,
    atMost: 1,
  })),
);
