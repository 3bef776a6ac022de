import type { EtcdCluster } from '../../manifests/api/etcd-cluster.ts';
import type { Secret } from '../../manifests/kube-types.ts';
import { memberLeaves } from '../../manifests/render/certificate-names.ts';
import { annotations } from '../../manifests/render/names.ts';
import { type KubeObject, resources } from '../../reconcile/interfaces/kube.ts';
import { issueLeaf } from '../../reconcile/x509/issue.ts';
import { authorityOf, leafData, trustOf } from '../../reconcile/x509/secret-data.ts';
import { due } from '../e2e/support/certificates.ts';
import { accessTo } from '../e2e/support/client.ts';
import { startFollower } from '../e2e/support/follower.ts';
import { until } from '../e2e/support/until.ts';
import { load } from './conditions.ts';
import { rest } from './rest.ts';
import type { Stage } from './stage.ts';
import { aim, table } from './table.ts';

interface Place {
  readonly namespace: string;
  readonly name: string;
}

/** One invocation, a process of its own: what it computes must not hold up the writer, which lives in this one. */
export type Tick = () => Promise<unknown>;

interface Figures {
  readonly seconds: number;
  readonly acknowledged: number;
  readonly lost: number;
  readonly longestGap: number;
}

const rotationLimit = 100;

/** Prints the longest gap between two acknowledged writes while leaves are renewed, and while CAs are rotated. */
export async function measureGaps(stage: Stage, { tick, ...place }: Place & { readonly tick: Tick }): Promise<void> {
  const before = `${await rest()}\n${load()}`;
  const renewal = await during(stage, place, 'renewal', () => renew(stage, place, tick));
  const noise = await during(stage, place, 'noise', async () => {
    const end = performance.now() + Math.max(5, renewal.seconds) * 1000;
    await until('a quiet period', async () => performance.now() > end, { within: 300 });
  });
  const rotation = await during(stage, place, 'rotation', () => rotate(stage, place, tick));
  const row = (what: string, { seconds, acknowledged, lost, longestGap }: Figures) => [
    what,
    seconds.toFixed(1),
    String(acknowledged),
    String(lost),
    longestGap.toFixed(0),
  ];
  console.log('## Three members under one writer, one write after the other through the Service\n');
  console.log(`Before: ${before}\n`);
  console.log(
    table([
      ['', 's', 'writes', 'lost', 'longest gap ms'],
      row('nothing happens', noise),
      row('all leaves renewed', renewal),
      row('both CAs rotated, every member restarted once', rotation),
    ]),
  );
  console.log('');
  console.log(aim('renewal: no gap above twice the noise', renewal.longestGap <= 2 * noise.longestGap));
  console.log(aim(`rotation: no gap of ${rotationLimit} ms`, rotation.longestGap < rotationLimit));
  console.log(aim('no acknowledged write lost', renewal.lost + rotation.lost + noise.lost === 0));
  console.log(`After: ${load()}\n`);
}

async function during(
  { kube }: Stage,
  { namespace, name }: Place,
  prefix: string,
  what: () => Promise<void>,
): Promise<Figures> {
  const writer = await startFollower(() => accessTo(kube, namespace, name), prefix);
  await until('writes', async () => writer.acknowledged > 50);
  // The first connection is none of what is measured.
  writer.gap();
  const started = performance.now();
  await what();
  const seconds = (performance.now() - started) / 1000;
  const { milliseconds: longestGap } = writer.gap();
  const { acknowledged, lost } = await writer.finish();
  return { seconds, acknowledged, lost: lost.length, longestGap };
}

/** Puts leaves there of which two thirds are over, and steps until new ones are served. */
async function renew(stage: Stage, { namespace, name }: Place, tick: Tick): Promise<void> {
  const { kube } = stage;
  const secret = (of: string) => kube.get<Secret>(resources.secrets, namespace, of);
  for (const ordinal of [0, 1, 2]) {
    for (const plan of memberLeaves({ namespace, cluster: name }, `${name}-${ordinal}`)) {
      const [authority, found] = await Promise.all([secret(`${name}-${plan.authority}-ca`), secret(plan.secretName)]);
      if (!authority?.data || !found) throw new Error(`there is no Secret ${plan.secretName}, or not its CA`);
      const leaf = await issueLeaf(plan, authorityOf(authority.data), due());
      await kube.update(resources.secrets, { ...found, data: leafData(leaf, trustOf(authority.data)) });
    }
  }
  // What was changed behind its back is looked at as soon as something calls for it: here, a word of the person.
  await tickUntil(stage, { namespace, name }, tick, renewed);
}

function renewed({ status }: EtcdCluster): boolean {
  const last = status?.history?.at(-1);
  return last?.reason === 'RenewingCertificates' && status?.lastDecision?.kind === 'Done';
}

async function rotate(stage: Stage, place: Place, tick: Tick): Promise<void> {
  const { kubectl, kube } = stage;
  const uids = async () =>
    (await kube.list<KubeObject>(resources.pods, { namespace: place.namespace })).items.map(
      ({ metadata }) => metadata.uid,
    );
  const before = await uids();
  const request = `bench-${Date.now()}`;
  await kubectl([
    '-n',
    place.namespace,
    'annotate',
    'etcdcluster',
    place.name,
    `${annotations.rotateCertificates}=${request}`,
  ]);
  await tickUntil(
    stage,
    place,
    tick,
    ({ status }) => status?.certificates?.rotation === request && status.lastDecision?.kind === 'Done',
  );
  const kept = (await uids()).filter((uid) => before.includes(uid));
  if (kept.length > 0) throw new Error(`${kept.length} members were not started anew`);
}

async function tickUntil(
  { kube }: Stage,
  { namespace, name }: Place,
  tick: Tick,
  enough: (cluster: EtcdCluster) => boolean,
): Promise<void> {
  let seen = '';
  await until(
    `${name} as expected`,
    async () => {
      const cluster = await kube.get<EtcdCluster>(resources.clusters, namespace, name);
      if (!cluster) return false;
      if (enough(cluster)) return true;
      seen = JSON.stringify(cluster.status?.lastDecision);
      await tick();
      return false;
    },
    { within: 300, every: 300, last: () => seen },
  );
}
