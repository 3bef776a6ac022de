import { handOver } from '../../functions/serve/hand-over.ts';
import type { EtcdCluster } from '../../manifests/api/etcd-cluster.ts';
import type { EtcdFleet } from '../../manifests/api/etcd-fleet.ts';
import type { Pod } from '../../manifests/kube-types.ts';
import { type Resource, resources } from '../../reconcile/interfaces/kube.ts';
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

/** Stages of a birth, in the order in which they are seen. */
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

async function pushOne({ kube, work }: Stage, n: number): Promise<Birth> {
  const name = `birth-${n}`;
  const [fleet] = (await kube.list<EtcdFleet>(resources.fleets, {})).items;
  if (!fleet) throw new Error('the stage has no fleet');
  const started = performance.now();
  const since = () => (performance.now() - started) / 1000;
  const body = Buffer.from(await work.push(`Add ${name}`, { 'clusters/prod/birth.yaml': clusterYaml(name, 3) }));
  // As the webhook server, once it has seen that the forge's signature is good.
  const cronJob = { namespace: 'etcd-ratchet', name: 'etcd-ratchet' };
  const signal = AbortSignal.timeout(10_000);
  const handed = await handOver({ fleet, id: name, body, reason: 'a push' }, { kube, cronJob, signal });
  if (handed.kind !== 'accepted') throw new Error(`the push became no Job: ${handed.kind}`);

  const pods = () => podsOf(kube, namespace, name);
  const cluster = () => kube.get<EtcdCluster>(resources.clusters, namespace, name);
  const there = async (resource: Resource) =>
    (await kube.list(resource, { namespace, labelSelector: labels(name) })).items.length === 3;
  const looks: Readonly<Record<keyof Stages, () => Promise<boolean>>> = {
    'its Job runs': async () => {
      const jobPods = { namespace: cronJob.namespace, labelSelector: `job-name=${handed.job}` };
      return (await kube.list<Pod>(resources.pods, jobPods)).items.some(runs);
    },
    'EtcdCluster there': async () => (await cluster()) !== undefined,
    'volumes recorded': () => there(resources.volumeClaims),
    'StatefulSets there': () => there(resources.statefulSets),
    'containers run': async () => isEach(await pods(), runs),
    'pods Ready': async () => isEach(await pods(), isPodReady),
    'EtcdCluster Ready': async () => {
      const found = await cluster();
      return found !== undefined && isReady(found);
    },
  };
  const seen: Partial<Record<keyof Stages, number>> = {};
  // One after the other: to look for all at once takes processor time from what is measured.
  for (const stage of stages) {
    await until(`${name}: ${stage}`, looks[stage], { within: 180, every: 50 });
    seen[stage] = since();
  }
  const born = await cluster();
  if (!born || !isComplete(seen)) throw new Error(`${name} has gone`);
  return { cluster: born, seen };
}

function isEach(pods: readonly Pod[], is: (pod: Pod) => boolean): boolean {
  return pods.length === 3 && pods.every(is);
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
