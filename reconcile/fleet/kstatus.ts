import type { Condition } from '../../manifests/api/metadata.ts';
import { isTrue } from '../objects/conditions.ts';

/** What every tool that knows kstatus reads from a resource (cli-utils, `pkg/kstatus/status/generic.go`). */
export type KStatus = 'Current' | 'InProgress' | 'Failed' | 'Terminating';

interface Reported {
  readonly metadata: { readonly generation?: number; readonly deletionTimestamp?: string };
  readonly status?: { readonly observedGeneration?: number; readonly conditions?: readonly Condition[] };
}

/** The verdict, in kstatus's own order. Without a report, or the condition Ready, a resource is in progress. */
export function kstatusOf({ metadata, status }: Reported): KStatus {
  if (metadata.deletionTimestamp !== undefined) return 'Terminating';
  if (status?.observedGeneration !== metadata.generation) return 'InProgress';
  if (isTrue(status, 'Reconciling')) return 'InProgress';
  if (isTrue(status, 'Stalled')) return 'Failed';
  return isTrue(status, 'Ready') ? 'Current' : 'InProgress';
}
