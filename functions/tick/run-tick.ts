import { setTimeout as pause } from 'node:timers/promises';
import { abortAfter } from '../../manifests/abort-after.ts';
import { connectKube } from '../../reconcile/clients/kube.ts';
import { pageLinks } from '../../reconcile/fleet/page-links.ts';
import { type Kube, KubeError } from '../../reconcile/interfaces/kube.ts';
import { isIn, wholeUnit } from '../../reconcile/stepping/shard.ts';
import { identityFrom, migratesStorage, pageUrlFrom, rebootsFrom, wrongSettings } from '../environment.ts';
import type { Log } from '../log.ts';
import { reachOf } from '../pass/follow-up/reach.ts';
import { onePass } from '../pass/one-pass.ts';
import type { PassResult } from '../pass/pass-context.ts';
import type { PlanPassContext } from '../pass/plan-pass.ts';
import type { ShardContext } from '../pass/shard.ts';
import { withTelemetry } from '../telemetry/telemetry.ts';
import type { TickOptions } from './options.ts';
import { exitCode, render } from './output.ts';

export interface TickContext {
  readonly version: string;
  readonly log: Log;
  /** Aborts when the process is asked to leave. */
  readonly stop: AbortSignal;
  readonly env: NodeJS.ProcessEnv;
  readonly out: (text: string) => void;
}

export async function runTick(options: TickOptions, context: TickContext): Promise<number> {
  const { log, stop, env, out, version } = context;
  if (options.delay) await pause(options.delay * 1000, undefined, { signal: stop }).catch(() => undefined);
  const deadline = Date.now() + options.timeout * 1000;
  const signal = abortAfter(options.timeout * 1000, stop);
  const identity = identityFrom(env);
  const page = pageUrlFrom(env);
  if (page.problem) log({ problem: page.problem }, 'commit statuses lead nowhere');
  for (const problem of wrongSettings(env)) log({ problem }, 'an entry of a setting says nothing, and allows nothing');
  let kube: Kube | undefined;
  try {
    kube = await connectKube({
      userAgent: `etcd-ratchet/${version}`,
      ...(options.kubeconfig && { kubeconfig: options.kubeconfig }),
      // There is no other namespace to keep room for.
      ...(options.namespace && { listBytes: Number.POSITIVE_INFINITY }),
    });
    const shard = await shardOf(options, { kube, env, cronJob: identity.cronJob, log, signal });
    if (shard === 'surplus') {
      log({ outcome: 'none' }, 'passes are shared out among fewer: this one does nothing');
      return 0;
    }
    const reach = {
      ...reachOf({ kube, log, holder: identity.holder, signal, deadline }),
      namespace: options.namespace,
      fleet: options.fleet,
      clusters: options.clusters,
      shard,
      rebootsIn: rebootsFrom(env),
    };
    if (options.plan) return await printPlans(options, reach, out);
    if (options.check) {
      const { printChecks } = await import('../checks/check-command.ts');
      return await printChecks(options.check, options.output, reach, out);
    }
    const links = page.url && pageLinks(page.url);
    const { requests } = kube;
    const around = {
      version,
      env,
      log,
      trigger: options.followUp ? ('follow-up' as const) : ('tick' as const),
      onPassed: (passed: PassResult | undefined) => passed && out(render(passed, options, { requests: requests() })),
    };
    const result = await withTelemetry(around, () =>
      onePass(options, { ...reach, cronJob: identity.cronJob, env, links: links || undefined }),
    );
    if (migratesStorage(env) && isWhole(options) && isIn(shard, wholeUnit)) {
      const { migrateStorage } = await import('../../reconcile/storage/migrate.ts');
      await migrateStorage({ kube, signal, log });
    }
    return result ? exitCode(result, options) : 0;
  } catch (error) {
    if (!(error instanceof KubeError)) throw error;
    log({ reason: error.reason, problem: explain(error) }, 'no pass could be made');
    return 1;
  } finally {
    kube?.close();
  }
}

/** Neither for some clusters or one fleet only, nor a follow-up, nor a look. */
function isWhole({ clusters, fleet, followUp, dryRun }: TickOptions): boolean {
  return clusters.length === 0 && fleet === undefined && !followUp && !dryRun;
}

/** Loaded only where a pass may be shared out. */
async function shardOf(options: TickOptions, context: ShardContext) {
  if (!options.shard && context.env.JOB_COMPLETION_INDEX === undefined) return undefined;
  const { shardFor } = await import('../pass/shard.ts');
  return shardFor(options, context);
}

/** Loaded only where it is asked for: a tick simulates nothing. */
async function printPlans(
  options: TickOptions,
  context: PlanPassContext,
  out: (text: string) => void,
): Promise<number> {
  const [{ planPass }, { planExitCode, renderPlans }] = await Promise.all([
    import('../pass/plan-pass.ts'),
    import('./plan-output.ts'),
  ]);
  const result = await planPass(context);
  out(renderPlans(result, options, { requests: context.kube.requests() }));
  return options.detailedExitcode ? planExitCode(result) : 0;
}

function explain(error: KubeError): string {
  if (error.status !== 404) return error.message;
  return `the custom resource definitions of etcd.ratchet.dev are not installed: kubectl apply -k manifests/install (${error.message})`;
}
