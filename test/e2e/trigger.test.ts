import assert from 'node:assert/strict';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import type { Job } from '../../functions/pass/follow-up/chain.ts';
import type { EtcdCluster } from '../../manifests/api/etcd-cluster.ts';
import type { PersistentVolumeClaim } from '../../manifests/kube-types.ts';
import { annotations } from '../../manifests/render/names.ts';
import { resources } from '../../reconcile/interfaces/kube.ts';
import { type ApiProxy, type Fate, startApiProxy } from './support/api-proxy.ts';
import { isReady } from './support/conditions.ts';
import { installNamespaced } from './support/installed.ts';
import { lookNow } from './support/look-now.ts';
import { scene } from './support/scene.ts';
import { clusterYaml } from './support/specs.ts';
import { tick as run, type TickResult } from './support/tick.ts';
import { until } from './support/until.ts';

/** The pod network's gateway: where the installed CronJob's pods find what runs beside the local cluster. */
const stage = scene({ host: '10.244.0.1', furnish: installNamespaced });

/** What a webhook or a person does after a push, instead of waiting for the next minute. */
async function trigger(name: string): Promise<void> {
  const { kubectl, namespace } = stage();
  await kubectl(['-n', namespace, 'create', 'job', '--from=cronjob/etcd-ratchet', name]);
}

function is(type: 'Complete' | 'Failed', { status }: Job): boolean {
  return status?.conditions?.some((condition) => condition.type === type && condition.status === 'True') ?? false;
}

async function completed(name: string): Promise<void> {
  const job = await until(`Job ${name} ended`, async () => {
    const found = await stage().get<Job>(resources.jobs, name);
    return found && (is('Complete', found) || is('Failed', found)) ? found : undefined;
  });
  assert.ok(is('Complete', job), await logOf(name));
}

function logOf(job: string): Promise<string> {
  return stage().kubectl(['-n', stage().namespace, 'logs', `job/${job}`]);
}

async function followUps(): Promise<readonly Job[]> {
  const jobs = await stage().list<Job>(resources.jobs);
  return jobs.filter(({ metadata }) => metadata.labels?.['etcd.ratchet.dev/follow-up'] === 'true');
}

/** With the log of a Job that failed, and not only what was awaited then: a tick that died is what stops a chain. */
async function ready(name: string): Promise<EtcdCluster> {
  let last = '';
  return until(
    `${name} Ready, with nobody but the Jobs at work`,
    async () => {
      const failed = (await stage().list<Job>(resources.jobs)).find((job) => is('Failed', job))?.metadata.name;
      assert.equal(failed, undefined, failed && (await logOf(failed)));
      const found = await stage().get<EtcdCluster>(resources.clusters, name);
      last = JSON.stringify(found?.status?.lastDecision);
      return found && isReady(found) ? found : undefined;
    },
    { within: 150, last: () => last },
  );
}

async function suspendCronJob(suspend: boolean): Promise<void> {
  const patch = JSON.stringify({ spec: { suspend } });
  await stage().kubectl(['-n', stage().namespace, 'patch', 'cronjob', 'etcd-ratchet', '--type=merge', '-p', patch]);
}

test('one trigger after a push is enough: follow-up Jobs make three members Ready', async () => {
  const { push, namespace, forge } = stage();
  const sha = await push({ 'clusters/led.yaml': clusterYaml('led', namespace) });
  await trigger('first');
  const cluster = await ready('led');
  assert.equal(cluster.status?.readyReplicas, 3);
  await until('a success', async () => forge.statusesOf(sha).get('etcd-ratchet/fleet')?.state === 'success');

  const jobs = await followUps();
  assert.ok(jobs.length > 0);
  assert.deepEqual(
    [
      ...new Set(
        jobs.map(({ metadata }) => metadata.ownerReferences?.map(({ kind, name }) => `${kind}/${name}`).join()),
      ),
    ],
    ['CronJob/etcd-ratchet'],
  );
  await until('the end of the chain', async () => (await followUps()).every((job) => is('Complete', job)));
  const log = await logOf('first');
  assert.match(log, /a follow-up goes on/);
  assert.doesNotMatch(log, /forge-token/, 'the token is not in the log');
});

test('while the CronJob is suspended a tick makes one step and no follow-up', async () => {
  const { push, namespace, cluster } = stage();
  await suspendCronJob(true);
  const before = new Set((await followUps()).map(({ metadata }) => metadata.name));
  await push({
    'clusters/led.yaml': clusterYaml('led', namespace),
    'clusters/paused.yaml': clusterYaml('paused', namespace, { replicas: 1 }),
  });
  await trigger('suspended');
  await completed('suspended');
  assert.match(await logOf('suspended'), /is suspended/);
  assert.deepEqual(
    (await followUps()).map(({ metadata }) => metadata.name).filter((name) => !before.has(name)),
    [],
  );
  assert.equal(isReady(await cluster('paused')), false, 'one step is not a whole birth');

  const seen = await cluster('paused');
  const { code, stderr } = await run({
    args: ['--namespace', namespace, '--follow-up=late.1'],
    env: { KUBECONFIG: process.env.KUBECONFIG ?? '', ...podOf(namespace) },
  });
  assert.equal(code, 0, stderr);
  assert.match(stderr, /this follow-up does nothing/);
  assert.equal(
    (await cluster('paused')).metadata.resourceVersion,
    seen.metadata.resourceVersion,
    'made before, started after',
  );

  await suspendCronJob(false);
  await trigger('resumed');
  await ready('paused');
});

function podOf(namespace: string): Readonly<Record<string, string>> {
  return { POD_NAMESPACE: namespace, POD_NAME: 'late', POD_UID: 'late', CRONJOB_NAME: 'etcd-ratchet' };
}

async function throughProxy(
  fate: Fate['kind'] & ('pass' | 'not-served'),
  args: readonly string[],
): Promise<TickResult & Pick<ApiProxy, 'requests' | 'writes'>> {
  const { namespace } = stage();
  const file = join(tmpdir(), `${namespace}-proxied.kubeconfig`);
  await using proxy = await startApiProxy(process.env.KUBECONFIG ?? '', file, ({ path }) =>
    path.startsWith('/apis/etcd.ratchet.dev/') ? { kind: fate } : { kind: 'pass' },
  );
  const result = await run({ args: ['--namespace', namespace, ...args], env: { KUBECONFIG: proxy.kubeconfig } });
  return { ...result, requests: proxy.requests, writes: proxy.writes };
}

test('without the custom resource definitions it is exit code 1, and how to install them', async () => {
  const { code, stderr, writes } = await throughProxy('not-served', []);
  assert.equal(code, 1, stderr);
  assert.match(
    stderr,
    /custom resource definitions of etcd\.ratchet\.dev are not installed: kubectl apply -k manifests\/install/,
  );
  assert.deepEqual(writes, []);
});

/** The tick of ours that leaves nothing to do, with what it asked of Git. */
async function quietTick(): Promise<Awaited<ReturnType<typeof throughProxy>> & { readonly asked: number }> {
  const { git } = stage();
  const before = git.requests.length;
  const ended = await throughProxy('pass', ['--detailed-exitcode']);
  return { ...ended, asked: git.requests.length - before };
}

const targetsOf = (writes: readonly string[]) =>
  writes.map((write) => write.replace(/\?.*/, '').replace(/.*\/(?=[^/]+\/status$)/, '')).toSorted();

test('a tick without changes asks Git once, and the API server 10 times, for all clusters', async () => {
  const { tick, tickUntil, list } = stage();
  const names = ['led', 'paused'];
  // Until then its follow-ups ask as well.
  await until('the end of the chain', async () => (await followUps()).every((job) => is('Complete', job)));
  for (const name of names) await tickUntil(name, isReady);
  // The Jobs may not read PersistentVolumes; this process may, and notes what they could not.
  await until('every disk is noted, and nothing is left to do', async () => {
    for (const name of names) await lookNow(stage(), name);
    const { code } = await tick('--detailed-exitcode');
    const claims = await list<PersistentVolumeClaim>(resources.volumeClaims);
    const ours = claims.filter(({ metadata }) => /^(led|paused)-/.test(metadata.name));
    return code === 0 && ours.every(({ metadata }) => metadata.annotations?.[annotations.disk]?.includes(' '));
  });

  // On a busy machine a member may not answer in time, which a tick has to report: one that saw all well is counted.
  const full = await until('full looks that leave nothing to do', async () => {
    for (const name of names) await lookNow(stage(), name);
    const ended = await quietTick();
    return ended.code === 0 && ended;
  });
  assert.equal(full.asked, 1);
  const ours = full.requests.filter((request) => /\/(secrets\/(led|paused)-|persistentvolumes\/)/.test(request));
  assert.equal(new Set(ours).size, ours.length, 'each Secret and each disk once');
  assert.ok(full.requests.length - ours.length <= 17, full.requests.join('\n'));
  assert.deepEqual(targetsOf(full.writes), ['fleet/status', 'led/status', 'paused/status']);

  const skipped = await until('looks that are skipped', async () => {
    const ended = await quietTick();
    return ended.code === 0 && ended.writes.length === 1 && ended;
  });
  assert.equal(skipped.asked, 1);
  assert.ok(skipped.requests.length <= 10, skipped.requests.join('\n'));
  assert.deepEqual(targetsOf(skipped.writes), ['fleet/status']);
});

test('a dry run prints what it would do and the next step of each cluster, and writes nothing', async () => {
  const { push, namespace, get, kubectl } = stage();
  await push({
    'clusters/led.yaml': clusterYaml('led', namespace),
    'clusters/paused.yaml': clusterYaml('paused', namespace, { replicas: 1 }),
    'clusters/planned.yaml': clusterYaml('planned', namespace, { replicas: 1 }),
  });
  await kubectl(['apply', '--server-side', '-f', '-'], { stdin: clusterYaml('unborn', namespace, { replicas: 1 }) });
  const { code, stdout, stderr, writes } = await throughProxy('pass', ['--dry-run']);
  assert.equal(code, 0, stderr);
  assert.deepEqual(writes, []);
  assert.match(stdout, new RegExp(`would create ${namespace}/planned`));
  assert.match(stdout, new RegExp(`cluster +${namespace}/unborn +act +[A-Z]\\w+: `));
  assert.match(stdout, new RegExp(`cluster +${namespace}/led +done +`));
  assert.equal(await get(resources.clusters, 'planned'), undefined);
});

test('a plan prints every step to convergence, also for unapplied commits, and writes nothing', async () => {
  const { push, namespace, get } = stage();
  await push({
    'clusters/led.yaml': clusterYaml('led', namespace),
    'clusters/paused.yaml': clusterYaml('paused', namespace, { replicas: 1 }),
    'clusters/foreseen.yaml': clusterYaml('foreseen', namespace),
  });
  const { code, stdout, stderr, writes } = await throughProxy('pass', ['--plan']);
  assert.equal(code, 0, stderr);
  assert.deepEqual(writes, []);
  assert.match(stdout, new RegExp(`${namespace}/foreseen is created  2 steps: \\+3 members\n#  ACTION +TARGET`));
  assert.match(stdout, new RegExp(`${namespace}/led  no steps\n→ Converged: `));
  assert.equal(await get(resources.clusters, 'foreseen'), undefined);
});

test('--detailed-exitcode tells that work remains by 4, and that a person is needed by 3', async () => {
  const { tick, coldTick, push, namespace } = stage();
  assert.equal((await coldTick('--dry-run')).code, 0, 'not unless it is asked for');
  const remaining = await coldTick('--detailed-exitcode');
  assert.equal(remaining.code, 4, remaining.stdout);
  let last = '';
  const isDone = async () => {
    const { code, stdout } = await tick('--detailed-exitcode', '--wait=2');
    last = stdout;
    return code === 0;
  };
  await until('everything born', isDone, { within: 150, last: () => last });
  await push({ 'clusters/led.yaml': clusterYaml('led', namespace, { version: '3.5.35' }) });
  // On a busy machine Git may answer after the steps, which then see the change in the next pass.
  const isStalled = async () => {
    const { code, stdout } = await coldTick('--detailed-exitcode');
    last = stdout;
    if (code !== 3) assert.equal(code, 4, stdout);
    return code === 3;
  };
  await until('a person is needed', isStalled, { within: 60, last: () => last });
  assert.equal((await coldTick()).code, 0);
});

test('--output json is one JSON value with an entry for each cluster, and nothing else on stdout', async () => {
  const { coldTick, list } = stage();
  const { stdout, code } = await coldTick('--output', 'json');
  assert.equal(code, 0);
  const said: unknown = JSON.parse(stdout);
  assert.ok(typeof said === 'object' && said !== null && 'clusters' in said && Array.isArray(said.clusters));
  const names = (await list<EtcdCluster>(resources.clusters)).map(({ metadata }) => metadata.name);
  assert.deepEqual(said.clusters.map(({ name }: { readonly name: string }) => name).toSorted(), names.toSorted());
  for (const { decision } of said.clusters) assert.match(decision.reason, /^[A-Z]\w+$/);
});
