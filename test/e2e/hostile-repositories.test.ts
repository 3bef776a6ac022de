import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { type TestContext, test } from 'node:test';
import type { EtcdFleet } from '../../manifests/api/etcd-fleet.ts';
import type { EtcdPeer } from '../../manifests/api/etcd-peer.ts';
import type { Pod } from '../../manifests/kube-types.ts';
import { resources } from '../../reconcile/interfaces/kube.ts';
import { peakMebibytes } from '../support/peak-memory.ts';
import { condition, isReady } from './support/conditions.ts';
import { fleetObject } from './support/furniture.ts';
import { installNamespaced } from './support/installed.ts';
import { scene } from './support/scene.ts';
import { clusterYaml } from './support/specs.ts';
import { until } from './support/until.ts';

/**
 * The process node looks each 100 ms whether a container's first process holds more anonymous memory than its limit. A
 * cgroup also counts page cache and memory of the kernel, and misses no peak. So the kernel's high-water mark of each
 * tick, which counts mapped files, has the same limit here; it misses a tick's last 50 ms.
 */
const stage = scene({ host: '10.244.0.1', furnish: installNamespaced });

const limitMiB = 512;
/** More than a busy machine needs. */
const mostTicks = 10;
const strangers = Array.from({ length: 10 }, (_, index) => `hostile-${index}`);
/** The repository with its file in a pull request from a fork. */
const forked = 'forked';
let forkedHead = '';

/** 100 MiB that git packs into 100 KiB; no two repositories have the same. */
function dump(mark: string): Readonly<Record<string, string>> {
  return { 'clusters/dump.yaml': `${'\0'.repeat(100 * 1024 * 1024)}${mark}` };
}

async function addFleetOf(name: string): Promise<void> {
  const { git, kube, namespace, forge } = stage();
  const repository = await git.createRepository(`strangers/${name}`);
  await repository.commit({ 'clusters/a.yaml': clusterYaml(name, namespace, { suspend: true }) });
  const branch = name === forked ? 'request-1' : 'main';
  if (name === forked) await repository.git('branch', branch, 'main');
  const head = await repository.commit(dump(name), { branch, keep: true });
  if (name === forked) {
    forkedHead = head;
    forge.pulls.push({ number: 1, title: 'Add a dump', headSha: head, fork: true });
  }
  const spec = name === forked ? { checks: { forks: 'Enabled' } } : { forge: undefined };
  const fleet = fleetObject(namespace, repository.url, forge.url, spec);
  await kube.create(resources.fleets, { ...fleet, metadata: { name, namespace } });
}

interface Followed extends Disposable {
  /** The most that a tick of this scene had, in MiB. */
  peak(): number;
}

function followPeaks(): Followed {
  let peak = 0;
  const timer = setInterval(() => {
    for (const entry of readdirSync('/proc')) if (/^\d+$/.test(entry)) peak = Math.max(peak, peakOf(Number(entry)));
  }, 50);
  return { peak: () => peak, [Symbol.dispose]: () => clearInterval(timer) };
}

/** 0 where it is no tick of this scene, or has just ended. */
function peakOf(pid: number): number {
  try {
    if (!readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes('\0/app/tick.js')) return 0;
    const variables = readFileSync(`/proc/${pid}/environ`, 'utf8').split('\0');
    return variables.includes(`POD_NAMESPACE=${stage().namespace}`) ? peakMebibytes(pid) : 0;
  } catch {
    return 0;
  }
}

/** Runs a Job of the CronJob's own template to its end. */
async function runTick(name: string): Promise<void> {
  const { kubectl, namespace, list } = stage();
  await kubectl(['-n', namespace, 'create', 'job', '--from=cronjob/etcd-ratchet', name]);
  const pod = await until(
    `the pod of ${name} ended`,
    async () => {
      const pods = await list<Pod>(resources.pods);
      const found = pods.find(({ metadata }) => metadata.labels?.['batch.kubernetes.io/job-name'] === name);
      return ['Succeeded', 'Failed'].includes(found?.status?.phase ?? '') ? found : undefined;
    },
    { within: 150 },
  );
  assert.equal(pod.spec.containers[0]?.resources?.limits?.memory, `${limitMiB}Mi`);
  const ended = pod.status?.containerStatuses?.map(({ state }) => state?.terminated);
  assert.deepEqual(
    ended?.map((one) => [one?.exitCode, one?.reason]),
    [[0, 'Completed']],
    await kubectl(['-n', namespace, 'logs', pod.metadata.name, '--tail=20']),
  );
}

/** Says of each repository whether its file was refused. @throws {AssertionError} where a fleet says nothing of it */
async function refused(): Promise<readonly boolean[]> {
  const { list } = stage();
  const fleets = new Map((await list<EtcdFleet>(resources.fleets)).map((one) => [one.metadata.name, one]));
  return strangers.map((name) => {
    const { status } = fleets.get(name) ?? {};
    const isNamed = status?.problems?.some(({ file }) => file === 'clusters/dump.yaml') ?? false;
    // Not all of a gigabyte is read within any time: a later tick goes on.
    const isLater = condition({ ...(status && { status }) }, 'SourceReady')?.status === 'False';
    assert.ok(isNamed || isLater, `${name}: ${JSON.stringify(status)}`);
    return isNamed;
  });
}

/** Whether the request from the fork has its verdict. */
function isForkRefused(): boolean {
  return stage().forge.statusesOf(forkedHead).get(`etcd-ratchet/${forked}/plan`)?.state === 'failure';
}

test('ticks within their memory limit outlive ten repositories with files of 100 MiB', async (t) => {
  const { push, namespace, kubectl, list, cluster, get } = stage();
  const one = (name: string) => clusterYaml(name, namespace, { replicas: 1 });
  await kubectl(['apply', '--server-side', '-f', '-'], { stdin: one('there') });
  await push({ 'clusters/pushed.yaml': one('pushed') });
  for (const name of [...strangers, forked]) await addFleetOf(name);
  using followed = followPeaks();
  await runTick('tick-0');
  const peers = (await list<EtcdPeer>(resources.peers)).map(({ metadata }) => metadata.name);
  assert.ok(peers.includes('there-0'), 'a cluster of others has its step in that very tick');
  assert.ok(await get(resources.clusters, 'pushed'), "another repository's commit is applied in that very tick");
  assertBounded(t, followed);

  for (let tick = 1; !((await refused()).includes(true) && isForkRefused()); tick += 1) {
    assert.ok(tick < mostTicks, 'neither a file nor the request is refused');
    await runTick(`tick-${tick}`);
  }
  t.diagnostic(`${(await refused()).filter(Boolean).length} of ${strangers.length} files are refused`);
  for (const name of ['there', 'pushed'])
    await until(`${name} is Ready`, async () => isReady(await cluster(name)), { within: 120 });
  for (const { metadata, status } of await list<Pod>(resources.pods))
    assert.notEqual(status?.phase, 'Failed', metadata.name);
  assertBounded(t, followed);
});

function assertBounded(t: TestContext, followed: Followed): void {
  const peak = followed.peak();
  t.diagnostic(`peak ${peak.toFixed(0)} MiB`);
  assert.ok(peak > 0 && peak < limitMiB, `${peak} MiB`);
}
