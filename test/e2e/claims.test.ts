import assert from 'node:assert/strict';
import { once } from 'node:events';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { parse } from 'yaml';
import type { EtcdCluster } from '../../manifests/api/etcd-cluster.ts';
import type { EtcdPeer } from '../../manifests/api/etcd-peer.ts';
import type { PersistentVolumeClaim } from '../../manifests/kube-types.ts';
import { annotations, peerUrl } from '../../manifests/render/names.ts';
import { etcdPeer } from '../../manifests/render/peer.ts';
import { resources } from '../../reconcile/interfaces/kube.ts';
import { startApiProxy } from './support/api-proxy.ts';
import { isReady } from './support/conditions.ts';
import { stepOnce } from './support/in-process.ts';
import { scene } from './support/scene.ts';
import { clusterYaml } from './support/specs.ts';
import { startTick } from './support/tick.ts';
import { until } from './support/until.ts';

const stage = scene({ fleet: false });

async function apply(name: string, fields: Readonly<Record<string, unknown>> = {}): Promise<void> {
  const { kubectl, namespace } = stage();
  await kubectl(['apply', '--server-side', '-f', '-'], { stdin: clusterYaml(name, namespace, fields) });
}

/** Of one member, for which no node has the memory. */
function unschedulable(name: string, namespace: string): EtcdCluster {
  return parse(clusterYaml(name, namespace, { replicas: 1, resources: { requests: { memory: '900Ti' } } }));
}

test('of two invocations at once, never do two act from one observation: 100 rounds', async () => {
  const { kube, namespace, get } = stage();
  let acted = 0;
  for (let round = 0; round < 100; round++) {
    // Every round there is something to do, and both see it.
    if (round % 2 === 0) {
      await kube.create<EtcdCluster>(resources.clusters, unschedulable(`raced-${round}`, namespace));
      const last = await get<EtcdCluster>(resources.clusters, `raced-${round - 2}`);
      const { uid = '' } = last?.metadata ?? {};
      if (last) await kube.delete(resources.clusters, namespace, last.metadata.name, { preconditions: { uid } });
    }
    const name = `raced-${round - (round % 2)}`;
    const before = await get<EtcdCluster>(resources.clusters, name);
    const clusters = before ? [before] : [];
    const results = (await Promise.all([stepOnce(kube, clusters), stepOnce(kube, clusters)])).flat();
    const actors = results.filter(({ outcome }) => outcome === 'acted' || outcome === 'failed');
    assert.ok(
      actors.length <= 1,
      `round ${round}: both acted: ${JSON.stringify(actors.map(({ decision }) => decision))}`,
    );
    acted += actors.length;
  }
  assert.ok(acted >= 40, `only ${acted} of 100 rounds had anything to do`);
});

test('one that freezes after its lease, and wakes after another took over, changes nothing', async () => {
  const { namespace, list, tickUntil, get } = stage();
  await apply('frozen');
  const kubeconfig = process.env.KUBECONFIG ?? '';
  const { promise: woken, resolve: wake } = Promise.withResolvers<void>();
  const { promise: reached, resolve: reach } = Promise.withResolvers<void>();
  let held = 0;
  // It is stopped on its way to the first volume: the lease is written, nothing of the birth is.
  await using proxy = await startApiProxy(
    kubeconfig,
    join(tmpdir(), `${namespace}-frozen.kubeconfig`),
    ({ method, path }) => {
      if (method !== 'POST' || !path.includes('/persistentvolumeclaims')) return { kind: 'pass' };
      held += 1;
      reach();
      return { kind: 'hold', until: woken };
    },
  );
  const frozen = startTick({
    args: ['--namespace', namespace, '--cluster', `${namespace}/frozen`],
    env: { KUBECONFIG: proxy.kubeconfig },
  });
  const exit = once(frozen, 'exit');
  const first = await Promise.race([reached.then(() => 'holds'), exit.then(() => 'has ended')]);
  assert.equal(first, 'holds', 'on its way to the first volume');
  frozen.kill('SIGSTOP');
  assert.equal((await get<EtcdCluster>(resources.clusters, 'frozen'))?.status?.step?.action, 'prepare-members');

  const ready = await tickUntil('frozen', isReady, 120);
  const before = await fingerprint();
  frozen.kill('SIGCONT');
  wake();
  await exit;
  assert.ok(held > 0);
  assert.deepEqual(await fingerprint(), before);
  assert.equal((await stage().cluster('frozen')).status?.clusterID, ready.status?.clusterID);

  async function fingerprint() {
    const claims = await list<PersistentVolumeClaim>(resources.volumeClaims);
    return claims
      .filter(({ metadata }) => metadata.name.startsWith('frozen-'))
      .map(({ metadata }) => [
        metadata.name,
        metadata.uid,
        metadata.annotations?.[annotations.token],
        metadata.annotations?.[annotations.volumeState],
      ]);
  }
});

test('what arrives late for a resource that was deleted is collected, and its namesake goes on', async () => {
  const { kube, namespace, kubectl, get, tickUntil } = stage();
  await apply('again', { replicas: 1 });
  const first = await tickUntil('again', isReady, 120);
  await kubectl(['-n', namespace, 'delete', 'etcdcluster', 'again']);
  await apply('again', { replicas: 1 });
  const late = etcdPeer(first, first.spec, 1, {
    token: 'tokentokentoken0',
    initialCluster: [{ name: 'again-1', url: peerUrl(namespace, 'again', 'again-1') }],
    state: 'Existing',
  });
  const { metadata } = await kube.create<EtcdPeer>(resources.peers, late);
  const second = await tickUntil('again', isReady, 120);
  assert.notEqual(second.metadata.uid, first.metadata.uid);
  assert.equal(second.status?.clusterID, first.status?.clusterID, 'its volume was adopted');
  await until('the late peer is collected', async () => {
    return (await get<EtcdPeer>(resources.peers, 'again-1'))?.metadata.uid !== metadata.uid;
  });
});

test('while another invocation holds the lease, the others wait and name its holder', async () => {
  const { kube, cluster, get } = stage();
  await apply('held', { replicas: 1 });
  await stepOnce(kube, [await cluster('held')]);
  const found = await cluster('held');
  const deadline = new Date(Date.now() + 60_000).toISOString();
  const step = {
    action: 'apply-shared',
    reason: 'Testing',
    holder: { pod: 'elsewhere/pod', uid: 'someone' },
    startedAt: new Date().toISOString(),
    deadline,
  };
  await kube.updateStatus<EtcdCluster>(resources.clusters, {
    ...found,
    status: { observedGeneration: -1, ...found.status, step },
  });
  const [result] = await stepOnce(kube, [await cluster('held')]);
  assert.equal(result?.decision.reason, 'AnotherInvocationActs');
  assert.match(result?.decision.message ?? '', /elsewhere\/pod/);
  assert.deepEqual(
    (await get<EtcdCluster>(resources.clusters, 'held'))?.status?.step?.holder,
    step.holder,
    'its claim is untouched',
  );
  await until('cleaned', async () => {
    const again = await cluster('held');
    const { step: _, ...status } = again.status ?? { observedGeneration: -1 };
    await kube.updateStatus<EtcdCluster>(resources.clusters, { ...again, status });
    return true;
  });
});
