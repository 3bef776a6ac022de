import { abortAfter } from '../../manifests/abort-after.ts';
import type { EtcdCluster } from '../../manifests/api/etcd-cluster.ts';
import type { EtcdFleet } from '../../manifests/api/etcd-fleet.ts';
import { wantsReconcile } from '../../manifests/render/reconcile-request.ts';
import { accountRefused, actingFor } from '../../reconcile/fleet/account.ts';
import { actOnFleet } from '../../reconcile/fleet/act.ts';
import { keyOf } from '../../reconcile/fleet/names.ts';
import {
  hasOthers,
  identityOf,
  identityOfObject,
  listApplied,
  listOthers,
  type OtherObject,
} from '../../reconcile/fleet/objects.ts';
import { type FleetOutcome, nothingApplied } from '../../reconcile/fleet/outcome.ts';
import { type FleetPlan, planFleet } from '../../reconcile/fleet/plan.ts';
import type { Reading } from '../../reconcile/fleet/reading.ts';
import { othersThan } from '../../reconcile/fleet/unit.ts';
import { type Kube, KubeError, resources } from '../../reconcile/interfaces/kube.ts';
import type { Shard } from '../../reconcile/stepping/shard.ts';
import { traced } from '../../reconcile/stepping/traced.ts';
import type { Log } from '../log.ts';
import type { Reader } from '../read/reader.ts';
import { readGit } from './read-git.ts';
import { type SharedGit, shareGit } from './shared-git.ts';

export interface FleetContext {
  readonly kube: Kube;
  readonly namespace?: string | undefined;
  readonly dryRun: boolean;
  readonly followUp: boolean;
  readonly log: Log;
  readonly signal: AbortSignal;
  readonly gitMs: number;
  readonly reader: Reader;
  readonly shard?: Shard | undefined;
  /** With the other fleets of the pass. Absent: for itself. */
  readonly git?: SharedGit;
}

export interface World {
  readonly fleets: readonly EtcdFleet[];
  readonly clusters: readonly EtcdCluster[];
  /** All that there is of what else fleets apply: asked for once, and only where Git is read. Absent: listed. */
  readonly others?: () => Promise<readonly OtherObject[]>;
  /** Of that, what fleets have applied: asked for once, and only where a fleet has. Absent: listed. */
  readonly applied?: () => Promise<readonly OtherObject[]>;
}

export type FleetResult =
  /** `fleet`: with the attempt that was recorded, or as listed where none was. */
  | {
      readonly kind: 'done';
      readonly fleet: EtcdFleet;
      readonly outcome: FleetOutcome;
      readonly planned?: readonly string[];
      /** What Git asks for; in a dry run only. */
      readonly asked?: FleetPlan;
    }
  /** Another invocation is at work on it, and reports. */
  | { readonly kind: 'left'; readonly fleet: EtcdFleet };

/** Asks Git for one fleet, and applies what it says. Never throws: one fleet's failure must not stop the others. */
export function passFleet(fleet: EtcdFleet, world: World, context: FleetContext): Promise<FleetResult> {
  return traced('fleet', { fleet: keyOf(fleet) }, async (note) => {
    const result = await passOne(fleet, world, context);
    note(result.kind === 'done' ? { reading: result.outcome.reading.kind } : { outcome: 'lost' });
    return result;
  });
}

async function passOne(fleet: EtcdFleet, world: World, context: FleetContext): Promise<FleetResult> {
  const skipped = reasonToSkip(fleet, context.followUp);
  if (skipped) return { kind: 'done', fleet, outcome: nothingApplied({ kind: 'skipped', because: skipped }) };
  try {
    // Before Git is asked: nothing of such a fleet is begun.
    actingFor(fleet, context.kube);
    const first = await attempt(fleet, world, context);
    if (first) return first;
    // Another invocation was faster. Look at everything again, once: of two that race, one gets through.
    const { git: _, ...alone } = context; // what was resolved before this look is too old for it
    const again = await lookAgain(fleet, context);
    if (!again) return { kind: 'left', fleet };
    return (await attempt(again.fleet, again.world, alone)) ?? { kind: 'left', fleet: again.fleet };
  } catch (error) {
    if (!(error instanceof KubeError)) throw error;
    const retryable = error.class !== 'terminal';
    const reason = error.reason === accountRefused ? accountRefused : 'ApiServerRefused';
    const reading: Reading = { kind: 'failed', reason, message: error.message, retryable };
    return { kind: 'done', fleet, outcome: nothingApplied(reading) };
  }
}

/** A follow-up asks Git only after an invocation that did not finish applying, or where a person asked for it. */
function reasonToSkip(fleet: EtcdFleet, followUp: boolean): 'suspended' | 'follow-up' | undefined {
  const { spec, status } = fleet;
  if (spec.suspend) return 'suspended';
  if (!followUp || wantsReconcile(fleet)) return undefined;
  const { attempted, applied } = status?.revision ?? {};
  const unfinished = attempted !== undefined && attempted !== applied && !status?.problemCount;
  return unfinished ? undefined : 'follow-up';
}

async function attempt(fleet: EtcdFleet, world: World, context: FleetContext): Promise<FleetResult | undefined> {
  const { kube, namespace, dryRun, log, signal, gitMs } = context;
  const inTime = abortAfter(gitMs, signal);
  using own = shareGit(inTime, context.reader, context.log);
  const listed = world.others ?? (() => listOthers(kube, namespace, signal));
  const applied = world.applied ?? (() => listApplied(kube, namespace, signal));
  const before = hasOthers(fleet) ? await applied() : [];
  const reading = await readGit(fleet, world.clusters, before, { kube, signal: inTime, git: context.git ?? own });
  logReading(fleet, reading, log);
  if (reading.kind !== 'tree') return { kind: 'done', fleet, outcome: nothingApplied(reading) };

  const { fleets, clusters } = world;
  const others = await listed();
  const input = { fleet, fleets, clusters, others, scope: namespace, leftOut: kube.leftOut() };
  if (dryRun) {
    const plan = planFleet({ ...input, revision: reading.revision, tree: reading.tree });
    const outcome = { ...nothingApplied(reading), problems: plan.problems };
    const planned = [
      ...plan.applies.map(({ kind, spec }) => `${kind} ${identityOf(spec.kind, spec)}`),
      ...plan.prune.map((object) => `delete ${identityOfObject(object)}`),
      ...plan.keep.map(({ object, because }) => `keep ${identityOfObject(object)} (${because})`),
    ];
    return { kind: 'done', fleet, outcome, planned, asked: plan };
  }
  const isShown = fleet.status?.checks?.some(({ state }) => state === 'success');
  const shown = isShown && (await (await import('../checks/read-shown.ts')).readShown(kube, fleet, { signal, log }));
  const result = await actOnFleet({ ...input, ...(shown && { shown }), reading, kube, signal, log });
  if (result.kind === 'lost') return undefined;
  for (const key of result.outcome.changed)
    log({ fleet: keyOf(fleet), cluster: key, revision: reading.revision }, 'applied');
  for (const key of result.outcome.pruned)
    log({ fleet: keyOf(fleet), cluster: key, revision: reading.revision }, 'deleted: no longer in Git');
  return { kind: 'done', fleet: result.fleet, outcome: result.outcome };
}

async function lookAgain(
  fleet: EtcdFleet,
  { kube, namespace, shard, signal }: FleetContext,
): Promise<{ readonly fleet: EtcdFleet; readonly world: World } | undefined> {
  const [fleets, clusters] = await Promise.all([
    kube.list<EtcdFleet>(resources.fleets, { namespace, signal }),
    kube.list<EtcdCluster>(resources.clusters, { namespace, isBare: othersThan(shard), signal }),
  ]);
  const now = fleets.items.find(({ metadata }) => metadata.uid === fleet.metadata.uid);
  return now && { fleet: now, world: { fleets: fleets.items, clusters: clusters.items } };
}

function logReading(fleet: EtcdFleet, reading: Reading, log: Log): void {
  const name = keyOf(fleet);
  if (reading.kind === 'failed') {
    log({ fleet: name, reason: reading.reason, problem: reading.message }, 'Git could not be read');
  } else if (reading.kind !== 'skipped') {
    const found = reading.kind === 'unchanged' ? 'nothing changed in Git' : 'read from Git';
    const verified = reading.kind === 'tree' ? reading.tree.verified : undefined;
    const signed = verified && { signedBy: verified.by, key: verified.key };
    log({ fleet: name, revision: reading.revision, ...signed }, found);
  }
  if (reading.kind !== 'tree') return;
  for (const { file, line, column, message } of reading.tree.warnings ?? []) {
    log({ fleet: name, place: `${file}:${line}:${column}`, warning: message }, 'allowed, and probably not meant');
  }
}
