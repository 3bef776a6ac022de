import { randomBytes } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import type { Job, Pod } from '../../manifests/kube-types.ts';
import { resources } from '../../reconcile/interfaces/kube.ts';
import { parsePlans, type ShownCluster } from '../page/check-report.ts';
import { type CronJob, jobOf } from '../pass/follow-up/chain.ts';
import { type Asked, Refusal } from './command.ts';
import type { Installation } from './reconcile.ts';
import type { ReadLog } from './support-bundle.ts';

/** Milliseconds for the Job: its image may have to be pulled. */
const patience = 180_000;

/**
 * The plan of a Job of the installation, which reaches the members. It takes the right to make Jobs there and to read
 * their logs; the Job has the installation's rights. @throws {Refusal} without such a CronJob, or a plan in time.
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
  await kube.create(resources.jobs, job, { signal: stop });
  err(`Job ${namespace}/${job.metadata.name} plans\n`);
  await ended(job.metadata.name, asked, namespace);
  const labelSelector = `batch.kubernetes.io/job-name=${job.metadata.name}`;
  const { items } = await kube.list<Pod>(resources.pods, { namespace, labelSelector, limit: 1, signal: stop });
  const pod = items[0]?.metadata.name;
  const log = pod === undefined ? '' : await readLog(pod, { ...asked, namespace });
  const plan = plansIn(log).find((one) => one.namespace === asked.namespace && one.name === name);
  if (plan) return plan;
  throw new Refusal(
    `Job ${namespace}/${job.metadata.name} printed no plan; see: kubectl -n ${namespace} logs job/${job.metadata.name}`,
  );
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
    `Job ${namespace}/${job} did not end within ${patience / 1000} s; see: kubectl -n ${namespace} describe job ${job}`,
  );
}

/** Of the lines of a log, each behind the name of its container, the last that is a plan. */
function plansIn(log: string): readonly ShownCluster[] {
  const lines = log.split('\n').map((line) => line.replace(/^\[[^\]]*\] /, ''));
  return lines.map(parsePlans).findLast((plans) => plans !== undefined) ?? [];
}
