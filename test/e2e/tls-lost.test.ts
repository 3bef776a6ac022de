import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { EtcdCluster } from '../../manifests/api/etcd-cluster.ts';
import type { Pod, Secret } from '../../manifests/kube-types.ts';
import { resources } from '../../reconcile/interfaces/kube.ts';
import { trustOf } from '../../reconcile/x509/secret-data.ts';
import { condition, isReady, isStalledFor } from './support/conditions.ts';
import { doneIn } from './support/done.ts';
import { startFollower } from './support/follower.ts';
import { node } from './support/node.ts';
import { scene } from './support/scene.ts';
import { clusterYaml } from './support/specs.ts';
import { until } from './support/until.ts';
import { fingerprintIn } from './support/wire.ts';

const stage = scene({ fleet: false });

async function apply(name: string, rotationOverlap: string): Promise<void> {
  const { kubectl, namespace } = stage();
  const tls = { rotationOverlap };
  await kubectl(['apply', '--server-side', '-f', '-'], { stdin: clusterYaml(name, namespace, { tls }) });
}

async function secret(name: string): Promise<Secret | undefined> {
  return stage().get<Secret>(resources.secrets, name);
}

async function podUids(name: string): Promise<readonly (string | undefined)[]> {
  const pods = await stage().list<Pod>(resources.pods);
  return pods.flatMap(({ metadata }) => (metadata.name.startsWith(`${name}-`) ? [metadata.uid] : [])).sort();
}

function certificatesAreReady(cluster: EtcdCluster): boolean {
  return isReady(cluster) && condition(cluster, 'CertificatesReady')?.status === 'True';
}

/** How often the cluster has done this so far. */
async function times(name: string, action: string): Promise<number> {
  return doneIn((await stage().cluster(name)).status?.history).filter((entry) => entry.action === action).length;
}

describe('what is lost', { concurrency: true }, () => {
  test('Secrets deleted under a cluster come back: leaves at once, a lost CA by way of both', async (t) => {
    const { kubectl, namespace, tickUntil, ticksUntil, accessNow } = stage();
    const name = 'lost';
    await apply(name, '1s');
    await tickUntil(name, certificatesAreReady);
    const writer = await startFollower(() => accessNow(name), 'throughout');
    await until('writes', async () => writer.acknowledged >= 100);
    const pods = await podUids(name);

    const leaves = ['lost-0-server-tls', 'lost-1-peer-tls', 'lost-reconciler-tls', 'lost-client-tls'];
    await kubectl(['-n', namespace, 'delete', 'secret', ...leaves]);
    await ticksUntil('they are back', async () => {
      return (await Promise.all(leaves.map(secret))).every((found) => found !== undefined);
    });
    await tickUntil(name, certificatesAreReady);
    assert.deepEqual(await podUids(name), pods, 'nobody was restarted for them');
    t.diagnostic(`leaves: longest gap ${writer.gap().milliseconds} ms`);

    const before = await secret('lost-client-ca');
    await kubectl(['-n', namespace, 'delete', 'secret', 'lost-client-ca']);
    // Looked at by turns, while nothing is the matter with what it signed.
    const back = await ticksUntil('the CA is back', () => secret('lost-client-ca'), { within: 180 });
    assert.notEqual(fingerprintIn(back), fingerprintIn(before));
    assert.equal(trustOf(back.data ?? {}).length, 2, 'the lost one stays trusted: members present its leaves');
    await ticksUntil(
      'one CA is trusted everywhere',
      async () => {
        const secrets = await stage().list<Secret>(resources.secrets);
        return secrets.every(
          ({ metadata, data = {} }) => !metadata.name.startsWith(`${name}-`) || trustOf(data).length === 1,
        );
      },
      { within: 180, last: () => 'some Secret has two' },
    );
    const ready = await tickUntil(name, certificatesAreReady, 120);
    const loaded = (await stage().list<Pod>(resources.pods)).filter(({ metadata }) =>
      metadata.name.startsWith(`${name}-`),
    );
    assert.equal(loaded.length, 3);
    assert.ok(!loaded.some(({ metadata }) => pods.includes(metadata.uid)), 'members go by the new one only');
    assert.equal(ready.status?.readyReplicas, 3);
    const { milliseconds } = writer.gap();
    const { acknowledged, lost } = await writer.finish();
    t.diagnostic(`CA: longest gap ${milliseconds} ms; ${acknowledged} writes, ${lost.length} lost`);
    assert.deepEqual(lost, []);
    await discard(name);
  });

  test('all Secrets deleted at once: members restart with new ones; of members only: a cure', async (t) => {
    const { kubectl, namespace, tickUntil, accessNow } = stage();
    const name = 'bare';
    const own = async () =>
      (await stage().list<Secret>(resources.secrets)).flatMap(({ metadata }) =>
        metadata.name.startsWith(`${name}-`) ? [metadata.name] : [],
      );
    await apply(name, '1s');
    await tickUntil(name, certificatesAreReady);
    const writer = await startFollower(() => accessNow(name), 'throughout');
    await until('writes', async () => writer.acknowledged >= 100);
    const pods = await podUids(name);
    writer.gap();

    const all = await own();
    assert.equal(all.length, 10);
    await kubectl(['-n', namespace, 'delete', 'secret', ...all]);
    await tickUntil(name, (cluster) => reasonsOf(cluster).includes('ReloadingAuthorities'), 60);
    const back = await tickUntil(name, certificatesAreReady, 180);
    assert.equal(back.status?.readyReplicas, 3);
    const anew = await podUids(name);
    assert.ok(!anew.some((uid) => pods.includes(uid)), 'each was started anew');
    const sofar = writer.acknowledged;
    await until('writes with what the application was given', async () => writer.acknowledged >= sofar + 100);
    t.diagnostic(`everything: longest gap ${writer.gap().milliseconds} ms`);

    const peers = (await own()).filter((secret) => secret.includes('-peer-'));
    assert.equal(peers.length, 4);
    await kubectl(['-n', namespace, 'delete', 'secret', ...peers]);
    const stalled = await tickUntil(name, isStalledFor('AuthorityLost'), 120);
    assert.equal(condition(stalled, 'Available')?.status, 'True');
    const described = await kubectl(['-n', namespace, 'describe', 'etcdcluster', name]);
    const [, cure = ''] = /\(kubectl (-n \S+ delete pods -l \S+?)\)/.exec(described.replaceAll(/\s+/g, ' ')) ?? [];
    assert.ok(cure.includes(`etcd.ratchet.dev/cluster=${name}`), described);
    assert.deepEqual(await podUids(name), anew, 'nobody who serves was stopped');
    await kubectl([...cure.split(' '), '--wait=false']);
    await tickUntil(name, (cluster) => certificatesAreReady(cluster) && cluster.status?.readyReplicas === 3, 120);

    const { milliseconds } = writer.gap();
    const { acknowledged, lost } = await writer.finish();
    t.diagnostic(`members': longest gap ${milliseconds} ms; ${acknowledged} writes, ${lost.length} lost`);
    assert.deepEqual(lost, []);
    await discard(name);
  });

  test('with a member away no rotation begins or ends; it is named, and the rotation waits for it', async (t) => {
    const { kubectl, namespace, tick, tickUntil, accessNow } = stage();
    const name = 'away';
    const missed = 'away-2';
    await apply(name, '24h');
    await tickUntil(name, certificatesAreReady);
    const writer = await startFollower(() => accessNow(name), 'throughout');
    const uids = await podUids(name);

    await node().unplugPod(namespace, `${missed}-0`);
    await kubectl(['-n', namespace, 'annotate', 'etcdcluster', name, 'etcd.ratchet.dev/rotate-certificates=now']);
    const waits = await tickUntil(name, isMissing(missed));
    await tick();
    await tick();
    assert.equal(await times(name, 'rotate-authorities'), 0, 'not begun');
    assert.equal(condition(waits, 'Available')?.status, 'True');
    await node().replugPod(namespace, `${missed}-0`);
    await tickUntil(name, ({ status }) => /rotationOverlap/.test(status?.lastDecision?.message ?? ''), 120);
    assert.equal(await times(name, 'rotate-authorities'), 1);

    await node().unplugPod(namespace, `${missed}-0`);
    await apply(name, '1s');
    await tickUntil(name, isMissing(missed));
    await tick();
    await tick();
    assert.equal(await times(name, 'retire-authorities'), 0, 'not ended');
    assert.deepEqual(await podUids(name), uids);
    await node().replugPod(namespace, `${missed}-0`);
    await tickUntil(name, certificatesAreReady, 180);
    assert.equal(await times(name, 'retire-authorities'), 1);
    assert.ok(!(await podUids(name)).some((uid) => uids.includes(uid)), 'all were started anew');
    const { milliseconds } = writer.gap();
    const { acknowledged, lost } = await writer.finish();
    t.diagnostic(`longest gap ${milliseconds} ms; ${acknowledged} writes, ${lost.length} lost`);
    assert.deepEqual(lost, []);
    await discard(name);
  });
});

function reasonsOf({ status }: EtcdCluster): readonly string[] {
  return (status?.history ?? []).map(({ reason }) => reason);
}

function isMissing(member: string): (cluster: EtcdCluster) => boolean {
  return (cluster) => {
    const { status, message } = condition(cluster, 'Ready') ?? {};
    return status === 'False' && (message ?? '').includes(member);
  };
}

async function discard(name: string): Promise<void> {
  const { kubectl, namespace } = stage();
  await kubectl(['-n', namespace, 'delete', 'etcdcluster', name, '--wait=false']);
  await kubectl(['-n', namespace, 'delete', 'pvc', '-l', `etcd.ratchet.dev/cluster=${name}`, '--wait=false']);
}
