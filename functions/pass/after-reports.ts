import { areChecked, areLeftOver } from '../checks/branch.ts';
import { endStatuses } from './end-statuses.ts';
import type { FleetPassed } from './pass-context.ts';
import type { FleetsRead } from './read-fleets.ts';
import type { FleetTold } from './report-fleets.ts';

/** What a roll-out waits for no longer: checks of requests, last words of deleted fleets, namespaces left out. */
export async function afterReports(
  read: FleetsRead,
  told: readonly Promise<FleetTold>[],
): Promise<readonly FleetPassed[]> {
  let loaded: ReturnType<typeof loadChecks> | undefined;
  const load = () => {
    loaded ??= loadChecks(read.context.signal);
    return loaded;
  };
  const [fleets] = await Promise.all([
    Promise.all(told.map((one) => checked(read, one, load))),
    endStatuses(read),
    read.context.kube.leftOut().size > 0 && import('./tell-left-out.ts').then((told) => told.tellLeftOut(read.context)),
  ]);
  return fleets;
}

/** Only ticks check requests, after everything else: a roll-out waits for no request. Loaded only where needed. */
async function checked(
  { context, world }: FleetsRead,
  told: Promise<FleetTold>,
  load: () => ReturnType<typeof loadChecks>,
): Promise<FleetPassed> {
  const { passed, left } = await told;
  if (context.dryRun || context.followUp || context.clusters.length > 0 || context.signal.aborted) return passed;
  if (!areChecked(passed.fleet) && !areLeftOver(passed.fleet)) return passed;
  const { checkRequests, forges } = await load();
  return checkRequests(passed, { fleets: world.fleets, clusters: left }, { ...context, forges });
}

/** With what all fleets of the pass share. */
async function loadChecks(signal: AbortSignal) {
  const [{ checkRequests }, { shareForges }] = await Promise.all([
    import('../checks/check-pass.ts'),
    import('../checks/shared-forges.ts'),
  ]);
  return { checkRequests, forges: shareForges(signal) };
}
