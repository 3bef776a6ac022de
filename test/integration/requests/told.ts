import type { ReadAt } from '../../../reconcile/cluster/act/requests/read-at.ts';
import { recordOf } from '../../../reconcile/cluster/know/life.ts';
import type { Observation, Slot } from '../../../reconcile/cluster/know/observation.ts';
import { toldCertificates } from './told-certificates.ts';

/** Of an observation, all that a request can write. What comes of it later, times and versions are not among it. */
export function told(observation: Observation, known: ReadonlySet<string>) {
  const { cluster, slots, shared, membership } = observation;
  return {
    finalizers: cluster.metadata.finalizers ?? [],
    shared,
    slots: Object.fromEntries(slots.map((slot) => [slot.name, ofSlot(slot)])),
    members:
      membership.kind === 'known'
        ? Object.fromEntries(membership.members.map(({ peerURLs, isLearner }) => [peerURLs.join(), { isLearner }]))
        : 'unknown',
    leader: [...new Set(slots.flatMap(({ endpoint }) => (endpoint.kind === 'known' ? [endpoint.status.leader] : [])))],
    certificates: toldCertificates(observation.certificates, known),
    alarms: [...new Set(slots.flatMap(({ endpoint }) => (endpoint.kind === 'known' ? endpoint.status.errors : [])))],
    hasHistory: observation.hasHistory,
    auth: observation.auth,
    ...ofRecovery(observation),
  };
}

/** Nodes are not written by requests. */
function ofRecovery({ recovery }: Observation) {
  return recovery?.kind === 'known' ? { job: recovery.job, recoveryPods: recovery.pods } : {};
}

export type Told = ReturnType<typeof told>;

function ofSlot(slot: Slot) {
  const { peer, volume, configMap, statefulSet, pod } = slot;
  const { growing: _, disk: __, ...claim } = volume ?? {};
  return {
    peer,
    volume: volume && claim,
    record: recordOf(slot) ?? 'none',
    configMap,
    // The revision is its controller's.
    statefulSet: statefulSet && {
      uid: statefulSet.uid,
      leaving: statefulSet.leaving,
      current: statefulSet.current,
      foreign: statefulSet.foreign,
      unlabelled: statefulSet.unlabelled,
      inputsHash: statefulSet.inputsHash,
    },
    pod: pod && !pod.leaving ? { uid: pod.uid } : 'gone or leaving',
  };
}

const uid =
  /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$|-made-\d+$|^job-[0-9a-f]{32}$|^(recovery|restore)-[0-9a-z]+-\d+$/;

/** Comparable: objects that were there before keep their UIDs, others are `new`; what is absent is not `undefined`. */
export function comparable(value: unknown, known: ReadonlySet<string>): unknown {
  if (typeof value === 'string') return uid.test(value) && !known.has(value) ? 'new' : value;
  if (Array.isArray(value)) return value.map((item) => comparable(item, known));
  if (value instanceof Date || typeof value !== 'object' || value === null) return value;
  if (isReadAt(value)) return 'as it was read';
  const fields = Object.entries(value).filter(([, one]) => one !== undefined);
  return Object.fromEntries(fields.map(([key, one]) => [key, comparable(one, known)]));
}

function isReadAt(value: object): value is ReadAt {
  return 'object' in value && 'name' in value && 'at' in value;
}

/** All texts in there: UIDs, fingerprints, names. */
export function textsIn(value: unknown): ReadonlySet<string> {
  const found = new Set<string>();
  const walk = (one: unknown): void => {
    if (typeof one === 'string') found.add(one);
    if (typeof one === 'object' && one !== null) for (const inner of Object.values(one)) walk(inner);
  };
  walk(value);
  return found;
}

/** Without what is at these paths, like `left.slots.orders-0.pod`; `*` is any name, or any item. */
export function lacking(value: unknown, paths: readonly string[]): unknown {
  return paths.reduce((left, path) => cut(left, path.split('.')), value);
}

function cut(value: unknown, [first, ...rest]: readonly string[]): unknown {
  if (Array.isArray(value)) return first === '*' ? value.map((item) => cut(item, rest)) : value;
  if (typeof value !== 'object' || value === null) return value;
  const entries = Object.entries(value).flatMap(([key, inner]) => {
    if (first !== key && first !== '*') return [[key, inner] as const];
    return rest.length === 0 ? [] : [[key, cut(inner, rest)] as const];
  });
  return Object.fromEntries(entries);
}
