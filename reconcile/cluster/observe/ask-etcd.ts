import { abortAfter } from '../../../manifests/abort-after.ts';
import type { EtcdCluster } from '../../../manifests/api/etcd-cluster.ts';
import type { ExistingCluster } from '../../../manifests/api/existing-cluster.ts';
import { isVersion, parseVersion, type Version } from '../../../manifests/api/version.ts';
import { urlOf } from '../../../manifests/render/hosts.ts';
import { ports, schemeOf } from '../../../manifests/render/names.ts';
import { type Etcd, EtcdError } from '../../interfaces/etcd.ts';
import { hasDeparted, recordOf } from '../know/life.ts';
import type { Endpoint, InheritedView, Membership, Slot } from '../know/observation.ts';
import { type ExistingEndpoint, inheritedAmong, listBeside, needsOthers } from './ask-existing.ts';

/** How long etcd may take to answer what is asked at once, in milliseconds, from when it is asked. */
export const etcdBudget = 4_000;

/**
 * For what needs no quorum, when there is none: of its own, because the wait for one may have taken all of the other.
 * With many members of which most are on dead nodes it does, and a recovery goes on from that list. Where no member has
 * answered anything in the whole of the other, none is asked: places of a pass are not to be held for longer.
 */
const lastBudget = 2_000;

export interface EtcdAnswers {
  readonly membership: Membership;
  readonly inherited?: readonly InheritedView[];
  readonly clusterVersion?: string;
  readonly slots: readonly Slot[];
}

/**
 * What etcd itself reports: the member list, linearizable, so that a quorum confirms it; and each endpoint's status,
 * asked of that very endpoint. All at once: a member that hangs costs the others nothing.
 *
 * Behind a barrier where our own membership change is unfinished: a change that timed out may be applied later. The
 * list is read again just before any action on it.
 */
export async function askEtcd(
  connect: () => Promise<Etcd>,
  { cluster, slots }: { readonly cluster: EtcdCluster; readonly slots: readonly Slot[] },
  signal: AbortSignal,
): Promise<EtcdAnswers> {
  const reachable = slots.filter(isReachable);
  if (reachable.length === 0) {
    return { membership: { kind: 'unknown', cause: 'no member runs' }, slots };
  }
  const etcd = await connect();
  const inTime = abortAfter(etcdBudget, signal);
  const endpoints = reachable.map(endpointOf);
  const statuses = new Map(reachable.map((slot) => [slot, statusAt(etcd, endpointOf(slot), inTime)]));
  const heard = isHeard([...statuses.values()], inTime);
  try {
    const [membership, clusterVersion, asked] = await Promise.all([
      askMembers(etcd, endpoints, { signal, inTime, barrier: slots.some(isChanging), heard }),
      settledVersion(cluster, slots) ?? askVersion(etcd, endpoints, inTime),
      Promise.all(
        slots.map(async (slot) => {
          const endpoint = await statuses.get(slot);
          return endpoint ? { ...slot, endpoint } : slot;
        }),
      ),
    ]);
    return { membership, ...(clusterVersion !== undefined && { clusterVersion }), slots: asked };
  } finally {
    etcd.close();
  }
}

/**
 * Whether a member, now or soon, may listen there. A member that a recovery left behind may have been started again by
 * hand: what it reports of its cluster is outdated.
 */
export function isReachable(slot: Slot): boolean {
  const { pod } = slot;
  return pod?.address !== undefined && pod.container.state === 'running' && !hasDeparted(slot);
}

function isChanging(slot: Slot): boolean {
  const state = recordOf(slot)?.state;
  return state === 'joining' || state === 'releasing';
}

/**
 * Members of a cluster that is taken over: each for its status, and, where none of ours tells the list, for that too.
 *
 * @returns also which of the endpoints are of no other cluster: a pod without a volume may have begun one, and what it
 *   lists or refuses is not asked for.
 */
export async function askExisting(
  connect: () => Promise<Etcd>,
  answers: EtcdAnswers,
  { existing, endpoints }: { readonly existing: ExistingCluster; readonly endpoints: readonly ExistingEndpoint[] },
  signal: AbortSignal,
): Promise<{ readonly answers: EtcdAnswers; readonly theirs: readonly ExistingEndpoint[] }> {
  const { slots } = answers;
  if (endpoints.length === 0) return { answers: withInherited(answers, existing, []), theirs: [] };
  const etcd = await connect();
  const inTime = abortAfter(etcdBudget, signal);
  try {
    const asked = endpoints.map(({ url }) => statusAt(etcd, url, inTime));
    const heard = isHeard(asked, inTime);
    const statuses = await Promise.all(asked);
    const theirs = endpoints.filter((_, index) => !isOfAnother(statuses[index], existing));
    // Of pods that are all of another cluster the list says which.
    const urls = (theirs.length > 0 ? theirs : endpoints).map(({ url }) => url);
    const [told, clusterVersion] = await Promise.all([
      needsOthers(answers)
        ? askMembers(etcd, urls, { signal, inTime, barrier: slots.some(isChanging), heard })
        : undefined,
      answers.clusterVersion ?? askVersion(etcd, urls, inTime),
    ]);
    const membership = listBeside(answers, existing, told);
    const all = { ...answers, membership, ...(clusterVersion !== undefined && { clusterVersion }) };
    const seen = endpoints.flatMap(({ pod }, index) => {
      const endpoint = statuses[index];
      return endpoint ? [{ endpoint, pod }] : [];
    });
    return { answers: withInherited(all, existing, seen), theirs };
  } finally {
    etcd.close();
  }
}

function isOfAnother(endpoint: Endpoint | undefined, { clusterID }: ExistingCluster): boolean {
  return endpoint?.kind === 'known' && endpoint.status.clusterId !== clusterID;
}

function withInherited(
  answers: EtcdAnswers,
  existing: ExistingCluster,
  seen: readonly Pick<InheritedView, 'endpoint' | 'pod'>[],
): EtcdAnswers {
  const inherited = inheritedAmong(answers.membership, existing, answers.slots, seen);
  return inherited.length === 0 ? answers : { ...answers, inherited };
}

interface Asking {
  readonly signal: AbortSignal;
  readonly inTime: AbortSignal;
  readonly barrier: boolean;
  /** Whether a member answers anything in time. */
  readonly heard: Promise<boolean>;
}

async function askMembers(
  etcd: Etcd,
  endpoints: readonly string[],
  { signal, inTime, barrier, heard }: Asking,
): Promise<Membership> {
  try {
    const { clusterId, members } = await etcd.members(endpoints, { signal: inTime, barrier });
    return { kind: 'known', clusterId, members };
  } catch (error) {
    const last = (await heard)
      ? await etcd.lastMembers(endpoints, { signal: abortAfter(lastBudget, signal) }).catch(() => undefined)
      : undefined;
    const wantsUser = error instanceof EtcdError && error.reason === 'UserNeeded';
    return {
      kind: 'unknown',
      cause: causeOf(error),
      ...(last && { last: last.members }),
      ...(wantsUser && { wantsUser: true as const }),
    };
  }
}

/** Whether one of them told its status or refused to, before the time was over. */
async function isHeard(statuses: readonly Promise<Endpoint>[], inTime: AbortSignal): Promise<boolean> {
  const answers = statuses.map(async (status) => {
    const { kind } = await status;
    if (kind === 'unknown' && inTime.aborted) throw new Error('it is silent');
  });
  return Promise.any(answers).then(
    () => true,
    () => false,
  );
}

async function statusAt(etcd: Etcd, url: string, signal: AbortSignal): Promise<Endpoint> {
  try {
    return { kind: 'known', status: await etcd.status(url, { signal }) };
  } catch (error) {
    const tls = error instanceof EtcdError ? error.tls : undefined;
    return { kind: 'unknown', cause: causeOf(error), ...(tls !== undefined && { tls }) };
  }
}

/**
 * What it was when all members had got there already, on a minor that none of them has left: a cluster version never
 * goes back on its own. It is told over a connection of its own (`/version` is no gRPC call), which a tick that finds
 * nothing to do can save.
 */
function settledVersion({ spec, status }: EtcdCluster, slots: readonly Slot[]): string | undefined {
  const settled = status?.clusterVersion;
  if (!isVersion(spec.version)) return undefined;
  const { major, minor } = parseVersion(spec.version);
  const same = slots.every(({ peer }) => !peer || isMinor(peer.inputs.version, { major, minor }));
  return settled === `${major}.${minor}.0` && same ? settled : undefined;
}

function isMinor(version: string, { major, minor }: Pick<Version, 'major' | 'minor'>): boolean {
  const found = parseVersion(version);
  return found.major === major && found.minor === minor;
}

/**
 * The cluster version, from the first member that reports it: it is the cluster's, so one answer is enough. A member
 * that answers Status but not `/version` is not down for it.
 */
async function askVersion(etcd: Etcd, urls: readonly string[], signal: AbortSignal): Promise<string | undefined> {
  for (const url of urls) {
    try {
      const { cluster } = await etcd.version(url, { signal });
      return isVersion(cluster) ? cluster : undefined;
    } catch (error) {
      if (!(error instanceof EtcdError)) throw error;
    }
  }
  return undefined;
}

/** By pod address: DNS may still hold, or not yet have, the name of a pod that was just replaced. */
export function endpointOf({ pod, peer }: Slot): string {
  return urlOf(schemeOf(peer?.inputs.tls.mode ?? 'Disabled'), pod?.address ?? '', ports.client);
}

function causeOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
