import type { Reason } from './reasons.ts';

/**
 * How long a cluster may wait for the same thing before a person is told. `replacement`: for
 * `spec.healing.memberGracePeriod`, and an hour for the step that it announces.
 */
export type Grace = 'replacement' | '1h' | '6h' | '24h';

interface Patience {
  readonly grace: Grace;
  /** What a person does when that is over. */
  readonly cure: string;
}

const seeThePods = 'see why: the events and logs of the pods that the message names';
const hearEachOther =
  'let the members reach each other: look for a NetworkPolicy, a network plugin or a DNS server that keeps pods of this namespace from each other on port 2380 of their names; the logs of the pods name what they cannot reach';
const whatKeepsIt =
  'see what keeps it: a node that is off, a finalizer, or the garbage collector of Kubernetes; remove the finalizer, or start what is to remove it';
const seeThePod = 'see how far its pod is, and what its logs say';
const theHandshake = 'correct the certificate or the CA that the message names, on the side that it names';
const theJob = 'see how far the Job is, and what its logs say; to begin anew, delete that Job';

/**
 * Ailments of members that may pass, each with what a person does where it does not: it is that person's after
 * `spec.healing.memberGracePeriod` (`personsAilment`). What waits for one has waited too long after a day.
 */
export const ofMembers = {
  NoQuorum: hearEachOther,
  NoLeader: hearEachOther,
  EndpointSilent: 'let etcd-ratchet reach the pod on port 2379 of its name, and see what its logs say',
  NotStarted: seeThePods,
  MemberExited: seeThePods,
  MemberLeaving: seeThePods,
  MemberLagging: seeThePods,
  MemberStarting: seeThePods,
  OtherContainerFails: seeThePods,
  PodEnded: seeThePods,
  PodOutdated: seeThePods,
  PodMissing: seeThePods,
  PodInitializing: seeThePods,
  PodLeaving: whatKeepsIt,
  OldObjectsLeaving: whatKeepsIt,
  PodUnscheduled: 'make room: uncordon a node, or free what the scheduler lacks; the member keeps its data',
  PodSandboxFailed: 'correct the network plugin or the container runtime of that node',
  VolumeNotAttached: 'free the volume from the node that has it',
  VolumeNotMounted: 'create or repair what the message names as missing',
  VolumeNotProvisioned: 'correct the storage class, or its provisioner',
  WrongAuthority: theHandshake,
  NameMismatch: theHandshake,
  ClientCertificateRefused: theHandshake,
  PlaintextOnTlsPort: theHandshake,
  TlsOnPlaintextPort: theHandshake,
  HandshakeFailed: theHandshake,
  CertificateExpired: theHandshake,
  CertificateNotYetValid: theHandshake,
} as const satisfies Partial<Record<Reason, string>>;

/**
 * Every reason for which a decision can wait, and how long: one that is in neither table does not compile. After that
 * it is a refusal for the same reason (`outlasted`), so that no cluster waits for ever without saying so.
 */
export const lasting = {
  ...each(ofMembers, '24h'),
  WaitingForQuorum: { grace: '24h', cure: seeThePods },
  MembersStarting: { grace: '24h', cure: seeThePods },
  MemberDown: { grace: 'replacement', cure: 'bring the member back: its replacement does not begin' },
  MemberRemoved: { grace: 'replacement', cure: 'delete the pod of the member that a person or a tool removed' },
  // Given up after six times the grace of a member, and tried again.
  LearnerStarting: { grace: '24h', cure: seeThePod },
  LearnerCatchingUp: { grace: '24h', cure: seeThePod },
  MembersConnecting: { grace: '1h', cure: hearEachOther },
  RemovalUnsafe: { grace: '1h', cure: 'bring back the member that the message names' },
  AdoptionUnfinished: {
    grace: '1h',
    cure: 'bring back the members that do not answer, of this cluster or of the other',
  },
  AwaitingClusterVersion: {
    grace: '1h',
    cure: 'see what the leader logs: etcd raises its version when every member on its list runs the new one',
  },
  PreparingUpgrade: { grace: '1h', cure: 'see what the leader logs; to keep the present version, revert the commit' },
  TemplateUnread: {
    grace: '1h',
    cure: 'let the API server, and the admission webhooks that it asks, take dry runs of StatefulSets',
  },
  Corrupt: { grace: '1h', cure: 'let every member answer, so that their data can be compared; see their logs' },
  NoSpace: { grace: '1h', cure: 'see what the member that the message names logs; raise spec.etcd.quotaBackendBytes' },
  Defragmenting: { grace: '1h', cure: 'see what the member that the message names logs; delete its pod once' },
  AwaitingVolumeGrowth: {
    grace: '6h',
    cure: 'see what the storage driver reports; where it grows no mounted volume, delete the pod once',
  },
  AwaitingCertificates: {
    grace: '1h',
    cure: 'see to what issues it, or why the member does not load it: the message names both',
  },
  CertManagerUnreachable: { grace: '1h', cure: 'let the API server answer for the resources of cert-manager' },
  LoadingAuthorities: {
    grace: '1h',
    cure: 'see why the member does not load it: kubelet updates mounted Secrets within two minutes; delete its pod once',
  },
  OldVolumeLeaving: { grace: '1h', cure: whatKeepsIt },
  MembersStopping: { grace: '1h', cure: whatKeepsIt },
  VolumesLeaving: { grace: '1h', cure: whatKeepsIt },
  FencingMembers: { grace: '1h', cure: whatKeepsIt },
  RecoveryPodLeaving: { grace: '1h', cure: whatKeepsIt },
  ReadingLogs: { grace: '1h', cure: theJob },
  RecoveringData: { grace: '6h', cure: theJob },
  AwaitingRestore: { grace: '6h', cure: theJob },
  // It has a bound of its own, from the deadline of backups.
  BackingUp: { grace: '24h', cure: 'see what the EtcdBackup that the message names says' },
} as const satisfies Partial<Record<Reason, Patience>>;

/** What ends these waits is named: a person set it, or it says itself what it needs. */
export const named = {
  RotatingAuthorities: 'spec.tls.rotationOverlap',
  OutsideWindows: 'the window that opens next',
  Soaking: 'spec.update.soak',
  WaitingForRoom: 'the clusters that have the room',
  WaitingForStage: 'the clusters of the stages before',
  PlanOutgrown: 'the minute that a person has',
  AnotherInvocationActs: 'the deadline of the lease',
  NamespaceLeftOut: 'the namespace, whose objects take too much of the memory that all share',
  StepFailed: 'the request that failed, which the result of the pass tells',
} as const satisfies Partial<Record<Reason, string>>;

export type LastingReason = keyof typeof lasting;

export type WaitReason = LastingReason | keyof typeof named;

/** An action that fails again and again for a cause that may pass. */
export const ofAttempts: Grace = '1h';

/** `undefined`: it may last for as long as what it names. */
export function patienceWith(reason: WaitReason): (Patience & { readonly reason: LastingReason }) | undefined {
  return isLasting(reason) ? { reason, ...lasting[reason] } : undefined;
}

export function isLasting(reason: string): reason is LastingReason {
  return Object.hasOwn(lasting, reason);
}

function each<K extends string>(cures: Readonly<Record<K, string>>, grace: Grace): Readonly<Record<K, Patience>> {
  return Object.fromEntries(Object.entries<string>(cures).map(([word, cure]) => [word, { grace, cure }])) as Readonly<
    Record<K, Patience>
  >;
}
