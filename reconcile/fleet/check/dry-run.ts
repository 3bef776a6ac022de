import type { EtcdFleet } from '../../../manifests/api/etcd-fleet.ts';
import { type Kube, KubeError } from '../../interfaces/kube.ts';
import { managedFieldsOf } from '../../objects/hands.ts';
import { actingFor } from '../account.ts';
import { desired, resourceFor } from '../apply.ts';
import { complaintFor, isFieldConflict, managersIn } from '../complaint.ts';
import { fieldManager } from '../names.ts';
import { declaredBy } from '../ownership.ts';
import { type PlannedApply, problemAt } from '../plan.ts';
import type { DesiredSpec, SpecProblem } from '../reading.ts';

export type DryRun =
  | { readonly kind: 'accepted' }
  | { readonly kind: 'problem'; readonly problem: SpecProblem }
  /** No answer, or none that says anything about the document. */
  | { readonly kind: 'unknown'; readonly message: string };

/** Asks the API server what it would say to a document, as the fleet's service account. Nothing is written. */
export async function dryRun(
  planned: PlannedApply,
  { fleet, kube, signal }: { readonly fleet: EtcdFleet; readonly kube: Kube; readonly signal: AbortSignal },
): Promise<DryRun> {
  const manager = fieldManager(fleet);
  const object = desired(planned.spec, { fleet });
  const apply = async (how: true | 'Forced') =>
    actingFor(fleet, kube).apply(resourceFor(planned.spec), object, { fieldManager: manager, dryRun: how, signal });
  // Applying takes over what an earlier owner left and what was edited by hand, and never comes to a conflict with
  // those.
  const others =
    planned.kind === 'create' || planned.kind === 'adopt'
      ? undefined
      : declaredBy(managedFieldsOf(planned.live), manager);
  try {
    try {
      await apply(others?.size === 0 ? 'Forced' : true);
    } catch (error) {
      if (!others || !isFieldConflict(error) || managersIn(error).some((one) => others.has(one))) throw error;
      await apply('Forced');
    }
    return { kind: 'accepted' };
  } catch (error) {
    if (!(error instanceof KubeError)) throw error;
    const message = complaintFor(error, planned.spec, fleet);
    if (error.class !== 'terminal' && !isFieldConflict(error)) return { kind: 'unknown', message };
    return { kind: 'problem', problem: problemInField(planned.spec, fieldIn(error.message), message) };
  }
}

/** `spec.storage.size`, where the API server names a field. */
function fieldIn(message: string): string | undefined {
  return /\b(?:spec|metadata)(?:\.[A-Za-z0-9_-]+|\[[^\]]{1,80}\])+/.exec(message)?.[0];
}

/** A problem at a field (`spec.storage.size`, `spec.podTemplate.containers[0].name`), or where the document begins. */
export function problemInField(spec: DesiredSpec, field: string | undefined, message: string): SpecProblem {
  const problem = problemAt(spec, message);
  if (field === undefined || !spec.locate) return problem;
  return { ...problem, ...spec.locate(pathOf(field), 'value') };
}

function pathOf(field: string): (string | number)[] {
  const parts = field.match(/[^.[\]]+/g) ?? [];
  return parts.map((part) => (/^\d+$/.test(part) ? Number(part) : part.replaceAll('"', '')));
}
