import type { CertificatesHost, Fresh, Host, PodSeen, Stored } from '../act/requests/host.ts';
import { finalizers } from '../know/marks.ts';
import type {
  AuthorityView,
  ConfigMapView,
  IssuedView,
  LeafView,
  Observation,
  PodView,
  ReadCertificates,
  Shared,
  Slot,
} from '../know/observation.ts';
import { create, onSlot, replaced, slotOf, without } from './effect.ts';
import { observedAuth } from './host-auth.ts';
import { observedEtcd } from './host-etcd.ts';
import { observedRecovery } from './host-recovery.ts';
import { observedSpace } from './host-space.ts';
import { asWritten, madeFrom, rememberingItsTemplate, withTemplate } from './knowledge.ts';
import { withLeavesOf } from './leaves.ts';
import { configuring, mounting } from './retries.ts';
import { seeTemplates } from './settle/pods.ts';

/** Where certificates were not looked at, there are none, and none come to be. */
const certificatesHost: CertificatesHost<Observation> = {
  now: ({ at }) => at,
  authority: ({ certificates }, authority) =>
    certificates.kind === 'read' ? certificates.authorities[authority] : undefined,
  putAuthority: (state, authority, view: AuthorityView) =>
    onRead(state, (read) =>
      read.authorities[authority] ? { ...read, authorities: { ...read.authorities, [authority]: view } } : read,
    ),
  leaves: ({ certificates }) => (certificates.kind === 'read' ? certificates.leaves : []),
  putLeaf: (state, leaf: LeafView) => {
    const { secretName, peer } = leaf.plan;
    const lacked =
      certificatesHost.leaves(state).find(({ plan }) => plan.secretName === secretName)?.facts === undefined;
    const written = onLeaf(state, secretName, (before) => asWritten(leaf, before));
    return peer !== undefined && lacked ? onSlot(peer, mounting)(written) : written;
  },
  putIssued: (state, secretName, issued: IssuedView) => onLeaf(state, secretName, (leaf) => ({ ...leaf, issued })),
};

function onLeaf(state: Observation, secretName: string, change: (leaf: LeafView) => LeafView): Observation {
  return onRead(state, (read) => ({
    ...read,
    leaves: read.leaves.map((leaf) => (leaf.plan.secretName === secretName ? change(leaf) : leaf)),
  }));
}

function onRead(state: Observation, change: (read: ReadCertificates) => ReadCertificates): Observation {
  const { certificates } = state;
  return certificates.kind === 'read' ? { ...state, certificates: change(certificates) } : state;
}

/** A plan's state: what would be observed. No other client interferes, so whatever was read is as it was. */
export const observationHost: Host<Observation> = {
  names: ({ slots }) => slots.map(({ name }) => name),
  get: (state, name, kind) => slotOf(state, name)?.[kind] as Stored[typeof kind] | undefined,
  pod: (state, name) => {
    const slot = slotOf(state, name);
    return slot?.pod && podSeen(slot, slot.pod);
  },
  isCurrent: () => true,
  make: (state, name, kind, build) => {
    const made = create(name, kind, (fresh: Fresh) => stored(kind, build(fresh)) as Slot[typeof kind])(state);
    return withLeavesOf(kind === 'configMap' && made !== state ? onSlot(name, configuring)(made) : made);
  },
  // The live half of a request that writes a template awaits its controller.
  put: (state, name, kind, object) => {
    const written = onSlot(name, (slot) => putIn(slot, kind, object))(state);
    return kind === 'statefulSet' ? seeTemplates(written) : written;
  },
  remove: (state, name, kind) => {
    const slot = slotOf(state, name);
    if (!slot) return state;
    switch (kind) {
      case 'peer':
        return withoutPeer(state, slot);
      case 'volume':
        return slot.volume ? replaced(state, { ...slot, volume: { ...slot.volume, leaving: true } }) : state;
      case 'pod':
        return slot.pod ? replaced(state, { ...slot, pod: { ...slot.pod, leaving: true } }) : state;
      case 'configMap':
      case 'statefulSet':
        return without(state, name, kind);
    }
  },
  shared: ({ shared }, kind) => shared[kind],
  putShared: (state, kind, object) => {
    const { shared, slots } = state;
    // The one that members mount.
    const lacked = kind === 'revocations' && shared.revocations.state === 'missing';
    const written = { ...state, shared: { ...shared, [kind]: object } as Shared };
    return lacked ? { ...written, slots: slots.map(mounting) } : written;
  },
  labelled: (state, { of, name, uid }) =>
    onSlot(name, (slot) => {
      const key = of === 'volume' && !slot.volume ? 'late' : of;
      const view = slot[key];
      if (view?.uid !== uid || view.leaving) return slot;
      const { unlabelled: _, ...rest } = view;
      return { ...slot, [key]: rest };
    })(state),
  finalizer: (state, finalizer, present) => {
    const { metadata } = state.cluster;
    const others = (metadata.finalizers ?? []).filter((one) => one !== finalizers[finalizer]);
    const left = present ? [...others, finalizers[finalizer]] : others;
    return { ...state, cluster: { ...state.cluster, metadata: { ...metadata, finalizers: left } } };
  },
  looked: ({ cluster, slots }) => ({
    cluster,
    slots: slots.map((slot) => ({ ...slot, endpoint: { kind: 'unknown', cause: 'not asked' } })),
  }),
  etcd: observedEtcd,
  certificates: certificatesHost,
  space: observedSpace,
  auth: observedAuth,
  recovery: observedRecovery,
  awaitedBackup: ({ awaitedBackup }, name) => {
    if (awaitedBackup?.kind !== 'known' || awaitedBackup.name !== name) return 'missing';
    return awaitedBackup.state === 'foreign' ? 'foreign' : 'ours';
  },
  makeBackup: (state, name, { before }) => ({
    ...state,
    awaitedBackup: { kind: 'known', before, name, state: 'under-way', message: 'not looked at yet', askedAt: state.at },
  }),
};

/** It goes at once; what it owned has no owner any more, and is collected. */
function withoutPeer(observation: Observation, { name, configMap, statefulSet }: Slot): Observation {
  const orphaned = onSlot(name, (slot) => ({
    ...slot,
    ...(configMap?.byPeer && { configMap: orphan(configMap) }),
    ...(statefulSet && { statefulSet: { ...statefulSet, current: false } }),
  }))(observation);
  return withLeavesOf(without(orphaned, name, 'peer'));
}

function orphan({ byPeer: _, ...rest }: ConfigMapView): ConfigMapView {
  return { ...rest, current: false };
}

/** Its controller has yet to see a new template; the pod goes on, and what it was made from is not forgotten. */
function putIn<K extends keyof Stored>(slot: Slot, kind: K, object: Stored[K]): Slot {
  const { pod, statefulSet } = slot;
  if (kind !== 'statefulSet') return { ...slot, [kind]: object };
  const written = stored(kind, object);
  const isSame = !statefulSet?.drift && statefulSet?.inputsHash === (written as Stored['statefulSet']).inputsHash;
  return {
    ...slot,
    statefulSet: written as Stored['statefulSet'],
    ...(pod && !isSame && { pod: { ...rememberingItsTemplate(pod, madeFrom(slot)), upToDate: 'unknown' as const } }),
  };
}

function stored<K extends keyof Stored>(kind: K, object: Stored[K]): Stored[K] {
  const { inputs } = object as Stored['statefulSet'];
  return kind === 'statefulSet' && inputs
    ? (withTemplate(object as Stored['statefulSet'], inputs) as Stored[K])
    : object;
}

function podSeen(slot: Slot, pod: PodView): PodSeen {
  const { uid, leaving, ready, version, upToDate, container } = pod;
  const { updateRevision = '', inputsHash = '' } = slot.statefulSet ?? {};
  const made = madeFrom(slot);
  const isUpToDate = upToDate === 'yes' || (upToDate === 'unknown' && made !== undefined && made === inputsHash);
  return {
    uid,
    leaving,
    ready,
    revision: isUpToDate ? updateRevision : `not ${updateRevision}`,
    ...(version !== undefined && { version }),
    everStarted: container.everStarted,
  };
}
