import { isSameRepository } from '../../gitops/forges/repository.ts';
import type { EtcdFleet } from '../../manifests/api/etcd-fleet.ts';
import type { RequestCheck } from '../../manifests/api/etcd-fleet-status.ts';
import { longStatusName } from '../../reconcile/fleet/names.ts';

/**
 * The fleet with the name that the forge sees: its own, or the unique `<name>.<namespace>` where a fleet of another
 * namespace reports under that name. The first to report keeps the short one, since branch protection may ask for it. A
 * long name stays for good: statuses under an abandoned name would stay unfinished.
 */
export function withReportName(fleet: EtcdFleet, fleets: readonly EtcdFleet[]): EtcdFleet {
  const { metadata, spec, status = { observedGeneration: -1 } } = fleet;
  if (!spec.forge) return fleet;
  const name = nameFor(fleet, fleets);
  const before = status.reportsAs?.name ?? metadata.name;
  // Another spelling of the same place is no news.
  const url = decided(fleet) && status.reportsAs ? status.reportsAs.url : spec.git.url;
  const checks = name === before ? status.checks : status.checks?.map(unsent);
  return { ...fleet, status: { ...status, reportsAs: { name, url }, ...(checks && { checks }) } };
}

function nameFor(fleet: EtcdFleet, fleets: readonly EtcdFleet[]): string {
  const long = longStatusName(fleet);
  if (decided(fleet) === long) return long;
  const isTaken = fleets.some((other) => isRival(other, fleet) && isBefore(other, fleet));
  return isTaken ? long : fleet.metadata.name;
}

/** Whether both would speak under their name alone, about the same commits. */
function isRival(other: EtcdFleet, { metadata, spec }: EtcdFleet): boolean {
  if (other.metadata.name !== metadata.name || other.metadata.uid === metadata.uid) return false;
  if (!other.spec.forge || other.metadata.deletionTimestamp !== undefined) return false;
  return isSameRepository(other.spec.git.url, spec.git.url) && decided(other) !== longStatusName(other);
}

function isBefore(one: EtcdFleet, other: EtcdFleet): boolean {
  const rank = (fleet: EtcdFleet) =>
    [decided(fleet) === undefined ? '1' : '0', fleet.metadata.creationTimestamp ?? '', fleet.metadata.uid ?? ''].join();
  return rank(one) < rank(other);
}

/** What was decided for the repository where it is now. */
function decided({ spec, status }: EtcdFleet): string | undefined {
  const { name, url } = status?.reportsAs ?? {};
  return url !== undefined && isSameRepository(url, spec.git.url) ? name : undefined;
}

/** The forge has it under another name. */
function unsent({ sent: _, ...check }: RequestCheck): RequestCheck {
  return check;
}
