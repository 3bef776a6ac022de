import type { FakeKube } from '../fakes/kube.ts';
import type { Data } from './members.ts';
import type { Process, State } from './state.ts';

const knownVersions = ['3.5.35', '3.6.16', '3.6.17', '3.7.3'];

interface Place {
  readonly kube: FakeKube;
  readonly clock: () => number;
}

/** Nothing runs yet. */
export function newState({ kube, clock }: Place): State {
  return {
    kube,
    disks: new Map(),
    attempts: new Map(),
    wrote: new Map(),
    processes: new Map(),
    formations: new Map(),
    classes: new Map([
      ['', { binding: 'WaitForFirstConsumer', grows: true }],
      ['rigid', { binding: 'WaitForFirstConsumer', grows: false }],
      ['immediate', { binding: 'Immediate', grows: true }],
    ]),
    images: { has: (image) => knownVersions.some((version) => image === `quay.io/coreos/etcd:v${version}`) },
    deadly: { is: () => false },
    room: { for: () => true, home: () => 'node-1' },
    heldUp: { by: () => undefined },
    trials: { end: () => 'serves' },
    tried: new Set(),
    violations: [],
    clock,
    skew: 4 * 60_000,
    verified: new Map(),
    read: new Map(),
    connections: new Set(),
    starts: new Map(),
    clients: new Map(),
    saw: new Map(),
    deadNodes: new Set(),
    neglected: new Set(),
    changedByOthers: new Map(),
    watchful: false,
    addresses: 0,
    changes: 0,
  };
}

/**
 * The same, apart from the original: no field that changes is shared. What was found out about certificates is, since
 * it is true in both.
 */
export function copyOf(state: State, { kube, clock }: Place): State {
  const dataOf = copier<Data>();
  return {
    kube,
    disks: mapped(state.disks, dataOf),
    attempts: mapped(state.attempts, (some) => new Set(some)),
    wrote: mapped(state.wrote, (some) => new Set(some)),
    processes: mapped(state.processes, (process) => processOf(process, dataOf)),
    formations: mapped(state.formations, (formation) => structuredClone(formation)),
    classes: new Map(state.classes),
    images: { ...state.images },
    deadly: { ...state.deadly },
    room: { ...state.room },
    heldUp: { ...state.heldUp },
    trials: { ...state.trials },
    tried: new Set(state.tried),
    violations: [...state.violations],
    clock,
    skew: state.skew,
    verified: state.verified,
    read: state.read,
    connections: new Set(state.connections),
    starts: new Map(state.starts),
    clients: new Map(state.clients),
    saw: new Map(state.saw),
    deadNodes: new Set(state.deadNodes),
    neglected: new Set(state.neglected),
    changedByOthers: new Map(state.changedByOthers),
    watchful: state.watchful,
    addresses: state.addresses,
    changes: state.changes,
  };
}

/** A process and the disk that it has open hold one object: so they do in the copy. */
function copier<T extends object>(): (original: T) => T {
  const copies = new Map<T, T>();
  return (original) => {
    const copy = copies.get(original) ?? { ...original };
    copies.set(original, copy);
    return copy;
  };
}

function processOf({ data, tls, ...process }: Process, dataOf: (data: Data) => Data): Process {
  const copy = { ...process, data: dataOf(data) };
  if (!tls) return copy;
  const { peer, server, revocations, allowed } = tls;
  const own = { peer: { ...peer }, server: { ...server }, allowed };
  return { ...copy, tls: { ...own, ...(revocations && { revocations: { ...revocations } }) } };
}

function mapped<K, V>(map: ReadonlyMap<K, V>, copy: (value: V) => V): Map<K, V> {
  return new Map([...map].map(([key, value]) => [key, copy(value)]));
}
