import { abortAfter } from '../../../manifests/abort-after.ts';
import type { Egress } from '../../../manifests/egress/egress.ts';
import type { NameAllowance } from '../../../manifests/render/certificate-allowance.ts';
import type { EtcdTls } from '../../interfaces/etcd.ts';
import type { EtcdAdmin } from '../../interfaces/etcd-admin.ts';
import { type Kube, KubeError } from '../../interfaces/kube.ts';
import { curedBy } from '../../reasons/cure.ts';
import type { EtcdWay } from '../etcd-way.ts';
import type { Holder } from '../know/holder.ts';
import type { Certificates, Observation } from '../know/observation.ts';
import { needsPerson } from '../know/outcome.ts';
import { askAuth } from './ask-auth.ts';
import { askEtcd, askExisting, type EtcdAnswers, endpointOf, etcdBudget, isReachable } from './ask-etcd.ts';
import { callsForExisting, type ExistingEndpoint, existingEndpoints, namingThem } from './ask-existing.ts';
import { askHashes } from './ask-hashes.ts';
import { askMetrics } from './ask-metrics.ts';
import { askSpace } from './ask-space.ts';
import { namesMissing, withNamed, withUnlabelled } from './by-name.ts';
import type { EtcdAccess } from './certificates/credentials.ts';
import { type AskWire, type CertificateReading, readCertificates } from './certificates/read.ts';
import { judgeSets, withJudged } from './judge-sets.ts';
import { readLease } from './lease.ts';
import { readAwaitedBackup } from './read-awaited-backup.ts';
import { withDiskLogs } from './read-disk-logs.ts';
import { readPlaces, withDisks } from './read-disks.ts';
import { readHibernationBackup, readNamedBackup } from './read-named-backup.ts';
import { readNewestBackup } from './read-newest-backup.ts';
import { readRecovery } from './read-recovery.ts';
import { readSnapshotClaims, readSnapshotOffers } from './read-snapshot-claims.ts';
import { readWarnings, withWarnings } from './read-warnings.ts';
import { sharedOf } from './shared.ts';
import { slotsOf } from './slots.ts';
import type { ClusterObjects } from './snapshot.ts';

export interface ObserveContext {
  readonly kube: Kube;
  readonly etcd: (tls?: EtcdTls) => Promise<EtcdAdmin>;
  readonly wire: AskWire;
  readonly holder: Holder;
  readonly nonce: () => string;
  /** Looks at every certificate, whether or not there is an occasion to: a plan goes beyond what is seen today. */
  readonly thorough?: boolean;
  /** Dry runs are allowed, so that StatefulSets are compared with what we write. A plan writes nothing, not even so. */
  readonly mayTry?: boolean;
  /** What issuers may be asked for besides a cluster's own names. Absent: nothing. */
  readonly nameAllowances?: readonly NameAllowance[];
  readonly egress?: Egress;
}

/** Without it etcd can't be asked at all. */
const credentialsCure =
  'put the Secret back (from a backup, or from where spec.tls says that it comes), or grant the service account of etcd-ratchet "get" on it; with spec.tls.mode Managed a Secret that is deleted is made anew';

export interface Observed {
  readonly observation: Observation;
  readonly etcd: EtcdWay;
  /** What was listed, and what was read by name besides. */
  readonly objects: ClusterObjects;
}

/** Reads what one step may look at, and joins it. @throws {KubeError} */
export async function observe(context: ObserveContext, listed: ClusterObjects, signal: AbortSignal): Promise<Observed> {
  const { kube } = context;
  const objects = await withUnlabelled(kube, listed, signal);
  const observed = await observeThese(context, objects, signal);
  // Members of which no list has anything at all: only etcd, or the volumes of the others, tell their names.
  const whole = await withNamed(kube, objects, namesMissing(observed.observation), signal);
  return whole === objects ? observed : observeThese(context, whole, signal);
}

async function observeThese(context: ObserveContext, objects: ClusterObjects, signal: AbortSignal): Promise<Observed> {
  const { kube, holder, nonce, thorough = false, mayTry = false, nameAllowances, egress } = context;
  const at = kube.now() ?? new Date();
  const { cluster } = objects;
  const [
    lease,
    { etcd, ...answers },
    recovery,
    places,
    warnings,
    { awaitedBackup, hibernationBackup },
    namedBackups,
    judged,
  ] = await Promise.all([
    readLease(kube, cluster, { now: at, holder, signal }),
    askMembers(context, objects, at, signal),
    readRecovery(kube, objects, slotsOf(objects), { at, signal }),
    readPlaces(kube, slotsOf(objects), { at, cluster }, signal),
    readWarnings(kube, slotsOf(objects), { at, cluster }, signal),
    readBackups(kube, { cluster, slots: slotsOf(objects), at }, { thorough, signal }),
    readNamedBackup(kube, { cluster, slots: slotsOf(objects) }, signal),
    mayTry ? judgeSets(kube, objects, signal) : new Map(),
  ]);
  const [newestBackup, snapshotClaims, snapshotOffers] = await Promise.all([
    readNewestBackup(kube, { cluster, ...answers }, signal),
    readSnapshotClaims(kube, { cluster, slots: answers.slots, namedBackups }, signal),
    readSnapshotOffers(kube, { cluster, slots: answers.slots, namedBackups }, signal),
  ]);
  const shared = sharedOf(objects);
  const slots = withJudged(withWarnings(withDisks(answers.slots, places?.disks), warnings), judged);
  const observation: Observation = {
    at,
    nonce: nonce(),
    cluster,
    shared,
    ...answers,
    slots,
    lease,
    ...(places?.nodes && { nodes: places.nodes }),
    ...(recovery && { recovery }),
    ...(awaitedBackup && { awaitedBackup }),
    ...(hibernationBackup && { hibernationBackup }),
    ...(namedBackups.length > 0 && { namedBackups }),
    ...(snapshotClaims.length > 0 && { snapshotClaims }),
    ...(snapshotOffers.length > 0 && { snapshotOffers }),
    ...(newestBackup && { newestBackup }),
    ...(nameAllowances && { nameAllowances }),
    ...(egress && { egress }),
  };
  return { observation: await withDiskLogs(kube, observation, objects, signal), etcd, objects };
}

/** Which one is awaited depends on what the cluster was put to sleep on. */
async function readBackups(
  kube: Kube,
  seen: Pick<Observation, 'cluster' | 'slots' | 'at'>,
  { thorough, signal }: { readonly thorough: boolean; readonly signal: AbortSignal },
): Promise<Pick<Observation, 'awaitedBackup' | 'hibernationBackup'>> {
  const hibernationBackup = await readHibernationBackup(kube, seen, { thorough, signal });
  const asleep = hibernationBackup && { hibernationBackup };
  const awaitedBackup = await readAwaitedBackup(kube, { ...seen, ...asleep }, signal);
  return { ...asleep, ...(awaitedBackup && { awaitedBackup }) };
}

/** The certificates first: etcd is asked with one of them. */
async function askMembers(
  { kube, etcd, wire, thorough = false, nameAllowances }: ObserveContext,
  objects: ClusterObjects,
  at: Date,
  signal: AbortSignal,
): Promise<
  EtcdAnswers & Pick<Observation, 'certificates' | 'hasHistory' | 'hashes' | 'auth'> & Pick<Observed, 'etcd'>
> {
  const { cluster, requested } = objects;
  const slots = slotsOf(objects);
  const question = { kube, wire, cluster, slots, requested, at, signal, ...(nameAllowances && { nameAllowances }) };
  const { certificates, access, whole } = await readCertificates(question).catch(unreadable);
  const ours = wayTo(new Map(slots.filter(isReachable).map((slot) => [slot.name, endpointOf(slot)])), access, etcd);
  const first: EtcdAnswers =
    access.kind === 'none'
      ? { membership: { kind: 'unknown', cause: access.cause } as const, slots }
      : await askEtcd(ours.connect, { cluster, slots }, signal);
  const existing = access.kind === 'none' ? undefined : callsForExisting(cluster, first);
  const endpoints = existing ? await existingEndpoints(kube, cluster, existing, signal) : [];
  const { connect } = wayBeside(ours, endpoints, access, etcd);
  const { answers, theirs } = existing
    ? await askExisting(connect, first, { existing, endpoints }, signal)
    : { answers: first, theirs: [] };
  const way = theirs.length === 0 ? ours : wayBeside(ours, theirs, access, etcd);
  const told = access.kind === 'none' ? {} : await askMetrics(ours, { ...answers, at }, signal);
  const space = await askSpace(way, answers, abortAfter(etcdBudget, signal));
  const users = access.kind === 'none' ? {} : await askAuth(way, { ...answers, cluster }, { thorough, signal });
  // Not within the budget of the others: whole databases are read for it.
  const data = await askHashes(way, answers, signal);
  const doubtful = certificates.kind === 'unread' && (thorough || isShutOut(answers));
  return {
    certificates: doubtful ? await whole().catch(unseen) : certificates,
    ...answers,
    ...told,
    ...space,
    ...users,
    ...data,
    etcd: way,
  };
}

export function wayTo(endpoints: EtcdWay['endpoints'], access: EtcdAccess, etcd: ObserveContext['etcd']): EtcdWay {
  return {
    endpoints,
    connect: async () => {
      if (access.kind === 'none') throw needsPerson('NoEtcdCredentials', curedBy(access.cause, credentialsCure));
      return etcd(access.kind === 'tls' ? access.tls : undefined);
    },
  };
}

/** With members of a cluster that is taken over: changes of the list go to whichever of all leads. */
function wayBeside(
  { endpoints }: EtcdWay,
  existing: readonly ExistingEndpoint[],
  access: EtcdAccess,
  etcd: ObserveContext['etcd'],
): EtcdWay {
  // No member of ours has such a name.
  const others = existing.map(({ url }) => [`existing ${url}`, url] as const);
  const named = access.kind === 'tls' ? { ...access, tls: namingThem(access.tls, existing) } : access;
  return wayTo(new Map([...endpoints, ...others]), named, etcd);
}

/** They may reject our certificate, or we theirs. */
function isShutOut({ membership, slots }: EtcdAnswers): boolean {
  return (
    membership.kind === 'unknown' ||
    slots.some(({ endpoint }) => endpoint.kind === 'unknown' && endpoint.tls !== undefined)
  );
}

/** Forbidden, as a rule, by a role that is older than this release: what needs no certificate goes on all the same. */
function unreadable(error: unknown): CertificateReading {
  const certificates = unseen(error);
  const { cause } = certificates;
  return { certificates, access: { kind: 'none', cause }, whole: async () => certificates };
}

function unseen(error: unknown): Extract<Certificates, { kind: 'unknown' }> {
  if (!(error instanceof KubeError) || error.class !== 'terminal') throw error;
  return { kind: 'unknown', cause: error.message };
}
