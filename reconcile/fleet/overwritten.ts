import { isReason, type Kube } from '../interfaces/kube.ts';
import { writeEvent } from '../objects/event.ts';
import type { ApplyOutcome } from './apply.ts';
import type { PlannedApply } from './plan.ts';

type Applied = Extract<ApplyOutcome, { kind: 'applied' }>;

/** Reports that Git has undone a change by hand: the revision had been applied before. @throws {KubeError} */
export async function tellOverwritten(
  kube: Kube,
  planned: PlannedApply,
  { object, spec, changed }: Applied,
  {
    revision,
    applied,
    signal,
  }: { readonly revision: string; readonly applied: string | undefined; readonly signal: AbortSignal },
): Promise<void> {
  if (!changed || planned.kind !== 'update' || applied !== revision || object.kind !== 'EtcdCluster') return;
  const at = kube.now() ?? new Date();
  // Once for each time that it was put back, however many invocations saw that.
  const id = `git-${object.metadata.generation ?? 0}`;
  try {
    await writeEvent(
      kube,
      object,
      {
        type: 'Warning',
        action: 'Apply',
        reason: 'PutBackByGit',
        note: `its spec was changed outside of Git, and is as ${spec.file} says again; to change it, commit there`,
      },
      { id, at, signal },
    );
  } catch (error) {
    if (!isReason(error, 'AlreadyExists')) throw error;
  }
}
