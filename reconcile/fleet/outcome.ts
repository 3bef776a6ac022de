import type { EtcdFleet } from '../../manifests/api/etcd-fleet.ts';
import type { EtcdFleetStatus, FleetInventoryEntry } from '../../manifests/api/etcd-fleet-status.ts';
import type { RefusedApproval } from '../objects/approvals.ts';
import type { KeptBecause } from './prune.ts';
import type { Reading, SpecProblem } from './reading.ts';

/** What one pass did about one fleet's repository: all that its report needs to know. */
export interface FleetOutcome {
  readonly reading: Reading;
  /** `undefined`: as the status has them; this pass did not look. */
  readonly problems?: readonly SpecProblem[];
  /** What did not work and may by itself, each a sentence. */
  readonly retries: readonly string[];
  /** Live and owned, and no longer in Git. `undefined`: as the status has it. */
  readonly unlisted?: UnlistedReport;
  /** What the apply left. `undefined`: as the status has it. */
  readonly inventory?: readonly FleetInventoryEntry[];
  /** Every document of the revision is applied, and nothing waits for another look. */
  readonly applied: boolean;
  /** `<namespace>/<name>` of the clusters whose spec this pass created or changed. */
  readonly changed: ReadonlySet<string>;
  readonly pruned: readonly string[];
}

export interface UnlistedReport {
  readonly kept: readonly { readonly key: string; readonly because: KeptBecause }[];
  readonly confirmation?: string;
  /** It was given, and does not count. */
  readonly refused?: RefusedApproval;
  readonly notes: readonly string[];
}

/** The fleet with the inventory that this pass left: what it applied just now is its own. */
export function withInventory(fleet: EtcdFleet, { inventory }: FleetOutcome): EtcdFleet {
  return inventory ? { ...fleet, status: { observedGeneration: -1, ...fleet.status, inventory } } : fleet;
}

/** The last revision that was applied as a whole, with this pass. */
export function appliedRevision({ status }: EtcdFleet, { reading, applied }: FleetOutcome): string | undefined {
  return applied && reading.kind === 'tree' ? reading.revision : status?.revision?.applied;
}

/** The revision that is applied as a whole; none while another one is being applied, which may be the revert. */
export function wholeRevision({ applied, attempted }: EtcdFleetStatus['revision'] = {}): string | undefined {
  return applied === attempted ? applied : undefined;
}

/** Of a pass in which Git was not asked, or had nothing to give. */
export function nothingApplied(reading: Reading): FleetOutcome {
  return { reading, retries: [], applied: reading.kind === 'unchanged', changed: new Set(), pruned: [] };
}
