import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import type { EtcdCluster } from '../../manifests/api/etcd-cluster.ts';
import type { Pod, Secret } from '../../manifests/kube-types.ts';
import { clusterLeaves, type LeafPlan, memberLeaves } from '../../manifests/render/certificate-names.ts';
import { resources } from '../../reconcile/interfaces/kube.ts';
import { authorityOf, trustOf } from '../../reconcile/x509/secret-data.ts';
import { due, leafOf, putSecret } from './support/certificates.ts';
import { condition, isReady } from './support/conditions.ts';
import { doneIn } from './support/done.ts';
import { startFollower } from './support/follower.ts';
import { scene } from './support/scene.ts';
import { clusterYaml } from './support/specs.ts';
import { until } from './support/until.ts';
import { fingerprintIn, shownAt } from './support/wire.ts';

const stage = scene({ fleet: false });
const name = 'renewed';
const peers = [`${name}-0`, `${name}-1`, `${name}-2`] as const;

test('due leaves are renewed in one step, seen on the wire, without a restart', async (t) => {
  const { kubectl, namespace, tickUntil, ticksUntil, accessNow, cluster } = stage();
  await kubectl(['apply', '--server-side', '-f', '-'], { stdin: clusterYaml(name, namespace) });
  await tickUntil(name, isReady);
  const writer = await startFollower(() => accessNow(name), 'throughout');

  const old = await wearOut();
  await until('members present what is due', () => areShown(old));
  const before = await podsOf();
  const steps = (await cluster(name)).status?.history?.length ?? 0;
  await timePasses();

  await until('two hundred writes in peace', async () => writer.acknowledged >= 200);
  writer.gap();
  const started = performance.now();
  const after = await ticksUntil('a step is done', async () => {
    const done = doneIn((await cluster(name)).status?.history?.slice(steps));
    return done.some(({ outcome }) => outcome === 'acted') && done;
  });
  assert.deepEqual(
    after.map(({ action, reason }) => [action, reason]),
    [['issue-certificates', 'RenewingCertificates']],
    'one step for all of them',
  );
  const renewed = await leaves();
  for (const { plan, secret } of renewed) {
    assert.notEqual(
      fingerprintIn(secret),
      fingerprintIn(old.find((leaf) => leaf.plan.secretName === plan.secretName)?.secret),
    );
  }
  await until('members present the new ones', () => areShown(renewed));
  const ready = await tickUntil(name, isReady);
  assert.equal(condition(ready, 'CertificatesReady')?.reason, 'Served');
  await until('the application took its own up', async () => writer.renewals > 0);
  const took = performance.now() - started;
  const gap = writer.gap();

  // With ticks as well: what a process more does to the machine is no gap of etcd's.
  const quiet = performance.now();
  await ticksUntil('as long in peace', () => performance.now() - quiet >= took, { within: took / 1000 + 60 });
  const noise = writer.gap();
  assert.deepEqual(await podsOf(), before, 'the same pods, none restarted');
  await finish(t, writer, { gap, noise });
});

type Leaf = { readonly plan: LeafPlan; readonly secret: Secret };

/** Makes all leaves anew, of the same CAs, as they would be when two thirds of their life are over. */
async function wearOut(): Promise<readonly Leaf[]> {
  for (const { plan } of await leaves()) {
    const authority = await stage().get<Secret>(resources.secrets, `${name}-${plan.authority}-ca`);
    const data = authority?.data ?? {};
    await putSecret(
      stage(),
      plan.secretName,
      await leafOf(plan, authorityOf(data), { validity: due(), trust: trustOf(data) }),
    );
  }
  return leaves();
}

async function leaves(): Promise<readonly Leaf[]> {
  const { namespace, get } = stage();
  const plans = [...clusterLeaves(name), ...peers.flatMap((peer) => memberLeaves({ namespace, cluster: name }, peer))];
  return Promise.all(
    plans.map(async (plan) => {
      const secret = await get<Secret>(resources.secrets, plan.secretName);
      assert.ok(secret, plan.secretName);
      return { plan, secret };
    }),
  );
}

/** Each member its own, on the port for clients and on that for members. */
async function areShown(expected: readonly Leaf[]): Promise<boolean> {
  const pods = await stage().list<Pod>(resources.pods);
  const shown = await Promise.all(
    expected.flatMap(({ plan, secret }) => {
      const pod = pods.find(({ metadata }) => metadata.name === `${plan.peer}-0`);
      if (!pod) return [];
      const port = plan.purpose === 'peer' ? 2380 : 2379;
      return [shownAt(pod.status?.podIP ?? '', port, plan.dnsNames[0] ?? '', secret)];
    }),
  );
  assert.equal(shown.length, 2 * peers.length);
  const wanted = expected.filter(({ plan }) => plan.peer !== undefined).map(({ secret }) => fingerprintIn(secret));
  return wanted.every((fingerprint, index) => shown[index] === fingerprint);
}

async function podsOf() {
  return (await stage().list<Pod>(resources.pods))
    .map(({ metadata, status }) => [
      metadata.name,
      metadata.uid,
      status?.containerStatuses?.map(({ restartCount }) => restartCount),
    ])
    .sort();
}

/** What is written down about the future came, as it would have by itself, weeks later. */
async function timePasses(): Promise<void> {
  const { cluster, kube } = stage();
  const found = await cluster(name);
  const certificates = found.status?.certificates;
  assert.ok(found.status && certificates);
  const renewAfter = new Date(Date.now() - 60_000).toISOString().replace(/\.\d+Z$/, 'Z');
  await kube.updateStatus<EtcdCluster>(resources.clusters, {
    ...found,
    status: { ...found.status, certificates: { ...certificates, renewAfter } },
  });
}

async function finish(
  t: TestContext,
  writer: Awaited<ReturnType<typeof startFollower>>,
  { gap, noise }: Record<'gap' | 'noise', { readonly milliseconds: number }>,
): Promise<void> {
  const { acknowledged, lost } = await writer.finish();
  t.diagnostic(
    `longest gap ${gap.milliseconds} ms, in a quiet time as long ${noise.milliseconds} ms; ${acknowledged} writes, ${lost.length} lost`,
  );
  assert.deepEqual(lost, [], `of ${acknowledged} acknowledged writes`);
  // Far below an election, and above what a busy machine does to a quiet cluster.
  assert.ok(
    gap.milliseconds < Math.max(500, 3 * noise.milliseconds),
    `${gap.milliseconds} ms; ${noise.milliseconds} ms in peace`,
  );
}
