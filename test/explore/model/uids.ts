import { recordOf } from '../../../reconcile/cluster/know/life.ts';
import type { Place, State, World } from './state.ts';

/**
 * Which UIDs and member IDs something still refers to: the others may be given again, so that states do not differ in
 * them alone.
 */
export type Referred = (id: string) => boolean;

const ofThings = new WeakMap<object, string>();

/** All that holders, and requests on their way, speak of. */
export function referredIn({ acting, beside, looked, late, world }: State): Referred {
  const actions = [
    acting?.action,
    beside?.action,
    looked?.action,
    world.cluster.abandoned,
    ...late.map(({ action }) => action),
  ];
  const things = [
    ...actions,
    ...late.map(({ request }) => request),
    ...[...(acting?.answers ?? []), ...(beside?.answers ?? [])],
  ];
  const texts = things.flatMap((thing) => (typeof thing === 'object' && thing ? [textOf(thing)] : []));
  return (id) => texts.some((text) => text.includes(`"${id}"`));
}

function textOf(thing: object): string {
  let text = ofThings.get(thing);
  if (text === undefined) {
    text = JSON.stringify(thing);
    ofThings.set(thing, text);
  }
  return text;
}

export function freshUid(kind: string, place: Place, referred: Referred): string {
  const { ordinal, peer, volume, statefulSet, pod, job, jobPod } = place;
  const present = [
    peer?.uid,
    volume?.uid,
    statefulSet?.uid,
    pod?.uid,
    job?.uid,
    jobPod?.uid,
    jobPod?.job,
    peer?.replacingVolume,
    recordOf(place)?.mayHaveStarted,
  ];
  for (let turn = 0; ; turn += 1) {
    const uid = `${kind}-${ordinal}.${turn}`;
    if (!present.includes(uid) && !referred(uid)) return uid;
  }
}

/** No list, disk or volume knows it, and nobody speaks of it. */
export function freshMemberId({ formations, places }: World, referred: Referred): string {
  const known = new Set([
    ...formations.flatMap(({ members }) => members.map(({ id }) => id)),
    ...places.flatMap(({ disk, volume, process, backup }) => [
      disk?.memberId,
      process?.memberId,
      backup?.disk.memberId,
      ...rememberedBy(volume),
    ]),
  ]);
  for (let turn = 0; ; turn += 1) {
    const id = `b${turn}`;
    if (!known.has(id) && !referred(id)) return id;
  }
}

function rememberedBy(volume: Place['volume']): readonly (string | undefined)[] {
  if (volume?.record.kind !== 'valid') return [];
  const { memberId, outvoted = [] } = volume.record.record;
  return [memberId, ...outvoted.map((one) => one.memberId)];
}
