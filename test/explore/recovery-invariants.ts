import type { Remains } from '../../reconcile/cluster/act/requests/before-recovery.ts';
import { formationOf, hasQuorum } from './model/etcd.ts';
import type { Event } from './model/event.ts';
import { successorsOf } from './model/lineage.ts';
import { ledBy } from './model/look.ts';
import { type Acting, type Formation, placeOf, type State, type World } from './model/state.ts';

/** What an approved recovery must never do, looked at in the truth. */

/**
 * I9: it begins only as a person was told, and no quorum had taken writes since when its members were asked last. etcd
 * fences no write to a volume: whom a quorum comes back to after that is looked for once more before the first is
 * stopped.
 */
export function beginsAsApproved(
  { world, acting, beside }: State,
  { who, write, action, name }: Event,
): string | undefined {
  if (!write || who === 'late' || action?.kind !== 'begin-recovery' || name !== action.volume.name) return undefined;
  const { approval } = world.cluster;
  if (!approval) return 'a recovery begins that nobody approved';
  if (approval.kept !== name) return `a recovery begins from ${name}, and ${approval.kept} was approved`;
  const formation = formationOf(world, placeOf(world, name)?.disk?.formation);
  const holder = [acting, beside].find((one) => one?.action === action);
  if (formation && holder && hasMoreThan(holder, formation, action.memberId))
    return `a recovery begins from ${name}, and another voter that was asked has more`;
  const led = (formation && holder && ledAsTold(holder, formation, action.memberId)) ?? formation?.led ?? 0;
  return led === approval.led ? undefined : 'a recovery begins, and a quorum has served since it was approved';
}

/** By what it answered about its log; `undefined`: it was not asked. */
function ledAsTold(holder: Acting, formation: Formation, memberId: string): number | undefined {
  const log = logsTold(holder).find((one) => one.memberId === memberId);
  return log && ledBy(formation, log.raftIndex);
}

function hasMoreThan(holder: Acting, { members }: Formation, memberId: string): boolean {
  const logs = logsTold(holder);
  const chosen = logs.find((one) => one.memberId === memberId);
  const voters = members.filter(({ learner }) => !learner).map(({ id }) => id);
  return logs.some((one) => voters.includes(one.memberId) && chosen && +one.raftIndex > +chosen.raftIndex);
}

function logsTold({ answers }: Acting): Remains['logs'] {
  const told = answers.flatMap((one) => ('answer' in one ? [one.answer as Partial<Remains> | undefined] : []));
  return told.flatMap((remains) => remains?.logs ?? []);
}

/**
 * I10: what a recovery left behind never serves again; and a cluster is forced for one approval only, on one volume,
 * that nobody else has open, and never again once it has served.
 */
export function recoversOnce({ world: before }: State, _: Event, { world: after }: State): string | undefined {
  const opened = after.places.find(
    ({ process, hidden, jobPod }) => (process ?? hidden) && (jobPod?.stage === 'forced' || jobPod?.stage === 'ready'),
  );
  if (opened) return `${opened.name} and the Job of its recovery have the same data open`;
  if (after.formations.length < 2) return undefined;
  const revenant = after.formations.find((one) => successorsOf(after, one).length > 0 && hasQuorum(after, one));
  if (revenant) return 'members that a recovery left behind are a quorum, and take writes';
  const forced = after.formations.find((one) => one.forced && !formationOf(before, one.id));
  const revived = after.formations.find((one) => one.revived && !formationOf(before, one.id));
  return (forced && forcedWrongly(before, forced)) ?? (revived && revivedWrongly(before, revived));
}

function revivedWrongly(before: World, { revived }: Formation): string | undefined {
  const twins = before.formations.filter((one) => one.revived && one.revived.by === revived?.by);
  if (twins.some(({ formed }) => formed)) return 'a new life is made once more, and the one before has served';
  return twins.some((one) => one.revived?.memberId !== revived?.memberId)
    ? 'new lives are made for the same approval on two volumes'
    : undefined;
}

function forcedWrongly(before: World, { forced }: Formation): string | undefined {
  if (!forced) return undefined;
  if (formationOf(before, forced.from)?.forced?.by === forced.by)
    return 'a cluster is forced once more, and has served since';
  const other = before.formations.find(
    (one) => one.forced?.by === forced.by && one.forced.memberId !== forced.memberId,
  );
  return other && 'a cluster is forced for the same approval on two volumes';
}
