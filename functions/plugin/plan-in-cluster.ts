import { randomBytes } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { abortAfter } from '../../manifests/abort-after.ts';
import type { Job, Pod } from '../../manifests/kube-types.ts';
import { printable } from '../../manifests/printable.ts';
import { KubeError, resources } from '../../reconcile/interfaces/kube.ts';
import { parsePlans, type ShownCluster } from '../page/check-report.ts';
import { type CronJob, jobOf } from '../pass/follow-up/chain.ts';
import { type Asked, Refusal } from './command.ts';
import type { Installation } from './reconcile.ts';
import type { ReadLog } from './support-bundle.ts';

/** Milliseconds for the Job: its image may have to be pulled. */
const patience = 180_000;

/** Milliseconds to remove it, also after Ctrl-C. */
const removal = 5_000;

/**
 * The plan of a Job of the installation, which reaches the members: one of the CronJob's, with its account and its
 * bound in time, that only looks. It takes the right to make and delete Jobs there, and to read their logs.
 * @throws {Refusal} without such a CronJob, or a plan in time
 */
export async function planInCluster(
  name: string,
  asked: Asked,
  { installation, readLog }: { readonly installation: Installation; readonly readLog: ReadLog },
): Promise<ShownCluster> {
  const { kube, stop, err } = asked;
  const { namespace } = installation;
  const place = `${namespace}/${installation.name}`;
  const cronJob = await kube.get<CronJob>(resources.cronJobs, namespace, installation.name, { signal: stop });
  if (!cronJob) throw new Refusal(`there is no CronJob ${place}: name the installation by --installation`);
  const args = ['--plan', `--cluster=${asked.namespace}/${name}`, '--output=json'];
  const suffix = `plan-${randomBytes(4).toString('hex')}`;
  const job = jobOf(cronJob, { suffix, labels: {}, annotations: {}, args, retries: 0 });
  const called = job.metadata.name;
  try {
    await kube.create(resources.jobs, job, { signal: stop });
    err(`Job ${namespace}/${called} plans\n`);
    await ended(called, asked, namespace);
    const log = await logOf(called, { ...asked, namespace }, readLog);
    const plan = plansIn(log).find((one) => one.namespace === asked.namespace && one.name === name);
    if (plan) return plan;
    const last = log.trim().split('\n').at(-1) ?? '';
    throw new Refusal(`Job ${namespace}/${called} printed no plan${last && `; its last words: ${last.slice(0, 300)}`}`);
  } finally {
    await removed(called, { ...asked, namespace });
  }
}

async function logOf(job: string, asked: Asked, readLog: ReadLog): Promise<string> {
  const { kube, namespace, stop } = asked;
  const labelSelector = `batch.kubernetes.io/job-name=${job}`;
  const { items } = await kube.list<Pod>(resources.pods, { namespace, labelSelector, limit: 1, signal: stop });
  const pod = items[0]?.metadata.name;
  return pod === undefined ? '' : readLog(pod, asked);
}

/** Also one whose creation was cut short. What can't be removed now ends and goes by itself. */
async function removed(job: string, { kube, namespace, err }: Asked): Promise<void> {
  const signal = abortAfter(removal);
  try {
    const uid = (await kube.get<Job>(resources.jobs, namespace, job, { signal }))?.metadata.uid;
    if (uid === undefined) return;
    await kube.delete(resources.jobs, namespace, job, { preconditions: { uid }, propagation: 'Background', signal });
  } catch (error) {
    if (!(error instanceof KubeError)) throw error;
    err(`Job ${namespace}/${job} is left to end by itself: ${printable(error.message)}\n`);
  }
}

async function ended(job: string, { kube, stop }: Asked, namespace: string): Promise<void> {
  const deadline = performance.now() + patience;
  while (performance.now() < deadline) {
    if (stop.aborted) throw new Refusal('stopped');
    const found = await kube.get<Job>(resources.jobs, namespace, job, { signal: stop });
    if (!found) throw new Refusal(`Job ${namespace}/${job} was deleted`);
    const { conditions = [] } = found.status ?? {};
    if (conditions.some(({ type, status }) => ['Complete', 'Failed'].includes(type) && status === 'True')) return;
    await pause(500, undefined, { signal: stop }).catch(() => undefined);
  }
  throw new Refusal(
    `Job ${namespace}/${job} did not end within ${patience / 1000} s, and is removed; see: kubectl -n ${namespace} get events`,
  );
}

/** Of the lines of a log, each behind the name of its container, the last that is a plan. */
function plansIn(log: string): readonly ShownCluster[] {
  const lines = log.split('\n').map((line) => line.replace(/^\[[^\]]*\] /, ''));
  return lines.map(parsePlans).findLast((plans) => plans !== undefined) ?? [];
}
