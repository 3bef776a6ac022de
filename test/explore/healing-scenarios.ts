import { annotations } from '../../manifests/render/names.ts';
import type { Change, Turn } from './model/git.ts';
import type { Consent } from './model/person.ts';
import type { World } from './model/state.ts';
import { healthy } from './model/worlds.ts';
import { one, type Scenario } from './scenario.ts';

const approves: Consent = { what: 'a person approves that the member is given up', person: 'approves the replacement' };
const takesBack: Consent = { what: 'a person takes the approval back', person: 'takes the approval back' };
const mode = (to: 'Automatic' | 'Manual'): Change => ({
  what: `healing.mode: ${to}`,
  spec: { healing: { mode: to } },
});
const size = (replicas: number): Change => ({ what: `replicas: ${replicas}`, spec: { replicas } });

const disks = { wipe: 1, claim: 1, lost: 1, node: 1 } as const;
const holders = { death: 2, late: 1, again: 1 } as const;

/** Where a person decides whether a member is given up. */
export const healingScenarios: readonly Scenario[] = [
  byHand('heal 3 by hand', [approves, approves], { ...disks, wipe: 2, crash: 1, status: 1 }, 2),
  byHand('heal 3 by hand, and who heals it dies', [approves], { ...disks, ...holders }, 2),
  byHand(
    'heal 3 by hand, and take it back',
    [approves, takesBack, approves],
    { wipe: 1, node: 1, death: 1, late: 1 },
    2,
  ),
  byHand('heal 3 by hand, and a node comes back', [approves], { cut: 1, node: 1, returns: 2 }, 3),
  byHand('heal by hand, then by itself, and back', [mode('Automatic'), mode('Manual'), approves], disks, 1),
  one('heal 3 by hand, approved before', approvedBefore, [approves], { wipe: 1, lost: 1, node: 1, death: 1 }, 2),
  byHand('heal by hand while it grows', [size(4), approves], { ...disks, late: 1 }, 1),
];

/** For random walks. */
export function wildByHand(faults: Scenario['faults']): Scenario {
  const turns = [approves, size(4), takesBack, approves, mode('Automatic'), size(3), mode('Manual'), approves];
  return one('wild by hand', healthy({ healing: { mode: 'Manual' } }, 9), turns, faults, 9);
}

/** The approval of a member that is long gone is there still, as approvals are. */
function approvedBefore(): World {
  const { cluster, ...world } = healthy({ healing: { mode: 'Manual' } }, 6);
  const annotated = { [annotations.replaceMember]: 'former/0123456789ab' };
  return { ...world, cluster: { ...cluster, annotations: annotated, givenUp: 'of a former member' } };
}

function byHand(name: string, changes: readonly Turn[], faults: Scenario['faults'], atMost: number): Scenario {
  return one(name, healthy({ healing: { mode: 'Manual' } }, 6), changes, faults, atMost);
}
