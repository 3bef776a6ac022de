import type { SetDrift } from '../../../reconcile/cluster/know/observation.ts';
import type { Fault } from './fault.ts';
import { lacking, type Place, type World, withPlace } from './state.ts';

/**
 * Other clients that write into StatefulSets of ours: their labels and our annotations stay as they were. And dry runs
 * by which each would be found: without them none is known to be ours, as where the notes of all are lost.
 */

type Set = NonNullable<Place['statefulSet']>;

const by = 'an image updater';
const template: SetDrift = { kind: 'changed', fields: ['spec.template'], by };
const scale: SetDrift = { kind: 'changed', fields: ['spec.replicas'], by, replicas: 0 };

export const handFaults = {
  hand: {
    what: 'another client changes a flag of StatefulSet #',
    strike: (world, place) =>
      changed(world, place, (set) => ({ ...retemplated(set, 'a flag'), inputs: { ...set.inputs, etcd: otherFlag } })),
  },
  newer: {
    what: 'another client sets the image of StatefulSet # to the next minor',
    strike: (world, place) =>
      changed({ ...world, newerByOthers: true }, place, (set) => {
        const version = nextMinor[set.inputs.version];
        return version === undefined ? undefined : { ...retemplated(set, version), inputs: { ...set.inputs, version } };
      }),
  },
  scale: {
    what: 'another client scales StatefulSet # to 0',
    strike: (world, place) => changed(world, place, (set) => ({ ...set, drift: scale })),
  },
  noDryRuns: {
    what: 'the API server refuses dry runs of StatefulSets from now on',
    strike: (world, { ordinal }) =>
      ordinal > 0 || world.dryRuns === 'refused' ? undefined : { ...world, dryRuns: 'refused' },
  },
  webhook: {
    what: 'a webhook for StatefulSets is down: dry runs get no answer',
    strike: (world, { ordinal }) => (ordinal > 0 || world.dryRuns ? undefined : { ...world, dryRuns: 'unanswered' }),
  },
  dryRuns: {
    what: 'the API server takes dry runs again',
    strike: (world, { ordinal }) => (ordinal > 0 || !world.dryRuns ? undefined : lacking(world, 'dryRuns')),
  },
} as const satisfies Readonly<Record<HandFault, Fault>>;

type HandFault = 'hand' | 'newer' | 'scale' | 'noDryRuns' | 'webhook' | 'dryRuns';

const otherFlag = { snapshotCount: 4321 } as const;
const nextMinor: Readonly<Record<string, string>> = { '3.5.35': '3.6.16', '3.6.16': '3.7.3' };

/** Its controller names the revision by what is in it; our annotation stays. */
function retemplated(set: Set, what: string): Set {
  return { ...set, drift: template, updateRevision: `of another client: ${what}` };
}

function changed(world: World, { name, statefulSet }: Place, change: (set: Set) => Set | undefined): World | undefined {
  if (!statefulSet?.current || statefulSet.drift) return undefined;
  const written = change(statefulSet);
  return written && withPlace(world, name, (place) => ({ ...place, statefulSet: written }));
}

/** What a comparison tells of it. */
export function compared<T extends { readonly drift?: SetDrift }>(set: T, { dryRuns }: Pick<World, 'dryRuns'>): T {
  // How many pods it asks for is read, and not compared.
  return dryRuns && !asksForNoPod(set) ? { ...set, drift: uncompared[dryRuns] } : set;
}

const uncompared = {
  refused: { kind: 'unknown', cause: 'dry runs are refused' },
  unanswered: { kind: 'unknown', cause: 'no answer', mayPass: true },
} as const satisfies Readonly<Record<NonNullable<World['dryRuns']>, SetDrift>>;

/** What a pod is made of now, as its controller names it. */
export function templateOf({ drift, inputsHash, updateRevision }: Set): string {
  return drift === template ? updateRevision : inputsHash;
}

export function asksForNoPod(set: { readonly drift?: SetDrift } | undefined): boolean {
  return set?.drift === scale;
}

/** I16: no pod is ended where its StatefulSet would make the next one of what another client wrote. */
export function isOnAnotherTemplate(before: Place, after: Place | undefined): boolean {
  const ends = before.pod && !before.pod.leaving && (after?.pod === undefined || after.pod.leaving);
  return ends === true && before.statefulSet?.drift === template && after?.statefulSet !== undefined;
}
