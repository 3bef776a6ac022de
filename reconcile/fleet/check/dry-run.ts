import type { EtcdFleet } from '../../../manifests/api/etcd-fleet.ts';
import { type Kube, KubeError } from '../../interfaces/kube.ts';
import { type FieldPath, without } from '../../objects/fields.ts';
import { managedFieldsOf } from '../../objects/hands.ts';
import { actingFor } from '../account.ts';
import { desired, resourceFor } from '../apply.ts';
import { complaintFor, isFieldConflict, managersIn } from '../complaint.ts';
import { fieldManager } from '../names.ts';
import type { FleetObject } from '../objects.ts';
import { declaredBy, droppedBy, ownershipBefore } from '../ownership.ts';
import { type PlannedApply, problemAt } from '../plan.ts';
import type { DesiredSpec, SpecProblem } from '../reading.ts';

export type DryRun =
  /** `object`: what would be live. */
  | { readonly kind: 'accepted'; readonly object: FleetObject }
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
  const before = ownersBefore(planned, manager);
  try {
    const answer = await apply(before.isFree ? 'Forced' : true).catch((error: unknown) => {
      if (!isFieldConflict(error) || !managersIn(error).every(before.givesWay)) throw error;
      return apply('Forced');
    });
    return { kind: 'accepted', object: without(answer, before.drops) };
  } catch (error) {
    if (!(error instanceof KubeError)) throw error;
    const message = complaintFor(error, planned.spec, fleet);
    if (error.class !== 'terminal' && !isFieldConflict(error)) return { kind: 'unknown', message };
    return { kind: 'problem', problem: problemInField(planned.spec, fieldIn(error.message), message) };
  }
}

interface OwnersBefore {
  /** All other managers give way. */
  readonly isFree: boolean;
  /** Whether this manager's fields are taken over. */
  readonly givesWay: (manager: string) => boolean;
  /** Fields that go as soon as they are the fleet's: a dry run changes no owners. */
  readonly drops: readonly FieldPath[];
}

/**
 * Applying takes over what an earlier owner left, what was edited by hand, and at first what kubectl wrote: it never
 * comes to a conflict with those.
 */
function ownersBefore(planned: PlannedApply, manager: string): OwnersBefore {
  if (planned.kind === 'create' || planned.kind === 'settled')
    return { isFree: false, givesWay: () => false, drops: [] };
  const entries = managedFieldsOf(planned.live);
  const change = ownershipBefore(planned.kind, entries, manager);
  const drops = change ? droppedBy(planned.spec, change, manager) : [];
  if (planned.kind === 'adopt')
    return { isFree: false, givesWay: (name) => change?.from.includes(name) ?? false, drops };
  const others = declaredBy(change?.entries ?? entries, manager);
  return { isFree: others.size === 0, givesWay: (name) => !others.has(name), drops };
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
