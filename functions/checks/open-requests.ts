import type { Forge } from '../../gitops/forges/forge.ts';
import type { EtcdFleet } from '../../manifests/api/etcd-fleet.ts';
import type { RequestCheck } from '../../manifests/api/etcd-fleet-status.ts';
import type { ForgeFailure } from '../../reconcile/fleet/forge-limit.ts';
import type { PageLinks } from '../../reconcile/fleet/page-links.ts';
import { type Kube, KubeError } from '../../reconcile/interfaces/kube.ts';
import type { Log } from '../log.ts';
import type { CheckContext } from './check-context.ts';
import type { SharedForges } from './shared-forges.ts';

export interface ChecksContext extends Omit<CheckContext, 'onTouched'> {
  /** With our own rights; checks get it without any right to write. */
  readonly kube: Kube;
  readonly log: Log;
  /** When to have stopped, in milliseconds since the epoch. */
  readonly deadline: number;
  readonly links?: PageLinks | undefined;
  /** Absent: no other fleet asks. */
  readonly forges?: SharedForges | undefined;
  /**
   * Changes the live record of checks, and says whether it was written: a request that ends the process must not come
   * first again, and of two invocations one checks it. Called again after a conflicting write.
   */
  readonly record: (change: ChecksChange) => Promise<boolean>;
}

export type ChecksChange = (live: readonly RequestCheck[]) => readonly RequestCheck[];

/** What a fleet's requests have in common while they are checked. */
export interface Open {
  readonly fleet: EtcdFleet;
  readonly forge: Forge;
  readonly target: string;
  readonly branch: string;
}

/** Tells what a person should know of a check that went wrong. */
export type Failed = (error: ForgeFailure) => void;

export function onlyKube(failed: Failed): (error: unknown) => void {
  return (error) => {
    if (!(error instanceof KubeError)) throw error;
    failed({ reason: 'ReportNotKept', message: error.message });
  };
}
