import type { Observation, Slot } from '../../reconcile/cluster/know/observation.ts';
import { lacking } from './model/state.ts';
import { type Bug, edited, passedOn } from './seeding.ts';

/** Bugs by which clients would be served revisions that they saw already. */
export const revisionBugs: readonly Bug[] = [
  {
    name: 'constant-bump',
    what: 'a restored store is ahead of its snapshot by the same number, whatever its clients saw',
    violates: 'I17',
    scenario: 'revisions, roll back 1',
    faults: { writes: 1 },
    seed: (code) =>
      edited(code, 'restore-snapshot', ({ kind, ask }) =>
        kind === 'createRestoreJob' ? passedOn({ kind, ask: { ...(ask as object), bump: 1_000_000_000 } }) : undefined,
      ),
  },
  {
    name: 'forgets-the-floor',
    what: 'a second rollback takes no notice of where the first one began, and of what its members serve',
    violates: 'I17',
    scenario: 'revisions, roll back 1 twice',
    faults: {},
    seed: (code) => ({ ...code, decide: (observation) => code.decide(withoutRevisions(observation)) }),
  },
];

function withoutRevisions({ slots, cluster, ...observation }: Observation): Observation {
  const status = cluster.status && lacking(cluster.status, 'revisionFloor');
  return { ...observation, cluster: { ...cluster, ...(status && { status }) }, slots: slots.map(withoutRevision) };
}

function withoutRevision(slot: Slot): Slot {
  const { volume, endpoint } = slot;
  if (volume?.record.kind !== 'valid') return slot;
  const record = lacking(volume.record.record, 'revisionFloor');
  const silent = endpoint.kind === 'known' && {
    endpoint: { ...endpoint, status: { ...endpoint.status, revision: 0n } },
  };
  return { ...slot, ...silent, volume: { ...volume, record: { kind: 'valid', record } } };
}
