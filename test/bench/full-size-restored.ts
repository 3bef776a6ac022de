import type { EtcdCluster } from '../../manifests/api/etcd-cluster.ts';
import type { Job, Pod } from '../../manifests/kube-types.ts';
import { restoreJobName } from '../../manifests/render/names.ts';
import { resources } from '../../reconcile/interfaces/kube.ts';
import { isReady } from '../e2e/support/conditions.ts';
import { until } from '../e2e/support/until.ts';
import { serves } from './backup-by-hand.ts';
import { version } from './backup-stage.ts';
import type { Sizes } from './full-size-by-hand.ts';
import { isPodReady, namespace, podsOf, type Stage } from './stage.ts';
import { trace } from './trace.ts';

/** Moments of a birth from a snapshot, in the order in which they are seen. */
export const moments = [
  'an invocation runs',
  'restore Job made',
  'snapshot fetched and checked',
  'restored by etcdutl',
  'restore Job done',
  'first member starts',
  'first Ready',
  'second starts',
  'second Ready',
  'third starts',
  'third Ready',
  'EtcdCluster Ready',
] as const;
type Moment = (typeof moments)[number];

export interface Restored extends Sizes {
  /** Seconds since the apply. */
  readonly seen: Readonly<Record<Moment, number>>;
}

export interface Wanted {
  readonly name: string;
  /** Of each volume. */
  readonly size: string;
  readonly keys: number;
  readonly object: string;
  /** Print all that is seen of it. */
  readonly traced: boolean;
}

/** Of namespace etcd-ratchet, as its owner would make it who does not wait for the next tick. */
const invocations = 'etcd-ratchet';

/** Applies an EtcdCluster of three that begins with a snapshot, and a Job of the CronJob's; then it only looks. */
export async function bearRestored({ kube, kubectl }: Stage, wanted: Wanted): Promise<Restored> {
  const { name, size, keys, object, traced } = wanted;
  const document = {
    apiVersion: 'etcd.ratchet.dev/v1alpha1',
    kind: 'EtcdCluster',
    metadata: { name, namespace },
    spec: { replicas: 3, version, storage: { size }, tls: { mode: 'Disabled' }, bootstrap: { snapshot: { object } } },
  };
  const stdin = JSON.stringify(document);
  const started = performance.now();
  const since = () => (performance.now() - started) / 1000;
  const watching = traced ? await trace(kube, [namespace, invocations], started) : undefined;
  await kubectl(['apply', '--server-side', '-f', '-'], { stdin });
  await kubectl(['-n', invocations, 'create', 'job', `look-at-${name}`, `--from=cronjob/${invocations}`]);

  const jobName = restoreJobName(`${name}-0`);
  const member = async (ordinal: number) =>
    (await podsOf(kube, namespace, name)).find((pod) => pod.metadata.name === `${name}-${ordinal}-0`);
  const restorePods = async () =>
    (await kube.list<Pod>(resources.pods, { namespace, labelSelector: `job-name=${jobName}` })).items;
  const hasEnded = async (index: number) =>
    (await restorePods()).some(({ status }) => status?.initContainerStatuses?.[index]?.state?.terminated !== undefined);
  const starts = async (ordinal: number) =>
    (await member(ordinal))?.status?.containerStatuses?.some(({ state }) => state?.running) === true;
  const serving = async (ordinal: number) => {
    const pod = await member(ordinal);
    if (!pod || !isPodReady(pod)) return false;
    await serves(`http://${pod.status?.podIP}:2379`, keys);
    return true;
  };
  const looks: Readonly<Record<Moment, () => Promise<boolean>>> = {
    'an invocation runs': async () => {
      const labelSelector = `job-name=look-at-${name}`;
      const { items } = await kube.list<Pod>(resources.pods, { namespace: invocations, labelSelector });
      return items.some(({ status }) => status?.phase !== undefined && status.phase !== 'Pending');
    },
    'restore Job made': async () => (await kube.get<Job>(resources.jobs, namespace, jobName)) !== undefined,
    'snapshot fetched and checked': () => hasEnded(0),
    'restored by etcdutl': () => hasEnded(1),
    'restore Job done': async () => {
      const job = await kube.get<Job>(resources.jobs, namespace, jobName);
      return job === undefined || (job.status?.succeeded ?? 0) > 0;
    },
    'first member starts': () => starts(0),
    'first Ready': () => serving(0),
    'second starts': () => starts(1),
    'second Ready': () => serving(1),
    'third starts': () => starts(2),
    'third Ready': () => serving(2),
    'EtcdCluster Ready': async () => {
      const found = await kube.get<EtcdCluster>(resources.clusters, namespace, name);
      return found !== undefined && isReady(found);
    },
  };
  const seen = {} as Record<Moment, number>;
  // One after the other: to look for all at once takes processor time from what is measured.
  for (const moment of moments) {
    await until(`${name}: ${moment}`, looks[moment], { within: 600, every: 50 });
    seen[moment] = since();
  }
  if (watching) console.log(`## All that was seen of ${name}, seconds\n\n${watching.stop().join('\n')}\n`);
  return { seen, first: seen['first Ready'], full: seen['third Ready'] };
}
