import { isDeepStrictEqual } from 'node:util';
import { abortAfter } from '../../manifests/abort-after.ts';
import type { EtcdFleet } from '../../manifests/api/etcd-fleet.ts';
import type { EtcdFleetStatus } from '../../manifests/api/etcd-fleet-status.ts';
import { type ForgeFailure, retryAfter } from '../../reconcile/fleet/forge-limit.ts';
import { keyOf } from '../../reconcile/fleet/names.ts';
import { shaOf } from '../../reconcile/fleet/reading.ts';
import { notVerified } from '../../reconcile/fleet/verified.ts';
import { isReason, KubeError, resources } from '../../reconcile/interfaces/kube.ts';
import { conditionsFrom } from '../../reconcile/objects/conditions.ts';
import type { World } from '../pass/fleet-pass.ts';
import type { PassContext, PassResult } from '../pass/pass-context.ts';
import type { Reader } from '../read/reader.ts';
import { areChecked, areLeftOver, branchOf } from './branch.ts';
import { type ChecksOutcome, checkFleet } from './check-fleet.ts';
import type { ChecksChange } from './open-requests.ts';
import type { SharedForges } from './shared-forges.ts';

/** Milliseconds that stay for writing down what was checked. */
const reserveMs = 2_000;

/**
 * Checks a fleet's open requests with the time that a pass has left; returns the fleet as it is now.
 * @param world the fleets as they were listed, and the clusters as the pass left them
 */
export async function checkRequests(
  { fleet, result }: FleetPassed,
  world: World,
  context: PassContext & { readonly reader: Reader; readonly forges: SharedForges },
): Promise<FleetPassed> {
  if (areLeftOver(fleet)) return { fleet: await forgotten(fleet, context), result };
  const branch = branchOf(fleet);
  const revision = result.kind === 'done' ? revisionOf(result.outcome.reading) : undefined;
  if (!areChecked(fleet) || branch === undefined || revision === undefined) return { fleet, result };
  const fleets = world.fleets.map((one) => (one.metadata.uid === fleet.metadata.uid ? fleet : one));
  let now = fleet;
  const write = async (change: Change) => {
    const written = await remember(context, now, change);
    now = written ?? now;
    return written !== undefined;
  };
  const record = (change: ChecksChange) =>
    write(({ status = { observedGeneration: -1 } }) => ({ ...status, checks: change(status.checks ?? []) }));
  const asked = { ...context, ...world, fleets, deadline: context.deadline - reserveMs, record };
  const outcome = await checkFleet(fleet, { branch, target: shaOf(revision) }, asked);
  const at = context.kube.now() ?? new Date();
  await write((live) => withChecks(live, outcome, at));
  return { fleet: now, result };
}

/** Checks are not asked for any more: the reports are deleted first, then what the status remembers of them. */
async function forgotten(fleet: EtcdFleet, context: PassContext): Promise<EtcdFleet> {
  const { forgetReports } = await import('./keep-report.ts');
  try {
    await forgetReports(context.kube, fleet, () => false, context.signal);
  } catch (error) {
    if (!(error instanceof KubeError)) throw error;
    context.log({ fleet: keyOf(fleet), problem: error.message }, 'reports of checks could not be removed');
    return fleet;
  }
  const written = await remember(context, fleet, ({ status }) => {
    const { checks: _, requestsFrom: __, requestsSeen: ___, ...rest } = status ?? { observedGeneration: -1 };
    return rest;
  });
  return written ?? fleet;
}

type Change = (fleet: EtcdFleet) => EtcdFleetStatus;

type FleetPassed = PassResult['fleets'][number];

function revisionOf(reading: Extract<FleetPassed['result'], { kind: 'done' }>['outcome']['reading']) {
  if (reading.kind === 'unchanged' || reading.kind === 'tree') return reading.revision;
  // A plan on it says so: what is to be merged may be what mends it.
  return reading.kind === 'failed' && notVerified.has(reading.reason) ? reading.revision : undefined;
}

/** One write, and none where nothing changed. `undefined`: it could not be written; the next pass checks again. */
async function remember(
  { kube, log }: Pick<PassContext, 'kube' | 'log'>,
  fleet: EtcdFleet,
  change: Change,
): Promise<EtcdFleet | undefined> {
  if (isDeepStrictEqual(change(fleet), fleet.status)) return fleet;
  const signal = abortAfter(reserveMs);
  const { namespace, name, uid } = fleet.metadata;
  try {
    for (let attempt = 1; ; attempt++) {
      // The pass has written the status since this fleet was listed.
      const live = await kube.get<EtcdFleet>(resources.fleets, namespace, name, { signal });
      if (!live || live.metadata.uid !== uid) return undefined;
      try {
        return await kube.updateStatus(resources.fleets, { ...live, status: change(live) }, { signal });
      } catch (error) {
        if (!isReason(error, 'Conflict') || attempt === 3) throw error;
      }
    }
  } catch (error) {
    if (!(error instanceof KubeError)) throw error;
    log({ fleet: keyOf(fleet), problem: error.message }, 'the results of checks could not be written into the status');
    return undefined;
  }
}

const underWay: ForgeFailure = {
  reason: 'ChecksWaiting',
  message: 'a check that another invocation has begun is not ended; if it never is, the next passes make it',
};

/** Pure. */
export function withChecks(
  { status, metadata }: Pick<EtcdFleet, 'status' | 'metadata'>,
  { change, failure: own, withheld, listed }: ChecksOutcome,
  now: Date,
): EtcdFleetStatus {
  const {
    checks: before = [],
    forgeRetryAfter: _,
    requestsFrom,
    requestsSeen,
    ...rest
  } = status ?? { observedGeneration: -1 };
  const next = listed ? listed.next : requestsFrom;
  const seen = listed ? listed.seen : requestsSeen;
  const checks = change?.(before) ?? before;
  const failure = own ?? (checks.some(({ state }) => state === 'pending') ? underWay : undefined);
  const statement = {
    type: 'RequestsChecked',
    status: failure ? 'False' : 'True',
    reason: failure?.reason ?? 'Checked',
    message: failure?.message ?? `every open request has its verdict${withheld ? `, but for ${withheld}` : ''}`,
  } as const;
  const others = (status?.conditions ?? []).filter(({ type }) => type !== statement.type);
  const written = { generation: metadata.generation ?? 0, at: now };
  return {
    ...rest,
    ...retryAfter(failure, now),
    ...(checks.length > 0 && { checks }),
    ...(next !== undefined && { requestsFrom: next }),
    ...(seen && { requestsSeen: seen }),
    conditions: [...others, ...conditionsFrom([statement], status?.conditions, written)],
  };
}
