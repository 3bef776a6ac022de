import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { test } from 'node:test';
import { until } from '../../e2e/support/until.ts';
import { controlNode, startProcessNode } from '../../support/cluster/node/index.ts';
import type { Node, Pod } from '../../support/cluster/node/wire.ts';
import { adminAccess, clusterForTests, forever, helpers, isReady, scriptPod } from './cluster.ts';

const cluster = await clusterForTests();
const { apply, get, pod, podWhere, node: inProcess } = await helpers(cluster);
const node = controlNode(inProcess.controlSocket);

const server = `require('http').createServer((request, response) => response.end()).listen(8080);`;
const probed = { readinessProbe: { httpGet: { path: '/', port: 8080 }, periodSeconds: 1, failureThreshold: 1 } };
const restarts = (seen: Pod) => seen.status?.containerStatuses?.[0]?.restartCount;
const nodeReady = (seen: Node) => seen.status?.conditions?.find(({ type }) => type === 'Ready')?.status;

/** Processes whose command line has this mark: what really runs, whatever any status says. */
function processesMarked(mark: string): number {
  return readdirSync('/proc').filter((pid) => {
    if (!/^\d+$/.test(pid)) return false;
    try {
      return (
        readFileSync(`/proc/${pid}/cmdline`, 'utf8').startsWith('node\0') &&
        readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes(mark)
      );
    } catch {
      return false;
    }
  }).length;
}

/** A pod without a probe is Ready when its process runs; that becomes the script in its own time. */
function untilRuns(mark: string): Promise<true> {
  return until(`the script with ${mark} to run`, () => processesMarked(mark) === 1);
}

test('a frozen pod is found silent, and is back when it is thawed', async () => {
  await apply(scriptPod('frozen', server, {}, probed));
  await podWhere('frozen', isReady);
  await node.freezePod('default', 'frozen');
  await podWhere('frozen', (seen) => !isReady(seen));
  await node.thawPod('default', 'frozen');
  const thawed = await podWhere('frozen', isReady);
  assert.equal(restarts(thawed), 0);
});

test('a container that holds more than its memory limit is killed, and says so as kubelet does', async () => {
  const limits = { resources: { limits: { memory: '64Mi' } } };
  const greedy = `const held = []; setInterval(() => held.push(Buffer.alloc(8 << 20, 1)), 20);`;
  await apply(scriptPod('greedy', greedy, {}, limits));
  const killed = await podWhere('greedy', (seen) => (restarts(seen) ?? 0) > 0);
  const ended = killed.status?.containerStatuses?.[0]?.lastState?.terminated;
  assert.deepEqual([ended?.exitCode, ended?.reason], [137, 'OOMKilled']);
});

test('a container finds its memory limit where a runtime shows that of its cgroup', async () => {
  const limits = { resources: { limits: { memory: '256Mi' } } };
  const script = `console.log(process.constrainedMemory() / 2 ** 20)`;
  await apply(scriptPod('limited', script, { restartPolicy: 'Never' }, limits));
  await podWhere('limited', ({ status }) => status?.phase === 'Succeeded');
  assert.equal(await inProcess.logs('default', 'limited'), '256\n');
});

test('a container that is squeezed is killed until it is given its memory back', async () => {
  await apply(scriptPod('squeezed', forever));
  await podWhere('squeezed', isReady);
  await node.squeezeContainer('default', 'squeezed', 'main', 1 << 20);
  await podWhere('squeezed', (seen) => (restarts(seen) ?? 0) > 0);
  await node.squeezeContainer('default', 'squeezed', 'main', 0);
  const back = await podWhere('squeezed', isReady);
  assert.equal(back.status?.containerStatuses?.[0]?.lastState?.terminated?.reason, 'OOMKilled');
});

test('an unplugged pod is unreachable while its process goes on', async () => {
  await apply(scriptPod('unplugged', server, {}, probed));
  await podWhere('unplugged', isReady);
  await node.unplugPod('default', 'unplugged');
  await podWhere('unplugged', (seen) => !isReady(seen));
  await node.replugPod('default', 'unplugged');
  assert.equal(restarts(await podWhere('unplugged', isReady)), 0);
});

test('all pods of a kind are killed at once, and come back by themselves', async () => {
  const several = [1, 2, 3].map((n) => ({
    ...scriptPod(`many-${n}`, forever),
    metadata: { name: `many-${n}`, labels: { kind: 'many' } },
  }));
  await apply(...several);
  for (const n of [1, 2, 3]) await podWhere(`many-${n}`, isReady);
  assert.equal(await node.killAllPods('default', { kind: 'many' }), 3);
  for (const n of [1, 2, 3]) await podWhere(`many-${n}`, (seen) => restarts(seen) === 1 && isReady(seen));
});

test('a lost node is noticed, and its pods run again when it is back', async () => {
  await apply(scriptPod('lost', `/* lost-mark */ ${forever}`));
  const { spec } = await podWhere('lost', isReady);
  const name = spec.nodeName ?? '';
  await untilRuns('lost-mark');
  await node.loseNode(name);
  assert.equal(processesMarked('lost-mark'), 0);
  await until('the node to be missed', async () => nodeReady(await get<Node>('node', name)) === 'Unknown', {
    within: 120,
  });
  await podWhere('lost', (seen) => !isReady(seen));
  await node.restoreNode(name);
  await until('the node to be back', async () => nodeReady(await get<Node>('node', name)) === 'True');
  const back = await podWhere('lost', (seen) => isReady(seen) && restarts(seen) === 1);
  assert.equal(back.status?.containerStatuses?.[0]?.lastState?.terminated?.exitCode, 137);
  await untilRuns('lost-mark');
});

test('on a node that is cut off, a deleted pod runs on until the node hears of it', async () => {
  await apply(scriptPod('cut', `/* cut-mark */ ${forever}`));
  const { spec } = await podWhere('cut', isReady);
  const name = spec.nodeName ?? '';
  await untilRuns('cut-mark');
  await node.cutNode(name);
  await cluster.kubectl(['delete', 'pod', 'cut', '-n', 'default', '--force', '--grace-period=0']);
  await assert.rejects(pod('cut'), /NotFound|not found/);
  assert.equal(processesMarked('cut-mark'), 1);
  await node.restoreNode(name);
  await until('the process to end', async () => processesMarked('cut-mark') === 0);
});

test('what is not there is said so', async () => {
  await assert.rejects(node.killContainer('default', 'nobody'), /there is no pod default\/nobody/);
  await assert.rejects(node.loseNode('node-99'), /there is no node node-99: there are node-1, node-2, node-3/);
});

test('nothing is left when the process node stops, and its pods run again when it starts anew', async () => {
  await apply(scriptPod('last', `/* last-mark */ ${forever}`));
  await podWhere('last', isReady);
  await untilRuns('last-mark');
  await inProcess.stop();
  assert.equal(processesMarked('last-mark'), 0);
  const mounts = readFileSync('/proc/self/mountinfo', 'utf8').split('\n');
  assert.deepEqual(
    mounts.filter((line) => line.includes('/node/pods/')),
    [],
  );

  const again = await startProcessNode({
    apiServer: await adminAccess(cluster),
    dir: `${cluster.directory}/node`,
    nodes: 3,
    binaries: { etcd: {}, etcdutl: {} },
    checkout: process.cwd(),
    log: { debug: () => undefined, info: () => undefined, warn: () => undefined },
  });
  try {
    const back = await podWhere('last', (seen) => isReady(seen) && restarts(seen) === 1);
    assert.equal(back.status?.containerStatuses?.[0]?.lastState?.terminated?.exitCode, 137);
    await untilRuns('last-mark');
  } finally {
    await again.stop();
  }
});
