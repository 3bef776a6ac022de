import type { EtcdCluster } from '../../manifests/api/etcd-cluster.ts';
import type { Pod } from '../../manifests/kube-types.ts';
import { resources } from '../../reconcile/kube.ts';
import { isReady } from '../e2e/support/conditions.ts';
import { until } from '../e2e/support/until.ts';
import { threeByHand } from './by-hand.ts';
import { load } from './conditions.ts';
import { median } from './measure.ts';
import { plainMembers } from './plain-members.ts';
import { clusterYaml, isPodReady, namespace, podsOf, remove, type Stage } from './stage.ts';
import { aim, table } from './table.ts';

export interface BirthOptions {
  /** The binary that by-hand members run. */
  readonly etcd: string;
  readonly directory: string;
  readonly times: number;
}

/** What is seen of a birth, in this order. */
const stages = [
  'its Job runs',
  'EtcdCluster there',
  'volumes recorded',
  'StatefulSets there',
  'containers run',
  'pods Ready',
  'EtcdCluster Ready',
] as const;
type Stages = Readonly<Record<(typeof stages)[number], number>>;

/** Seconds since the push. */
interface Birth {
  readonly cluster: EtcdCluster;
  readonly seen: Stages;
}

/** How many times as long a push may take as the same members without us. */
const limit = 1.4;

/** Prints how long a push takes to become three Ready members, beside the same members without us. */
export async function measureBirths(stage: Stage, { etcd, directory, times }: BirthOptions): Promise<void> {
  const births: Birth[] = [];
  const plain: number[] = [];
  const byHand: number[] = [];
  // In turn, so that a slow minute of the machine is shared by all three.
  for (let n = 1; n <= times; n++) {
    const birth = await pushOne(stage, n);
    births.push(birth);
    plain.push(await plainMembers(stage, birth.cluster.metadata.name, `plain-${n}`));
    await remove(stage, birth.cluster);
    byHand.push(await threeByHand(etcd, directory));
  }
  const self = (seconds: number) => seconds;
  const ready = median(births, ({ seen }) => seen['EtcdCluster Ready']).seen;
  const own = median(plain, self);
  const row = (what: string, seconds: number) => [what, seconds.toFixed(2), `${(seconds / own).toFixed(1)} ×`];
  console.log(`## From git push to three Ready members, seconds, median of ${times}\n`);
  console.log(
    table([
      ['', 's', 'of the third'],
      row('three etcd processes started by hand, static bootstrap', median(byHand, self)),
      row('git push, Job, follow-up Jobs: three Ready pods', median(births, podsReady).seen['pods Ready']),
      row('the same pods, volumes and Services applied at once by kubectl: three Ready pods', own),
      row('git push, Job, follow-up Jobs: EtcdCluster Ready (sealed, client Service open)', ready['EtcdCluster Ready']),
    ]),
  );
  console.log(
    `\nThe third is by hand plus the pods' own start: scheduling, volumes, containers, probes, etcd's bootstrap.`,
  );
  const when = stages.map((stage) => `${stage} ${median(births, ({ seen }) => seen[stage]).seen[stage].toFixed(1)}`);
  console.log(`Seconds from the push to each stage: ${when.join(', ')}.`);
  console.log(aim(`push to three Ready within ${limit} × that`, podsReady(median(births, podsReady)) <= limit * own));
  console.log(`${load()}\n`);
}

async function pushOne({ kube, kubectl, work }: Stage, n: number): Promise<Birth> {
  const name = `birth-${n}`;
  const started = performance.now();
  const since = () => (performance.now() - started) / 1000;
  await work.push(`Add ${name}`, { 'clusters/prod/birth.yaml': clusterYaml(name, 3) });
  // What a forge's CI would do after a push, instead of waiting for the next minute.
  await kubectl(['-n', 'etcd-ratchet', 'create', 'job', '--from=cronjob/etcd-ratchet', name]);
  const seen: Partial<Record<keyof Stages, number>> = {};
  return until(
    `${name} Ready`,
    async () => {
      const [jobs, cluster, volumes, sets, pods] = await Promise.all([
        kube.list<Pod>(resources.pods, { namespace: 'etcd-ratchet', labelSelector: `job-name=${name}` }),
        kube.get<EtcdCluster>(resources.clusters, namespace, name),
        kube.list(resources.volumeClaims, { namespace, labelSelector: labels(name) }),
        kube.list(resources.statefulSets, { namespace, labelSelector: labels(name) }),
        podsOf(kube, namespace, name),
      ]);
      const now: Readonly<Record<keyof Stages, boolean>> = {
        'its Job runs': jobs.items.some(runs),
        'EtcdCluster there': cluster !== undefined,
        'volumes recorded': volumes.items.length === 3,
        'StatefulSets there': sets.items.length === 3,
        'containers run': pods.length === 3 && pods.every(runs),
        'pods Ready': pods.length === 3 && pods.every(isPodReady),
        'EtcdCluster Ready': cluster !== undefined && isReady(cluster),
      };
      for (const stage of stages) if (now[stage]) seen[stage] ??= since();
      return cluster && isComplete(seen) ? { cluster, seen } : undefined;
    },
    { within: 180 },
  );
}

function podsReady({ seen }: Birth): number {
  return seen['pods Ready'];
}

function labels(cluster: string): string {
  return `etcd.ratchet.dev/cluster=${cluster}`;
}

function runs({ status }: Pick<Pod, 'status'>): boolean {
  return status?.containerStatuses?.some(({ state }) => state?.running ?? state?.terminated) === true;
}

function isComplete(seen: Partial<Stages>): seen is Stages {
  return stages.every((stage) => seen[stage] !== undefined);
}
