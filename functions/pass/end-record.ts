import { isSameRepository } from '../../gitops/forges/repository.ts';
import { sendChanged } from '../../gitops/statuses/report.ts';
import type { EtcdFleet } from '../../manifests/api/etcd-fleet.ts';
import type { ConfigMap } from '../../manifests/kube-types.ts';
import type { ForgeFailure } from '../../reconcile/fleet/forge-limit.ts';
import { statusContext } from '../../reconcile/fleet/names.ts';
import { type PendingRecord, recordKeys } from '../../reconcile/fleet/pending-record.ts';
import { nextRetry, type Retry, readRecord, readRetry } from '../../reconcile/fleet/pending-retry.ts';
import { type Kube, KubeError, resources } from '../../reconcile/interfaces/kube.ts';
import type { Log } from '../log.ts';
import { openFleetForge } from './fleet-forge.ts';
import { remove } from './pending-records.ts';

interface EndContext {
  readonly kube: Kube;
  readonly log: Log;
  readonly fleets: readonly EtcdFleet[];
  readonly signal: AbortSignal;
  readonly forgeDeadline: number;
  /** The API server's time. */
  readonly now: Date;
}

/** Those that are to be tried now; the ones that wait longest come first. */
export function dueFirst(records: readonly ConfigMap[], now: Date): readonly ConfigMap[] {
  return records
    .map((record) => ({ record, next: readRetry(record)?.next ?? '' }))
    .filter(({ next }) => next === '' || Date.parse(next) <= now.getTime())
    .sort((a, b) => (a.next < b.next ? -1 : 1))
    .map(({ record }) => record);
}

/** Tells the forge what a deleted fleet can't. Never throws for what the API server or the forge says. */
export async function endRecord(found: ConfigMap, context: EndContext): Promise<void> {
  const { kube, log, signal } = context;
  const record = readRecord(found);
  if (!record) {
    log({ record: found.metadata.name }, 'a record of pending statuses is not understood, and left alone');
    return;
  }
  const { namespace, name, uid } = record.fleet;
  const fleet = `${namespace}/${name}`;
  try {
    // The list of fleets is older than that of records: a new fleet has a record before it is in there.
    const live = await kube.get<EtcdFleet>(resources.fleets, namespace, name, { signal });
    if (live?.metadata.uid === uid) return;
    if ([...context.fleets, ...(live ? [live] : [])].some((other) => speaksFor(other, record))) {
      await remove(kube, found, signal);
      return;
    }
    const failure = await sendEnd(record, context);
    if (!failure) {
      await remove(kube, found, signal);
      log({ fleet, statuses: record.statuses.length }, 'the fleet is deleted: its pending commit statuses were ended');
      return;
    }
    const retry = nextRetry(readRetry(found), context.now, failure.retryAt);
    const { reason, message: problem } = failure;
    log(
      { fleet, reason, problem, next: retry?.next },
      `${notEnded}: ${retry ? 'tried again' : 'given up after a day'}`,
    );
    await (retry ? keepRetry(found, retry, context) : remove(kube, found, signal));
  } catch (error) {
    if (!(error instanceof KubeError)) throw error;
    log({ fleet, problem: error.message }, `${notEnded}: the next tick tries again`);
  }
}

const notEnded = 'the pending commit statuses of a deleted fleet could not be ended';

/** Whether a fleet reports under the same contexts on the same repository: it may have sent them already. */
function speaksFor(other: EtcdFleet, { url, root }: PendingRecord): boolean {
  const { spec } = other;
  const isSame = spec.git.url === url || isSameRepository(spec.git.url, url);
  return spec.forge !== undefined && isSame && statusContext(other) === root;
}

async function sendEnd(
  { fleet, url, forge, statuses }: PendingRecord,
  { kube, signal, forgeDeadline }: EndContext,
): Promise<ForgeFailure | undefined> {
  const { namespace, name } = fleet;
  const opened = await openFleetForge({ metadata: { namespace }, spec: { forge, git: { url } } }, { kube, signal });
  if (opened?.kind !== 'open') return opened;
  const description = `EtcdFleet ${namespace}/${name} was deleted before this was done: nothing reports on this commit any more`;
  const ended = statuses.map((status) => ({ ...status, state: 'error' as const, description }));
  return (await sendChanged(opened.forge, ended, [], { signal, deadline: forgeDeadline })).failure;
}

/** @throws {KubeError} */
async function keepRetry(found: ConfigMap, retry: Retry, { kube, signal }: EndContext): Promise<void> {
  const data = { ...found.data, [recordKeys.retry]: JSON.stringify(retry) };
  await kube.update<ConfigMap>(resources.configMaps, { ...found, data }, { signal });
}
