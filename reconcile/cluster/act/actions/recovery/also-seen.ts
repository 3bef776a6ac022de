import { isAspirant, type Recovery, type VolumeRecord } from '../../../../../manifests/render/volume-record.ts';
import type { Program } from '../../../../requests/program.ts';
import { seeWhereTheyRun } from '../../requests/before-recovery.ts';

type Nodes = Recovery['lastSeenOn'];

/**
 * Where members ran when a rollback looked last, and run now: while its snapshot is restored they serve on, and may
 * move. Of a birth there are none.
 */
export function* alsoSeen(record: Pick<VolumeRecord, 'state' | 'gaveUp' | 'recovery'>): Program<Nodes> {
  const known = record.recovery?.lastSeenOn ?? {};
  return isAspirant(record) ? bothOf(known, yield* seeWhereTheyRun({ known })) : known;
}

/** All are kept: a pod that was deleted by force, and recreated on another node, may still run on the first one. */
export function bothOf(before: Nodes, now: Nodes): Nodes {
  const names = new Set([...Object.keys(before), ...Object.keys(now)]);
  return Object.fromEntries(
    [...names].map((name) => [name, [...new Set([...(before[name] ?? []), ...(now[name] ?? [])])]]),
  );
}
