import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import type { CheckReport } from '../manifests/api/check-report.ts';
import type { EtcdBackup } from '../manifests/api/etcd-backup.ts';
import type { EtcdCluster } from '../manifests/api/etcd-cluster.ts';
import type { ConfigMap } from '../manifests/kube-types.ts';
import { connectKube } from '../reconcile/clients/kube.ts';
import { resources } from '../reconcile/interfaces/kube.ts';
import { clone } from './demo/clone.ts';
import { enter } from './demo/enter.ts';
import { followForge } from './demo/forge-feed.ts';
import { startGround } from './demo/ground.ts';
import { stay } from './demo/stay.ts';
import { followSteps } from './demo/step-feed.ts';
import { sayTrust } from './demo/trust.ts';
import { makeBackupStore } from './e2e/support/backup-store.ts';
import { accessTo, connectTo } from './e2e/support/client.ts';
import { condition, isReady } from './e2e/support/conditions.ts';

/** The main job, start to end, on real parts: `npm run demo`, and `npm run demo -- --stay` to play on. */

const namespace = 'payments';
const greeting = 'kept by pull request';
/** What a request's plan is called beside its commit. */
const planned = 'etcd-ratchet/production/plan';

const toStay = process.argv.includes('--stay');
const { binaries, narrator, sandbox } = await enter(
  'A Kubernetes cluster, a Git server and a forge, in a namespace of their own',
  toStay,
);
const { directory } = sandbox;
await using ground = await startGround(binaries);
const { cluster, forge } = ground;
const { kubectl } = cluster;
narrator.say('kube-apiserver, controller-manager, scheduler, etcd and three nodes are up');
narrator.say(`the forge is ${forge.title}`);

narrator.chapter('Install: kubectl apply -k manifests/install');
await ground.install();
narrator.say('the CronJob, its RBAC and the fleet "production" are there; nothing of it runs');

const kube = await connectKube({ userAgent: 'demo/0', kubeconfig: cluster.kubeconfigPath });
const feed = followForge(forge, narrator);
const saySteps = followSteps(narrator);
const work = await clone(forge.gitUrl, join(directory, 'clone'), forge.token);

narrator.chapter('git push: four lines of YAML');
const orders = `apiVersion: etcd.ratchet.dev/v1alpha1
kind: EtcdCluster
metadata: {name: orders, namespace: payments}
spec: {replicas: 3, version: 3.6.16, storage: {size: 1Gi}}
`;
narrator.show('cat clusters/prod/orders.yaml', orders);
const first = await work.push('Add the orders cluster', { 'clusters/prod/orders.yaml': orders });
narrator.say(`pushed ${first.slice(0, 7)}`);
feed.watch(first);
await trigger('first');
await follow('orders Ready and the commit a success', async (clusters) => {
  const found = clusters.find(({ metadata }) => metadata.name === 'orders');
  return found !== undefined && isReady(found) && (await isSaid(first, 'etcd-ratchet/production', 'success'));
});

narrator.chapter('What is there now');
narrator.show(
  'kubectl -n payments get etcdclusters -o wide',
  await kubectl(['-n', namespace, 'get', 'etcdclusters', '-o', 'wide']),
);
narrator.show('kubectl -n payments get etcdpeers', await kubectl(['-n', namespace, 'get', 'etcdpeers']));
narrator.show('kubectl -n payments get pods -o wide', await kubectl(['-n', namespace, 'get', 'pods', '-o', 'wide']));
narrator.show('kubectl -n etcd-ratchet get jobs', await kubectl(['-n', 'etcd-ratchet', 'get', 'jobs']));
await members();

narrator.chapter('Who trusts whom');
await sayTrust(kube, namespace, 'orders', narrator);
await writeAndRead();

narrator.chapter('A pull request: etcd 3.7');
const upgraded = orders.replace('version: 3.6.16', 'version: 3.7.3');
narrator.show('git diff main...upgrade', `-${orders.split('\n')[3]}\n+${upgraded.split('\n')[3]}`);
const head = await work.propose('upgrade', 'Upgrade orders to etcd 3.7', { 'clusters/prod/orders.yaml': upgraded });
const request = await forge.open('upgrade', 'Upgrade orders to etcd 3.7');
narrator.say(`opened #${request} of ${head.slice(0, 7)}`);
feed.watch(head);
await trigger('review');
await follow('the plan on the request', () => isSaid(head, planned, 'success'));
const report = `production-check-${head.slice(0, 12)}`;
narrator.show(
  `kubectl -n etcd-ratchet get configmap ${report} -o jsonpath='{.data.report\\.md}'`,
  await kubectl(['-n', 'etcd-ratchet', 'get', 'configmap', report, '-o', String.raw`jsonpath={.data.report\.md}`]),
);
const plan = await plannedSteps(report);

narrator.chapter('Merged: the plan happens');
const before = (await kube.get<EtcdCluster>(resources.clusters, namespace, 'orders'))?.status?.history?.length ?? 0;
const merged = await forge.merge(request);
await work.pull();
narrator.say(`merged #${request} as ${merged.slice(0, 7)}`);
feed.watch(merged);
await trigger('merge');
await follow('orders on etcd 3.7, as planned', async (clusters) => {
  const found = clusters.find(({ metadata }) => metadata.name === 'orders');
  const isThere = found !== undefined && isReady(found) && found.status?.clusterVersion === '3.7.0';
  return isThere && (await isSaid(merged, 'etcd-ratchet/production/payments/orders', 'success'));
});
await sayWhetherAsPlanned(plan, before);
await members();

narrator.chapter('git push: a typing error, next to a good change');
const broken = upgraded.replace('replicas: 3', 'replicsa: 5');
const ads = upgraded.replace('name: orders', 'name: ads').replace('replicas: 3', 'replicas: 1');
narrator.show(
  'git diff',
  `-${upgraded.split('\n')[3]}\n+${broken.split('\n')[3]}\n+++ clusters/prod/ads.yaml (a new cluster of one member)`,
);
const untouched = await generationOf('orders');
const second = await work.push('Grow orders, add ads', {
  'clusters/prod/orders.yaml': broken,
  'clusters/prod/ads.yaml': ads,
});
narrator.say(`pushed ${second.slice(0, 7)}`);
feed.watch(second);
await trigger('second');
await follow('ads Ready and the commit a failure', async (clusters) => {
  const found = clusters.find(({ metadata }) => metadata.name === 'ads');
  return found !== undefined && isReady(found) && (await isSaid(second, 'etcd-ratchet/production', 'failure'));
});
narrator.say(
  (await generationOf('orders')) === untouched
    ? 'orders is exactly as it was'
    : fail('orders was touched by a document that does not parse'),
);
narrator.show(
  'kubectl -n etcd-ratchet get etcdfleets',
  await kubectl(['-n', 'etcd-ratchet', 'get', 'etcdfleets', '-o', 'wide']),
);
narrator.show('kubectl -n payments get etcdclusters', await kubectl(['-n', namespace, 'get', 'etcdclusters']));

narrator.chapter('The typing error is corrected, and a backup asked for');
await makeBackupStore({ kubectl, namespace });
const backup = `apiVersion: etcd.ratchet.dev/v1alpha1
kind: EtcdBackup
metadata: {name: orders-1, namespace: payments}
spec: {clusterName: orders, to: {object: "pvc://backups/{{cluster}}/{{timestamp}}.db"}}
`;
narrator.show('cat clusters/prod/backup.yaml', backup);
const third = await work.push('Back up orders', {
  'clusters/prod/orders.yaml': upgraded,
  'clusters/prod/backup.yaml': backup,
});
narrator.say(`pushed ${third.slice(0, 7)}`);
feed.watch(third);
await trigger('third');
await follow('the backup restored and compared', async () => {
  const found = await kube.get<EtcdBackup>(resources.backups, namespace, 'orders-1');
  return condition(found ?? {}, 'Ready')?.status === 'True';
});
narrator.show('kubectl -n payments get etcdbackups', await kubectl(['-n', namespace, 'get', 'etcdbackups']));

narrator.chapter('Every volume of orders is deleted');
const ours = ['-l', 'etcd.ratchet.dev/cluster=orders'];
await kubectl(['-n', namespace, 'delete', 'pvc', ...ours, '--wait=false']);
await kubectl(['-n', namespace, 'delete', 'pod', ...ours, '--grace-period=0', '--force']);
await trigger('wrecked');
let told = '';
await follow('the loss is told', (clusters) => {
  const found = clusters.find(({ metadata }) => metadata.name === 'orders');
  told = condition(found ?? {}, 'Stalled')?.message ?? '';
  return told.includes('orders-restored');
});
narrator.say(`orders is Stalled: ${told}`);

narrator.chapter('git push: the document that it printed');
const restored = /\{"apiVersion".*\}/.exec(told)?.[0] ?? fail('no document is printed');
const fourth = await work.push('Restore orders', { 'clusters/prod/orders-restored.yaml': `${restored}\n` });
narrator.say(`pushed ${fourth.slice(0, 7)}`);
feed.watch(fourth);
await trigger('fourth');
await follow('orders-restored serves', (clusters) => {
  const found = clusters.find(({ metadata }) => metadata.name === 'orders-restored');
  return condition(found ?? {}, 'Available')?.status === 'True';
});
await members('orders-restored');
await readBack('orders-restored');
narrator.say('the other members join as learners: see them come with npm run demo -- --stay');

narrator.chapter(`Done in ${narrator.seconds.toFixed(1)} s`);
kube.close();
const ideas = `Then look around:

  kubectl ratchet status -A
  kubectl -n payments get etcdclusters.etcd.ratchet.dev,etcdpeers.etcd.ratchet.dev
  git clone "$GIT_URL"

Worth a try: kubectl -n payments delete pod ads-0-0 · kubectl -n payments delete etcdclusters.etcd.ratchet.dev ads (its volumes
stay; the next tick brings it back, data and all) · a version like 3.5.35 (a downgrade, refused by name) · a document with a tab in it.
`;
if (toStay) await stay(ground, binaries, ideas);

/** What a forge's CI would do after a push, instead of waiting for the next minute. */
async function trigger(name: string): Promise<void> {
  await kubectl(['-n', 'etcd-ratchet', 'create', 'job', '--from=cronjob/etcd-ratchet', name]);
}

/** Whether that is the newest that is said of the commit in this context. */
async function isSaid(sha: string, context: string, status: string): Promise<boolean> {
  return (await forge.statusesOf(sha)).find((one) => one.context === context)?.status === status;
}

async function follow(
  what: string,
  arrived: (clusters: readonly EtcdCluster[]) => boolean | Promise<boolean>,
): Promise<void> {
  const deadline = performance.now() + 90_000;
  for (;;) {
    const { items } = await kube.list<EtcdCluster>(resources.clusters, { namespace });
    saySteps(items);
    await feed.say();
    if (await arrived(items)) return;
    if (performance.now() > deadline) {
      console.error(await kubectl(['-n', 'etcd-ratchet', 'describe', 'etcdfleets,jobs']));
      console.error(
        await kubectl([
          '-n',
          'etcd-ratchet',
          'logs',
          '-l',
          'app.kubernetes.io/name=etcd-ratchet',
          '--tail=50',
          '--prefix',
        ]),
      );
      fail(`not within a minute and a half: ${what}`);
    }
    await pause(150);
  }
}

async function plannedSteps(name: string): Promise<readonly string[]> {
  const kept = await kube.get<ConfigMap>(resources.configMaps, 'etcd-ratchet', name);
  const { clusters } = JSON.parse(kept?.data?.['report.json'] ?? fail('no report is kept')) as CheckReport;
  return clusters.flatMap((cluster) => (cluster.planned?.steps ?? []).map(stepLine));
}

async function sayWhetherAsPlanned(plan: readonly string[], before: number): Promise<void> {
  const { status } = (await kube.get<EtcdCluster>(resources.clusters, namespace, 'orders')) ?? {};
  const taken = (status?.history ?? [])
    .slice(before)
    .filter(({ outcome }) => outcome === 'acted')
    .map(stepLine);
  const isSame = taken.join() === plan.join();
  narrator.say(
    isSame
      ? `the ${plan.length} steps of the plan, in its order`
      : `planned: ${plan.join(', ')}; taken: ${taken.join(', ')}`,
  );
}

function stepLine({ action, target = '' }: { readonly action: string; readonly target?: string }): string {
  return `${action} ${target}`;
}

async function members(of = 'orders'): Promise<void> {
  const found = await kube.get<EtcdCluster>(resources.clusters, namespace, of);
  const { clusterID, leader, members: all = [] } = found?.status ?? {};
  narrator.say(`etcd cluster ${clusterID}:`);
  for (const { name, id, role, version } of all) {
    narrator.say(`  ${name}  ${id}  ${role}  ${version}${name === leader ? '  leader' : ''}`);
  }
  const available = condition(found ?? {}, 'Available');
  narrator.say(`Available: ${available?.status} (${available?.message})`);
}

/** Through the Service, as an application would. */
async function writeAndRead(): Promise<void> {
  const access = await accessTo(kube, namespace, 'orders');
  const client = connectTo(access, 5000);
  await client.put('greeting').value(greeting);
  const value = await client.get('greeting').string();
  client.close();
  narrator.say(`put and get at ${access.url} with Secret orders-client-tls: greeting = "${value}"`);
  if (value !== greeting) fail('the value read is not the value written');
  const { url, serverName, credentials } = access;
  const stranger = connectTo(
    { url, serverName, ...(credentials && { credentials: { rootCertificate: credentials.rootCertificate } }) },
    2000,
  );
  const letIn = await stranger.get('greeting').then(
    () => true,
    () => false,
  );
  stranger.close();
  narrator.say(letIn ? fail('somebody without a certificate was let in') : 'the same without a certificate: refused');
}

/** What was written before the backup, from another cluster. */
async function readBack(of: string): Promise<void> {
  const access = await accessTo(kube, namespace, of);
  const client = connectTo(access, 5000);
  const value = await client.get('greeting').string();
  client.close();
  narrator.say(`get at ${access.url}: greeting = "${value}"`);
  if (value !== greeting) fail('the value read is not the value written');
}

async function generationOf(name: string): Promise<string> {
  const found = await kube.get<EtcdCluster>(resources.clusters, namespace, name);
  return `${found?.metadata.uid} ${found?.metadata.generation}`;
}

function fail(message: string): never {
  throw new Error(message);
}
