import { setTimeout as pause } from 'node:timers/promises';
import { connectKube } from '../reconcile/clients/kube.ts';
import { pageLinks } from '../reconcile/fleet/page-links.ts';
import { type Kube, KubeError } from '../reconcile/kube.ts';
import { type Identity, identityFrom, pageUrlFrom } from './environment.ts';
import type { GoingOn } from './go-on.ts';
import type { Log } from './log.ts';
import type { TickOptions } from './options.ts';
import { detailedExitCode, render } from './output.ts';
import { type PassNews, pass } from './pass.ts';
import type { PlanPassContext } from './plan-pass.ts';
import { reachOf } from './reach.ts';

export interface TickContext {
  readonly version: string;
  readonly log: Log;
  /** Aborts when the process is asked to leave. */
  readonly stop: AbortSignal;
  readonly env: NodeJS.ProcessEnv;
  readonly out: (text: string) => void;
}

/** One pass, from connecting to the exit code. */
export async function runTick(options: TickOptions, context: TickContext): Promise<number> {
  const { log, stop, env, out, version } = context;
  if (options.delay) await pause(options.delay * 1000, undefined, { signal: stop }).catch(() => undefined);
  const deadline = Date.now() + options.timeout * 1000;
  const signal = AbortSignal.any([stop, AbortSignal.timeout(options.timeout * 1000)]);
  const identity = identityFrom(env);
  const page = pageUrlFrom(env);
  if (page.problem) log({ problem: page.problem }, 'commit statuses lead nowhere');
  let kube: Kube | undefined;
  try {
    kube = await connectKube({
      userAgent: `etcd-ratchet/${version}`,
      ...(options.kubeconfig && { kubeconfig: options.kubeconfig }),
    });
    const reach = {
      ...reachOf({ kube, log, holder: identity.holder, signal, deadline }),
      namespace: options.namespace,
      fleet: options.fleet,
      clusters: options.clusters,
    };
    if (options.plan) return await printPlans(options, reach, out);
    if (options.check) {
      const { printChecks } = await import('./checks/check-command.ts');
      return await printChecks(options.check, options.output, reach, out);
    }
    const stopped = stopAsked(kube, options, identity, signal);
    if (await stopped()) {
      log({ outcome: 'none' }, 'the CronJob is suspended: this follow-up does nothing');
      return 0;
    }
    const result = await pass({
      ...reach,
      dryRun: options.dryRun,
      followUp: options.followUp !== undefined,
      waitMs: options.wait * 1000,
      isStopped: stopped,
      ...(page.url && { links: pageLinks(page.url) }),
      onNews: async (news) => {
        if (signal.aborted) log({ problem: String(signal.reason) }, 'the pass was cut short; the next one goes on');
        else await leaveWork(news, options, { ...reach, env, cronJob: identity.cronJob });
      },
    });
    out(render(result, options.output, { requests: kube.requests() }));
    return options.detailedExitcode ? detailedExitCode(result) : 0;
  } catch (error) {
    if (!(error instanceof KubeError)) throw error;
    log({ reason: error.reason, problem: explain(error) }, 'no pass could be made');
    return 1;
  } finally {
    kube?.close();
  }
}

/** Loaded only where it is asked for: a tick simulates nothing. */
async function printPlans(
  { output, detailedExitcode }: TickOptions,
  context: PlanPassContext,
  out: (text: string) => void,
): Promise<number> {
  const [{ planPass }, { planExitCode, renderPlans }] = await Promise.all([
    import('./plan-pass.ts'),
    import('./plan-output.ts'),
  ]);
  const result = await planPass(context);
  out(renderPlans(result, output, { requests: context.kube.requests() }));
  return detailedExitcode ? planExitCode(result) : 0;
}

/** Suspending the CronJob stops no Job that was made from its template: those ask. Who starts a tick by hand means it. */
function stopAsked(
  kube: Kube,
  { followUp, goOn }: TickOptions,
  { cronJob }: Identity,
  signal: AbortSignal,
): () => Promise<boolean> {
  return async () => {
    if (!(followUp || goOn) || !cronJob) return false;
    const { isStopped } = await import('./follow-up.ts');
    return isStopped(kube, cronJob, signal);
  };
}

/** Leaves what remains to a follow-up, where it is worth it. */
async function leaveWork(
  result: PassNews,
  { dryRun, followUp: link, clusters, fleet, goOn: mayGoOn }: TickOptions,
  { cronJob, ...context }: Omit<GoingOn, 'cronJob' | 'link'> & { readonly cronJob: Identity['cronJob'] | undefined },
): Promise<void> {
  if (dryRun || !cronJob || !result.workRemains) return;
  // Started by hand for some objects only: going on is the CronJob's business.
  if (!mayGoOn && (clusters.length > 0 || fleet)) return;
  if (link && !result.moved) {
    context.log({ outcome: 'none' }, 'nothing moved in time: the chain ends here, the next tick goes on');
    return;
  }
  const { chain, number } = link ?? {};
  const { goOn } = await import('./go-on.ts');
  await goOn(result, {
    ...context,
    cronJob,
    isOnce: mayGoOn === true,
    ...(chain !== undefined && number !== undefined && { link: { chain, number } }),
  });
}

function explain(error: KubeError): string {
  if (error.status !== 404) return error.message;
  return `the custom resource definitions of etcd.ratchet.dev are not installed: kubectl apply -k manifests/install (${error.message})`;
}
