import { isHigher } from '../../../manifests/api/version.ts';
import type { ActionOf } from '../../../reconcile/cluster/actions.ts';
import { mayGoBackTo } from '../../../reconcile/cluster/versions-run.ts';
import { minorNumber, minorOf, serving, withFormation } from '../model/etcd.ts';
import { look } from '../model/look.ts';
import { placeOf, type World } from '../model/state.ts';
import { type Operation, type Program, refused, settled } from './program.ts';
import { recordIn, writesRecord } from './records.ts';

/** actions/going-back.ts: its pod did not run a higher minor, or going back is still possible. */
export function mayRun(world: World, name: string, version: string): { readonly refused: string } | undefined {
  const pod = placeOf(world, name)?.pod;
  if (!pod?.everStarted || minorNumber(pod.inputs.version) <= minorNumber(version)) return undefined;
  const { cluster, slots } = look(world, { nonce: '' });
  const asSeen = slots.map((slot) => ({ ...slot, endpoint: { kind: 'unknown', cause: 'not asked' } as const }));
  const told = serving(world)?.version;
  const moved = told !== undefined && minorNumber(told) > minorNumber(version);
  if (mayGoBackTo(version, { cluster, slots: asSeen }) && !moved) return undefined;
  return refused(`${name} has run ${pod.inputs.version}, and may not go back to ${version}`);
}

/** Then the volume is told what its pod ran. */
export function notesRan(name: string, version?: string): Operation {
  const notes = writesRecord(name, `notes on volume ${name} what has run`, (record, { pod }) =>
    pod ? { ...record, version: pod.inputs.version } : undefined,
  );
  const check = (world: World) => (isToldWhatRan(world, name, version) ? 'skip' : (notes.check?.(world) ?? 'go'));
  return { ...notes, check };
}

/** Nothing is to be told where it goes back to nothing lower. */
export function isToldWhatRan(world: World, name: string, version?: string): boolean {
  const place = placeOf(world, name);
  const { pod, peer } = place ?? {};
  const record = place && recordIn(place);
  const to = version ?? peer?.inputs.version;
  if (!pod?.everStarted || to === undefined || minorNumber(pod.inputs.version) <= minorNumber(to)) return true;
  return record === undefined || record.state === 'bootstrapping' || !isHigher(pod.inputs.version, record.version);
}

/** actions/note-versions.ts */
export function noteVersions({ members, clusterId, since }: ActionOf<'note-versions'>): Program {
  return members.map(({ name, memberId, version }) =>
    writesRecord(
      name,
      `notes on volume ${name} that it runs ${version}`,
      (record) => {
        if (record.state !== 'sealed' || record.memberId !== memberId || record.clusterId !== clusterId)
          return refused(`volume ${name} is another member's by now`);
        const { nextVersion: _, ...rest } = record;
        return { ...rest, version, ...(since && { minorSince: since }) };
      },
      { beside: 1 },
    ),
  );
}

/** actions/advance-log.ts: as many entries as it takes, in one. */
export function advanceLog({ clusterId }: ActionOf<'advance-log'>): Program {
  return [
    {
      what: "adds entries that change nothing to raft's log",
      check: (world) => {
        const list = settled(serving(world), clusterId);
        return 'refused' in list ? list : 'go';
      },
      write: {
        fence: 'claim',
        apply: (world) => {
          const formation = serving(world);
          if (!formation) return world;
          const oldest = minorOf(`${formation.version ?? formation.oldest}.0`);
          return withFormation(world, { ...formation, index: 'high', oldest });
        },
      },
    },
  ];
}
