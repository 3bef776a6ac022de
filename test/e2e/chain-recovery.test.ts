import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { EtcdBackup } from '../../manifests/api/etcd-backup.ts';
import type { EtcdCluster } from '../../manifests/api/etcd-cluster.ts';
import type { Pod } from '../../manifests/kube-types.ts';
import { annotations } from '../../manifests/render/names.ts';
import { snapshotOf } from '../../manifests/render/restored-cluster.ts';
import { resources } from '../../reconcile/interfaces/kube.ts';
import { approvalAskedBy, approve } from './support/approvals.ts';
import { makeBackupStore } from './support/backup-store.ts';
import { createBackup, reasonOf } from './support/backups.ts';
import { isReady, isWhole } from './support/conditions.ts';
import { installNamespaced } from './support/installed.ts';
import { readKey, writeKey } from './support/keys.ts';
import { node } from './support/node.ts';
import { scene } from './support/scene.ts';
import { clusterYaml } from './support/specs.ts';
import { until } from './support/until.ts';

/** No tick comes but those that a test starts: one for what a person did. Follow-ups go on from there to the end. */
const stage = scene({ host: '10.244.0.1', furnish: installNamespaced });

/** Seconds. A minute's tick that was needed on the way would take it beyond. */
const limits = { recovery: 120, rollback: 150, restore: 120 } as const;

async function trigger(name: string): Promise<void> {
  const { kubectl, namespace } = stage();
  await kubectl(['-n', namespace, 'create', 'job', '--from=cronjob/etcd-ratchet', name]);
}

async function seen(name: string, check: (cluster: EtcdCluster) => boolean, within: number): Promise<EtcdCluster> {
  let last = '';
  return until(
    `${name} as expected`,
    async () => {
      const found = await stage().get<EtcdCluster>(resources.clusters, name);
      last = JSON.stringify(found?.status?.lastDecision);
      return found && check(found) ? found : undefined;
    },
    { within, every: 250, last: () => last },
  );
}

/** From one trigger to the end, and the longest time between two actions on the way. */
async function carriedOut(what: keyof typeof limits, name: string, check: (cluster: EtcdCluster) => boolean) {
  const started = performance.now();
  const before = (await stage().get<EtcdCluster>(resources.clusters, name))?.status?.history?.length ?? 0;
  await trigger(what);
  const whole = await seen(name, check, limits[what]);
  const times = (whole.status?.history ?? []).slice(before).map(({ at }) => Date.parse(at) / 1000);
  const gaps = times.slice(1).map((time, index) => time - (times[index] ?? time));
  const took = ((performance.now() - started) / 1000).toFixed(1);
  console.log(
    `# ${what}: ${took} s to Converged in ${times.length} actions; ${Math.max(...gaps)} s between two at most`,
  );
  return whole;
}

const asks = (annotation: string) => (cluster: EtcdCluster) =>
  cluster.status?.approvals?.some((asked) => asked.annotation === annotation) === true;

test('follow-ups alone take a lost quorum from its approval to Converged', async () => {
  const { push, namespace, kubectl } = stage();
  await push({ 'clusters/lost.yaml': clusterYaml('lost', namespace) });
  await trigger('birth');
  await seen('lost', isWhole, 120);
  await kubectl(['-n', namespace, 'delete', 'pvc', 'lost-1', 'lost-2', '--wait=false']);
  await kubectl(['-n', namespace, 'delete', 'pod', 'lost-1-0', 'lost-2-0', '--grace-period=0', '--force']);
  await trigger('loss');
  const stalled = await seen('lost', asks(annotations.recoverQuorum), 120);
  await approve(stage(), 'lost', approvalAskedBy(stalled));
  const whole = await carriedOut('recovery', 'lost', isWhole);
  assert.deepEqual(whole.status?.gaveUp, [stalled.status?.clusterID]);
});

test('the same for a rollback, and for a restore beside it', async () => {
  const { push, namespace, access, get } = stage();
  await makeBackupStore(stage());
  await push({ 'clusters/orders.yaml': clusterYaml('orders', namespace) });
  await trigger('source');
  const born = await seen('orders', isWhole, 120);
  const old = born.status?.clusterID ?? assert.fail('no cluster ID');
  await writeKey(await access('orders'), 'balance', 'right');
  await createBackup(stage(), 'now', {
    clusterName: 'orders',
    to: { object: 'pvc://backups/{{cluster}}/{{timestamp}}.db' },
    verify: 'Trailer',
  });
  await trigger('backup');
  const backup = await until('the backup is taken', async () => {
    const found = await get<EtcdBackup>(resources.backups, 'now');
    return found && reasonOf(found) === 'Taken' ? found : undefined;
  });
  const snapshot = snapshotOf(backup) ?? assert.fail('there is no object');
  await writeKey(await access('orders'), 'balance', 'wrong');

  await push({ 'clusters/orders.yaml': clusterYaml('orders', namespace, { rollback: { clusterID: old, snapshot } }) });
  await trigger('asked');
  await approve(stage(), 'orders', approvalAskedBy(await seen('orders', asks(annotations.rollBack), 60)));
  await carriedOut('rollback', 'orders', (one) => isWhole(one) && one.status?.clusterID !== old);
  assert.equal(await readKey(await access('orders'), 'balance'), 'right');

  await push({ 'clusters/beside.yaml': clusterYaml('beside', namespace, { bootstrap: { snapshot } }) });
  await carriedOut('restore', 'beside', isWhole);
  assert.equal(await readKey(await access('beside'), 'balance'), 'right');
});

interface LogLine {
  readonly cluster?: string;
  readonly decision?: string;
  readonly msg?: string;
}

async function logOf(pod: string): Promise<readonly LogLine[]> {
  const { kubectl, namespace } = stage();
  const text = await kubectl(['-n', namespace, 'logs', pod]);
  // The last line may be half-written.
  return text
    .split('\n')
    .slice(0, -1)
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as LogLine);
}

/** The pod of a follow-up that waits for this cluster: one of an earlier test may still be there, and about to end. */
async function podThatWaitsFor(name: string): Promise<string> {
  const { list, namespace } = stage();
  return until(`a follow-up waits for ${name}`, async () => {
    const running = (await list<Pod>(resources.pods)).filter(({ metadata, status }) => {
      return /^etcd-ratchet-[0-9a-f]+-\d+-/.test(metadata.name) && status?.phase === 'Running';
    });
    for (const { metadata } of running) {
      const own = (await logOf(metadata.name)).filter(({ cluster }) => cluster === `${namespace}/${name}`);
      if (own.at(-1)?.decision === 'wait') return metadata.name;
    }
    return undefined;
  });
}

for (const [what, lose] of [
  ['gets no answer from the API server for a while', cutOff],
  ['is killed', kill],
] as const) {
  test(`a follow-up that ${what} goes on, without a tick`, async () => {
    const { push, namespace, kubectl } = stage();
    const name = `lone-${lose.name.toLowerCase()}`;
    const label = `ratchet.test/${name}`;
    const podTemplate = { spec: { nodeSelector: { [label]: 'true' } } };
    await push({ [`clusters/${name}.yaml`]: clusterYaml(name, namespace, { podTemplate, replicas: 1 }) });
    await trigger(name);
    await lose(await podThatWaitsFor(name));
    await kubectl(['label', 'nodes', '--all', `${label}=true`]);
    const started = performance.now();
    await seen(name, isReady, 90);
    console.log(`# ${name}: ${((performance.now() - started) / 1000).toFixed(1)} s to Ready`);
  });
}

async function cutOff(pod: string): Promise<void> {
  const { namespace } = stage();
  await node().unplugPod(namespace, pod);
  let log: readonly LogLine[] = [];
  const asksAgain = async () => {
    log = await logOf(pod);
    return log.some(({ msg }) => msg === 'the API server gave no answer; asking again');
  };
  // It waits for 45 s at most before it asks again, and a request has 10 s.
  await until('it asks again', asksAgain, { within: 70, every: 1000, last: () => JSON.stringify(log.at(-1)) });
  await node().replugPod(namespace, pod);
}

/** It leaves nothing behind: Kubernetes starts it anew. */
async function kill(pod: string): Promise<void> {
  await node().killContainer(stage().namespace, pod);
}
