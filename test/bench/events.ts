import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Server, startServer } from '../e2e/support/serve.ts';
import { until } from '../e2e/support/until.ts';
import { type Broker, startBroker } from '../support/events/broker.ts';
import { ourBroker } from '../support/events/our-broker.ts';
import { callers } from '../support/webhooks/deliveries.ts';
import { load } from './conditions.ts';
import { namespace, type Stage } from './stage.ts';
import { table } from './table.ts';

/** What brings a push to the clusters. */
interface Way {
  readonly name: string;
  /** What happens right after a push, as the forge or nobody does it. */
  pushed(sha: string): Promise<void>;
}

/** One after the other, of one cluster: what a commit changes. */
const changes = [
  { name: 'bootstrap of 3', spec: { replicas: 3, version: '3.5.35' } },
  { name: '3.5.35 → 3.6.16', spec: { replicas: 3, version: '3.6.16' } },
  { name: '3 → 5 members', spec: { replicas: 5, version: '3.6.16' } },
] as const;

const home = 'etcd-ratchet';
const patienceSeconds = 300;

/**
 * Prints how long a push takes until its commit is a success: by the CronJob alone, by a webhook, and by events alone.
 */
export async function measureEvents(stage: Stage): Promise<void> {
  const rows: string[][] = [];
  const say = (row: string[]) => {
    console.error(row.join('  '));
    rows.push(row);
  };
  say(await measureWay(stage, await byCronJob(stage)));
  await until('no Job is left', async () => !(await jobsAreActive(stage)), { within: 120 });
  say(await measureWay(stage, await byWebhook(stage)));
  await until('no Job is left', async () => !(await jobsAreActive(stage)), { within: 120 });
  const evented = await byEvents(stage);
  try {
    say(await measureWay(stage, evented));
  } finally {
    await evented.parts.disposeAsync();
  }
  console.log('## From push to done: seconds until the commit status is a success\n');
  console.log(
    'One cluster, real etcd, one run each. The CronJob ticks once a minute: how long a push waits for that is chance, and told apart.',
  );
  console.log('Events: Knative itself is played by test/support/events, which tells of every change at once.\n');
  console.log(table([['way', ...changes.map(({ name }) => name)], ...rows]));
  console.log(`\n${load()}`);
}

async function measureWay(stage: Stage, way: Way): Promise<string[]> {
  const name = `by-${way.name.replace(/\W+/g, '-').toLowerCase()}`;
  const row = [way.name];
  for (const change of changes) {
    const started = performance.now();
    const sha = await stage.work.push(`${name}: ${change.name}`, {
      [`clusters/prod/${name}.yaml`]: yaml(name, change.spec),
    });
    await way.pushed(sha);
    const status = () => stage.forge.statusesOf(sha).get('etcd-ratchet/production');
    await until(`${name}: ${change.name}`, async () => status() !== undefined, { within: patienceSeconds });
    const noticed = performance.now();
    await until(`${name}: ${change.name}`, async () => status()?.state === 'success', {
      within: patienceSeconds,
      last: () => JSON.stringify(status()),
    });
    const inSeconds = (from: number, to: number) => ((to - from) / 1000).toFixed(1);
    row.push(`${inSeconds(started, performance.now())} (${inSeconds(started, noticed)} until noticed)`);
  }
  return row;
}

function yaml(name: string, spec: object): string {
  return `apiVersion: etcd.ratchet.dev/v1alpha1
kind: EtcdCluster
metadata: {name: ${name}, namespace: ${namespace}}
spec: ${JSON.stringify({ ...spec, storage: { size: '1Gi' } })}
`;
}

async function byCronJob(stage: Stage): Promise<Way> {
  await schedule(stage, '* * * * *');
  return { name: 'CronJob alone', pushed: async () => undefined };
}

/** The server as the Deployment runs it. The CronJob ticks beside it, as it does where both are installed. */
async function byWebhook(stage: Stage): Promise<Way> {
  const { kubectl } = stage;
  await kubectl(['-n', home, 'create', 'secret', 'generic', 'webhook', '--from-literal=secret=bench']);
  const webhook = { spec: { webhook: { type: 'Generic', secretName: 'webhook' } } };
  await kubectl(['-n', home, 'patch', 'etcdfleet', 'production', '--type=merge', '-p', JSON.stringify(webhook)]);
  const server = await startServer(await environment(stage, { RATCHET_WEBHOOKS: 'Enabled' }));
  return {
    name: 'webhook and Jobs',
    pushed: async (sha) => {
      const { headers, body } = await callers.Generic.send('bench', '', {
        ref: 'refs/heads/main',
        before: '',
        after: sha,
      });
      const response = await fetch(`${server.url}/hooks/${home}/production`, { method: 'POST', headers, body });
      if (response.status !== 202) throw new Error(`${response.status} ${await response.text()}`);
    },
  };
}

/** A clock's event stands for the push; everything after that is a change that is told, or a follow-up by the sink. */
async function byEvents(stage: Stage): Promise<Way & { readonly parts: AsyncDisposableStack }> {
  const parts = new AsyncDisposableStack();
  let server: Server | undefined;
  const target = () => `${server?.url}/events`;
  const broker: Broker = parts.use(
    await startBroker({ kube: stage.kube, namespace, target, annotations: ourBroker() }),
  );
  server = parts.use(await startServer(await environment(stage, { RATCHET_EVENTS: 'Enabled', K_SINK: broker.sink })));
  return { name: 'events alone', pushed: async () => broker.ping(), parts };
}

async function environment(
  { cluster }: Stage,
  more: Readonly<Record<string, string>>,
): Promise<Record<string, string>> {
  // Compiled once, as in the image.
  const NODE_COMPILE_CACHE = join(tmpdir(), 'serve-compile-cache');
  return {
    KUBECONFIG: cluster.kubeconfigPath,
    POD_NAMESPACE: home,
    CRONJOB_NAME: 'etcd-ratchet',
    NODE_COMPILE_CACHE,
    ...more,
  };
}

async function schedule({ kubectl }: Stage, when: string): Promise<void> {
  await kubectl(['-n', home, 'patch', 'cronjob', 'etcd-ratchet', '-p', JSON.stringify({ spec: { schedule: when } })]);
}

async function jobsAreActive({ kubectl }: Stage): Promise<boolean> {
  const active = await kubectl(['-n', home, 'get', 'jobs', '-o', 'jsonpath={.items[*].status.active}']);
  return active.trim() !== '';
}
