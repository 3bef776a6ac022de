import { setTimeout as pause } from 'node:timers/promises';
import type { EtcdFleet } from '../../manifests/api/etcd-fleet.ts';
import { isFleetKind } from '../../manifests/api/fleet-kinds.ts';
import { annotations, labels } from '../../manifests/render/names.ts';
import { formatShown } from '../cluster/know/plan/costs.ts';
import { isReason, type Kube, KubeError, type Resource } from '../interfaces/kube.ts';
import { managedFieldsOf } from '../objects/hands.ts';
import { stillAttempts } from './attempt.ts';
import { complaintFor, isFieldConflict } from './complaint.ts';
import type { Inherited } from './inherited.ts';
import { fieldManager, handOverAnnotation, isClaimed, keyOf, overtookAnnotation } from './names.ts';
import { calledOf, type FleetObject, identityOf, resourceOf } from './objects.ts';
import { ownershipBefore, withManagedFields, withoutHands } from './ownership.ts';
import type { PlannedApply } from './plan.ts';
import { type DesiredSpec, shaOf } from './reading.ts';
import { asksOf, type ShownPlans } from './shown.ts';

export interface ApplyContext {
  /** The fleet with the recorded attempt. */
  readonly fleet: EtcdFleet;
  readonly revision: string;
  readonly overtook?: string;
  readonly shown?: ShownPlans;
  /** Our own rights, for reading. */
  readonly kube: Kube;
  /** The fleet's service account, for writing. */
  readonly asFleet: Kube;
  readonly signal: AbortSignal;
  /** What kubectl wrote is the fleet's from now on. Never throws. */
  readonly tellInherited: (news: Inherited) => Promise<void>;
}

export type ApplyOutcome =
  /** `changed`: the spec is another than before, so that the object is one that the commit changed. */
  | { readonly kind: 'applied'; readonly spec: DesiredSpec; readonly object: FleetObject; readonly changed: boolean }
  /** A person must do something. */
  | { readonly kind: 'problem'; readonly spec: DesiredSpec; readonly message: string }
  /** May pass by itself. */
  | { readonly kind: 'retry'; readonly spec: DesiredSpec; readonly message: string }
  /** A newer attempt has begun: this invocation must not write any more. */
  | { readonly kind: 'superseded'; readonly spec: DesiredSpec };

/** Every 409 is answered by one look; more than this in a row means that another client writes all the time. */
const attempts = 4;

/** Makes one document live. Never throws for what the API server says: one bad document must not stop the others. */
export async function applyOne(planned: PlannedApply, context: ApplyContext): Promise<ApplyOutcome> {
  const { spec } = planned;
  try {
    if (planned.kind === 'settled') return { kind: 'applied', spec, object: planned.live, changed: false };
    if (planned.kind === 'create') return await create(spec, context);
    return await update(planned, context);
  } catch (error) {
    if (!(error instanceof KubeError)) throw error;
    const message = complaintFor(error, spec, context.fleet);
    return error.class === 'terminal' || isFieldConflict(error)
      ? { kind: 'problem', spec, message }
      : { kind: 'retry', spec, message };
  }
}

/** By POST, the only write that fails if another client was faster: no other fences an object that does not exist. */
async function create(spec: DesiredSpec, context: ApplyContext): Promise<ApplyOutcome> {
  const { kube, asFleet, fleet, revision, signal } = context;
  if (!(await stillAttempts(kube, fleet, revision, signal))) return { kind: 'superseded', spec };
  try {
    const object = await asFleet.create(resourceFor(spec), desired(spec, context), { signal });
    return { kind: 'applied', spec, object, changed: true };
  } catch (error) {
    if (!isReason(error, 'AlreadyExists')) throw error;
  }
  // Two invocations for one push, as a rule. The live object is read before the check that no newer attempt has begun.
  const live = await getLive(spec, kube, signal);
  if (!(await stillAttempts(kube, fleet, revision, signal))) return { kind: 'superseded', spec };
  if (live && isClaimed(fleet, live)) return update({ kind: 'update', spec, live }, context);
  const message = `${calledOf(spec.kind, spec)} was created by another client meanwhile`;
  return { kind: 'retry', spec, message };
}

async function update(
  planned: Extract<PlannedApply, { kind: 'update' | 'adopt' | 'takeOver' }>,
  context: ApplyContext,
): Promise<ApplyOutcome> {
  const { kube, fleet, revision, signal } = context;
  const { spec, live } = planned;
  // Of what is not the fleet's yet, a list need not hold `managedFields`.
  let known = planned.kind === 'update' ? live : undefined;
  for (let attempt = known ? 1 : 0; ; attempt++) {
    try {
      const object = known && (await applyOver(planned.kind, spec, known, context));
      if (object)
        return { kind: 'applied', spec, object, changed: object.metadata.generation !== live.metadata.generation };
    } catch (error) {
      if (!isReason(error, 'Conflict') || isFieldConflict(error) || attempt === attempts) throw error;
    }
    // Its status was written meanwhile, as a rule. Going on is safe only while everything that counts is the same.
    const [now, ours] = await Promise.all([getLive(spec, kube, signal), stillAttempts(kube, fleet, revision, signal)]);
    if (!ours) return { kind: 'superseded', spec };
    if (!now || now.metadata.uid !== live.metadata.uid || now.metadata.generation !== live.metadata.generation) {
      return { kind: 'retry', spec, message: `${calledOf(spec.kind, spec)} was changed by another client meanwhile` };
    }
    known = now;
    await pause(20 * attempt, undefined, { signal });
  }
}

async function applyOver(
  kind: 'update' | 'adopt' | 'takeOver',
  spec: DesiredSpec,
  live: FleetObject,
  context: ApplyContext,
): Promise<FleetObject> {
  const { asFleet, fleet, signal } = context;
  const manager = fieldManager(fleet);
  const ownership = ownershipBefore(kind, managedFieldsOf(live), manager);
  const settled = kind === 'takeOver' ? withoutHandOver(live) : live;
  const base = ownership || settled !== live ? await reown(settled, ownership?.entries, context) : live;
  const inherits = ownership !== undefined && ownership.from.length > 0;
  try {
    const applied = await asFleet.apply(resourceFor(spec), desired(spec, context, base), {
      fieldManager: manager,
      signal,
    });
    if (inherits) await context.tellInherited({ spec, live, ownership });
    return applied;
  } catch (error) {
    if (inherits) await giveBack(base, live, context);
    const freed = kind === 'adopt' ? undefined : withoutHands(managedFieldsOf(base), desired(spec, context, base));
    if (!isFieldConflict(error) || !freed) throw error;
    const cleared = await reown(base, freed, context);
    return await asFleet.apply(resourceFor(spec), desired(spec, context, cleared), { fieldManager: manager, signal });
  }
}

/** A document that is refused takes nothing from kubectl. The refusal is what is told, also where this is refused. */
async function giveBack(base: FleetObject, live: FleetObject, context: ApplyContext): Promise<void> {
  await reown(base, managedFieldsOf(live), context).catch((error: unknown) => {
    if (!(error instanceof KubeError)) throw error;
  });
}

/** The object as it is now. @throws {KubeError} */
export async function getLive(spec: DesiredSpec, kube: Kube, signal: AbortSignal): Promise<FleetObject | undefined> {
  return kube.get<FleetObject>(resourceFor(spec), spec.namespace || undefined, spec.name, { signal });
}

/** Plans hold documents of these kinds only. */
export function resourceFor({ kind }: DesiredSpec): Resource {
  if (!isFleetKind(kind)) throw new TypeError(`${kind} is never applied`);
  return resourceOf(kind);
}

async function reown(
  object: FleetObject,
  managedFields: Parameters<typeof withManagedFields>[1] | undefined,
  { asFleet, signal }: ApplyContext,
): Promise<FleetObject> {
  const next = managedFields ? withManagedFields(object, managedFields) : object;
  return asFleet.update(resourceOf(object.kind), next, { signal });
}

/** A hand-over that has happened says nothing more; left there, it would count again once its target is gone. */
function withoutHandOver(object: FleetObject): FleetObject {
  const { [handOverAnnotation]: handOver, ...rest } = object.metadata.annotations ?? {};
  return handOver === undefined ? object : { ...object, metadata: { ...object.metadata, annotations: rest } };
}

/** The document with its owner's marks, and with what must still be true of the live object, if there is one. */
export function desired(
  spec: DesiredSpec,
  { fleet, overtook, shown }: Pick<ApplyContext, 'fleet' | 'overtook' | 'shown'>,
  live?: FleetObject,
): FleetObject {
  const { metadata } = spec.object;
  const costs =
    spec.kind === 'EtcdCluster' ? shown?.costs.get(`${identityOf(spec.kind, spec)} ${asksOf(spec)}`) : undefined;
  return {
    apiVersion: 'etcd.ratchet.dev/v1alpha1',
    kind: spec.kind,
    metadata: {
      name: spec.name,
      ...(spec.namespace !== '' && { namespace: spec.namespace }),
      ...(live?.metadata.uid && { uid: live.metadata.uid }),
      ...(live?.metadata.resourceVersion && { resourceVersion: live.metadata.resourceVersion }),
      labels: { ...metadata.labels, [labels.fleet]: fleet.metadata.uid ?? '' },
      annotations: {
        ...metadata.annotations,
        [annotations.fleetName]: keyOf(fleet),
        [annotations.source]: spec.file,
        ...(costs && { [annotations.shownPlan]: formatShown(costs.request, costs) }),
        ...(live && overtook && { [overtookAnnotation]: shaOf(overtook) }),
      },
    },
    // Validated against the same schema that the type comes from, before it got here and again by the API server.
    spec: spec.object.spec,
  } as FleetObject;
}
