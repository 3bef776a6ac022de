import { randomBytes } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import type { EtcdCluster } from '../../manifests/api/etcd-cluster.ts';
import { printable } from '../../manifests/printable.ts';
import { annotations } from '../../manifests/render/names.ts';
import { KubeError, resources } from '../../reconcile/interfaces/kube.ts';
import { type CronJob, jobOf } from '../pass/follow-up/chain.ts';
import { annotate } from './annotate.ts';
import { type Asked, type ExitCode, Refusal } from './command.ts';
import { clusterNamed, dataText, say } from './objects.ts';

/** Where etcd-ratchet is installed: its CronJob's namespace and name. */
export interface Installation {
  readonly namespace: string;
  readonly name: string;
}

export interface ReconcileOptions {
  readonly installation: Installation;
  /** Seconds to wait until a pass has answered; 0: not at all. */
  readonly wait: number;
}

/** Asks for a look now: by an annotation for the next pass, and by a Job of the CronJob if this person may make one. */
export async function reconcile(name: string, asked: Asked, options: ReconcileOptions): Promise<ExitCode> {
  const word = asked.now().toISOString();
  await annotate(name, asked, { [annotations.reconcile]: word });
  asked.err(`${await startJob(name, asked, options)}\n`);
  const facts = { namespace: asked.namespace, name, request: word };
  if (options.wait === 0) {
    if (asked.output !== 'text') asked.out(dataText(facts, asked.output));
    return 0;
  }
  const seen = await until(name, asked, options, ({ status }) => status?.lastHandledReconcileAt === word);
  if (seen.kind === 'answered') {
    const { kind = 'Done', reason = '', message = '' } = seen.cluster.status?.lastDecision ?? {};
    const decision = { kind, reason, message };
    say(asked, printable(`${asked.namespace}/${name}  ${kind}  ${reason}: ${message}`), { ...facts, decision });
    return 0;
  }
  throw new Refusal(`no pass has looked at ${asked.namespace}/${name} within ${options.wait} s: does the CronJob run?`);
}

interface Seen {
  readonly kind: 'answered' | 'late';
  readonly cluster: EtcdCluster;
}

/** The cluster when it is so, or as it is when the time to wait is over. @throws {Refusal} where a person stops it. */
export async function until(
  name: string,
  asked: Asked,
  { wait }: ReconcileOptions,
  isAnswered: (cluster: EtcdCluster) => boolean,
): Promise<Seen> {
  const deadline = performance.now() + wait * 1000;
  for (;;) {
    if (asked.stop.aborted) throw new Refusal('stopped; the pass was asked for, and comes all the same');
    const cluster = await clusterNamed(name, asked);
    if (isAnswered(cluster)) return { kind: 'answered', cluster };
    if (performance.now() >= deadline) return { kind: 'late', cluster };
    await pause(500, undefined, { signal: asked.stop }).catch(() => undefined);
  }
}

/** @returns what became of it, for the person. */
export async function startJob(name: string, asked: Asked, { installation }: ReconcileOptions): Promise<string> {
  const { kube, stop } = asked;
  const place = `${installation.namespace}/${installation.name}`;
  try {
    const cronJob = await kube.get<CronJob>(resources.cronJobs, installation.namespace, installation.name, {
      signal: stop,
    });
    if (!cronJob)
      return `there is no CronJob ${place}: the next pass answers (name the installation by --installation)`;
    if (cronJob.spec.suspend) return `CronJob ${place} is suspended: no pass comes before that is taken back`;
    const job = jobOf(cronJob, {
      suffix: randomBytes(4).toString('hex'),
      labels: {},
      annotations: {},
      args: [`--cluster=${asked.namespace}/${name}`, '--go-on'],
    });
    await kube.create(resources.jobs, job, { signal: stop });
    return `Job ${installation.namespace}/${job.metadata.name} looks now`;
  } catch (error) {
    if (!(error instanceof KubeError) || error.reason !== 'Forbidden') throw error;
    return `you may not start Jobs of CronJob ${place}: its next pass answers`;
  }
}
