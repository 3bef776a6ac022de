import type { EtcdCluster } from '../../manifests/api/etcd-cluster.ts';
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

/** Seconds since the push. */
interface Birth {
  readonly cluster: EtcdCluster;
  readonly podsReady: number;
  readonly clusterReady: number;
}

/** How many times as long a push may take as the same members without us. */
const limit = 3;

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
  const ready = median(births, ({ clusterReady }) => clusterReady);
  const own = median(plain, self);
  const row = (what: string, seconds: number) => [what, seconds.toFixed(2), `${(seconds / own).toFixed(1)} ×`];
  console.log(`## From git push to three Ready members, seconds, median of ${times}\n`);
  console.log(
    table([
      ['', 's', 'of the third'],
      row('three etcd processes started by hand, static bootstrap', median(byHand, self)),
      row('git push, Job, follow-up Jobs: three Ready pods', median(births, ({ podsReady }) => podsReady).podsReady),
      row('the same pods, volumes and Services applied at once by kubectl: three Ready pods', own),
      row('git push, Job, follow-up Jobs: EtcdCluster Ready (sealed, client Service open)', ready.clusterReady),
    ]),
  );
  console.log(
    `\nThe third is by hand plus the pods' own start: scheduling, volumes, containers, probes, etcd's bootstrap.`,
  );
  console.log(aim(`push to Ready within ${limit} × that`, ready.clusterReady <= limit * own));
  console.log(`${load()}\n`);
}

async function pushOne({ kube, kubectl, work }: Stage, n: number): Promise<Birth> {
  const name = `birth-${n}`;
  const started = performance.now();
  const since = () => (performance.now() - started) / 1000;
  await work.push(`Add ${name}`, { 'clusters/prod/birth.yaml': clusterYaml(name, 3) });
  // What a forge's CI would do after a push, instead of waiting for the next minute.
  await kubectl(['-n', 'etcd-ratchet', 'create', 'job', '--from=cronjob/etcd-ratchet', name]);
  let podsReady: number | undefined;
  return until(
    `${name} Ready`,
    async () => {
      const [pods, cluster] = await Promise.all([
        podsOf(kube, namespace, name),
        kube.get<EtcdCluster>(resources.clusters, namespace, name),
      ]);
      if (pods.length === 3 && pods.every(isPodReady)) podsReady ??= since();
      return cluster && isReady(cluster) && podsReady !== undefined
        ? { cluster, podsReady, clusterReady: since() }
        : undefined;
    },
    { within: 180 },
  );
}
