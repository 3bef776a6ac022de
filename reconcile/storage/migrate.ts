import type { KubeObject, ObjectMeta } from '../../manifests/kube-types.ts';
import { isReason, type Kube, KubeError, type Resource, resources } from '../interfaces/kube.ts';
import { inParallel } from '../stepping/in-parallel.ts';

/**
 * Moves stored objects of our kinds to the storage version of their CRDs, so that an older version can be dropped:
 * every object is written once as it is, then `status.storedVersions` is pruned. It remembers nothing: after a death it
 * begins again, and an object that is stored as it should be is not written anew.
 */

interface CustomResourceDefinition extends KubeObject {
  readonly metadata: ObjectMeta & { readonly managedFields?: readonly { readonly time?: string }[] };
  readonly spec: { readonly versions: readonly { readonly name: string; readonly storage: boolean }[] };
  readonly status?: { readonly storedVersions?: readonly string[] };
}

const definitionsOf = [
  resources.fleets,
  resources.clusters,
  resources.peers,
  resources.backups,
  resources.schedules,
  resources.restores,
  resources.nodePolicies,
] as const satisfies readonly Resource[];

/** How long every API server has had to learn of a CRD by then, in milliseconds: one that has not stores as before. */
const learnt = 60_000;
const atOnce = 8;

export interface MigrationContext {
  readonly kube: Kube;
  readonly signal: AbortSignal;
  readonly log: (fields: Readonly<Record<string, unknown>>, message: string) => void;
  /** Milliseconds; of tests, whose API server is one. */
  readonly learntAfter?: number;
}

/** What became of one kind. `left`: objects that the API server would not take as they are. */
export interface Migrated {
  readonly kind: string;
  readonly outcome: 'nothing' | 'waits' | 'moved' | 'left';
  readonly objects: number;
}

/** @throws {KubeError} where the API server does not answer, or forbids it: the next tick begins again. */
export async function migrateStorage(context: MigrationContext): Promise<readonly Migrated[]> {
  const results: Migrated[] = [];
  for (const resource of definitionsOf) {
    const result = await migrateKind(resource, context);
    if (result.outcome !== 'nothing') context.log({ ...result }, 'storage of a kind is migrated');
    results.push(result);
  }
  return results;
}

async function migrateKind(resource: Resource, context: MigrationContext): Promise<Migrated> {
  const { kube, signal, learntAfter = learnt } = context;
  const result = (outcome: Migrated['outcome'], objects = 0): Migrated => ({ kind: resource.kind, outcome, objects });
  const name = `${resource.plural}.${resource.apiVersion.split('/')[0]}`;
  const found = await kube.get<CustomResourceDefinition>(resources.customResourceDefinitions, undefined, name, {
    signal,
  });
  const storage = found?.spec.versions.find((version) => version.storage)?.name;
  const stored = found?.status?.storedVersions ?? [];
  if (!found || storage === undefined || stored.every((version) => version === storage)) return result('nothing');
  if (!isLearnt(found, kube.now(), learntAfter)) return result('waits');

  const { items } = await kube.list<KubeObject>(resource, { signal });
  const refused = await inParallel(items, atOnce, (object) => isRefused(resource, object, context));
  if (refused.some(Boolean)) return result('left', refused.filter(Boolean).length);
  // Fenced by what was read before the list: where the storage version was moved since, nothing is pruned.
  const pruned = { ...found, status: { ...found.status, storedVersions: [storage] } };
  await kube.updateStatus(resources.customResourceDefinitions, pruned, { signal });
  return result('moved', items.length);
}

/** By the last write that the definition notes. */
function isLearnt({ metadata }: CustomResourceDefinition, now: Date | undefined, after: number): boolean {
  const written = (metadata.managedFields ?? []).map(({ time }) => Date.parse(time ?? ''));
  const last = Math.max(0, ...written.filter((at) => !Number.isNaN(at)));
  return now !== undefined && now.getTime() - last >= after;
}

/** Written as it is, over exactly what was read. One that was written to or deleted since needs it no more. */
async function isRefused(resource: Resource, object: KubeObject, context: MigrationContext): Promise<boolean> {
  const { kube, signal, log } = context;
  const whole = { ...object, apiVersion: resource.apiVersion, kind: resource.kind };
  try {
    await kube.update(resource, whole, { signal });
    return false;
  } catch (error) {
    if (isReason(error, 'Conflict') || isReason(error, 'NotFound')) return false;
    if (!(error instanceof KubeError) || error.reason !== 'Invalid') throw error;
    const { namespace, name } = object.metadata;
    log({ kind: resource.kind, namespace, name, problem: error.message }, 'an object can not be stored as it is');
    return true;
  }
}
