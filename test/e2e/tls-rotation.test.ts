import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import type { EtcdCluster } from '../../manifests/api/etcd-cluster.ts';
import type { Pod, Secret } from '../../manifests/kube-types.ts';
import { resources } from '../../reconcile/interfaces/kube.ts';
import { trustOf } from '../../reconcile/x509/secret-data.ts';
import { type Access, connectTo } from './support/client.ts';
import { condition, isReady } from './support/conditions.ts';
import { startFollower } from './support/follower.ts';
import { assertForetold, foretell } from './support/foretold.ts';
import { readKey } from './support/keys.ts';
import { scene } from './support/scene.ts';
import { clusterYaml } from './support/specs.ts';
import { until } from './support/until.ts';

const stage = scene({ fleet: false });
const name = 'rotated';

async function apply(rotationOverlap: string): Promise<void> {
  const { kubectl, namespace } = stage();
  await kubectl(['apply', '--server-side', '-f', '-'], {
    stdin: clusterYaml(name, namespace, { tls: { rotationOverlap } }),
  });
}

test('new CAs under load: old and new clients reach every member until the old CA is retired', async (t) => {
  const { kubectl, namespace, tickUntil, ticksUntil, access, accessNow, cluster } = stage();
  await apply('24h');
  await tickUntil(name, isReady);
  const old = await access(name);
  const firstTrust = await trustOfAll();
  const writer = await startFollower(() => accessNow(name), 'throughout');
  await until('a hundred writes', async () => writer.acknowledged >= 100);
  const watcher = watchPods();

  // Both, from the first moment of the rotation to the last at which the old CA is trusted, on connections that are
  // new.
  const visits = [startVisits('old', async () => old), startVisits('new', () => access(name))];
  writer.gap();
  await kubectl(['-n', namespace, 'annotate', 'etcdcluster', name, 'etcd.ratchet.dev/rotate-certificates=first']);
  const waiting = await tickUntil(name, isOverlapping);
  assert.equal(condition(waiting, 'CertificatesReady')?.reason, 'RotatingAuthorities');
  await until('the application took the new one up', async () => writer.renewals > 0);
  await until('visits with the new one', async () => visits.every(({ visited }) => visited() >= 20));
  for (const { who, finish } of visits) {
    const { visited, failures } = await finish();
    t.diagnostic(`${visited} new connections of the ${who} client, ${failures.length} refused`);
    assert.deepEqual(failures, []);
  }
  assert.ok(
    (await trustOfAll()).every(({ trust }) => trust.length === 2),
    'both are trusted',
  );
  assert.equal(watcher.restarts(), 0, 'so far nobody was restarted');
  t.diagnostic(`longest gap while two are trusted: ${writer.gap().milliseconds} ms`);

  await apply('1s');
  const foretold = await foretell(stage(), name);
  const ready = await tickUntil(name, isReady, 120);
  t.diagnostic(assertForetold(foretold, ready));
  assert.equal(condition(ready, 'CertificatesReady')?.status, 'True');
  const gap = writer.gap();
  const { restarts, mostAway } = await watcher.finish();
  assert.equal(mostAway, 1, 'one at a time');
  assert.deepEqual(restarts, { 'rotated-0-0': 1, 'rotated-1-0': 1, 'rotated-2-0': 1 }, 'each once');

  const lastTrust = await trustOfAll();
  for (const { secretName, trust } of lastTrust) {
    const before = firstTrust.find((found) => found.secretName === secretName)?.trust ?? [];
    assert.equal(trust.length, 1, `${secretName} trusts one CA`);
    assert.ok(!trust.some((certificate) => before.includes(certificate)), `${secretName} trusts the new one`);
  }
  await assert.rejects(readKey(old, 'throughout/0'), 'the old certificate opens nothing any more');
  const steps = ((await cluster(name)).status?.history ?? []).map(({ action, target }) => `${action} ${target ?? ''}`);
  t.diagnostic(steps.join('; '));
  // With ticks as well: what a process more does to the machine is no gap of etcd's.
  const quiet = performance.now();
  await ticksUntil('8 s in peace', () => performance.now() - quiet >= 8000);
  const noise = writer.gap();
  const { acknowledged, lost } = await writer.finish();
  t.diagnostic(
    `longest gap while members were restarted: ${gap.milliseconds} ms, in 8 quiet seconds ${noise.milliseconds} ms; ${acknowledged} writes, ${lost.length} lost`,
  );
  assert.deepEqual(lost, []);
  // An election would take longer, and so would a client that is sent to a member which is not there.
  assert.ok(gap.milliseconds < Math.max(1000, 3 * noise.milliseconds), `${gap.milliseconds} ms`);
});

function isOverlapping({ status }: EtcdCluster): boolean {
  return status?.lastDecision?.reason === 'RotatingAuthorities' && /rotationOverlap/.test(status.lastDecision.message);
}

interface Trusted {
  readonly secretName: string;
  readonly trust: readonly string[];
}

async function trustOfAll(): Promise<readonly Trusted[]> {
  const secrets = (await stage().list<Secret>(resources.secrets)).filter(({ metadata }) =>
    metadata.name.startsWith(name),
  );
  assert.equal(secrets.length, 2 + 2 + 6);
  return secrets.map(({ metadata, data = {} }) => ({ secretName: metadata.name, trust: trustOf(data) }));
}

async function podsOf(): Promise<readonly Pod[]> {
  return (await stage().list<Pod>(resources.pods)).filter(({ metadata }) => metadata.name.startsWith(`${name}-`));
}

/** What this very member has, whoever leads: an election is no refusal. */
async function visit(access: Access): Promise<void> {
  const client = connectTo(access, 5000);
  try {
    await client.get('throughout/0').serializable(true).string();
  } finally {
    client.close();
  }
}

/** Visits each member by turns, with a connection that is new each time. */
function startVisits(who: string, look: () => Promise<Access>) {
  const stop = new AbortController();
  const failures: string[] = [];
  let visited = 0;
  const visiting = (async () => {
    while (!stop.signal.aborted) {
      for (const pod of await podsOf()) {
        const access = { ...(await look()), url: `https://${pod.status?.podIP}:2379` };
        await visit(access).catch((error: unknown) => {
          failures.push(`${pod.metadata.name} at ${new Date().toISOString()}: ${error}`);
        });
        visited++;
      }
      await pause(50, undefined, { signal: stop.signal }).catch(() => {});
    }
  })();
  return {
    who,
    visited: () => visited,
    async finish() {
      stop.abort();
      await visiting;
      return { visited, failures };
    },
  };
}

/** How often each pod was made anew, and how many were away at once at the most. */
function watchPods() {
  const stop = new AbortController();
  const seen = new Map<string, Set<string>>();
  let mostAway = 0;
  const looking = (async () => {
    while (!stop.signal.aborted) {
      const pods = await podsOf();
      for (const { metadata } of pods) {
        const uids = seen.get(metadata.name) ?? new Set();
        seen.set(metadata.name, uids.add(metadata.uid ?? ''));
      }
      const there = pods.filter(
        ({ metadata, status }) =>
          metadata.deletionTimestamp === undefined &&
          status?.conditions?.some(({ type, status: value }) => type === 'Ready' && value === 'True'),
      );
      mostAway = Math.max(mostAway, 3 - there.length);
      await pause(50, undefined, { signal: stop.signal }).catch(() => {});
    }
  })();
  const restarts = () => Object.fromEntries([...seen].map(([pod, uids]) => [pod, uids.size - 1]));
  return {
    restarts: () => Object.values(restarts()).reduce((sum, count) => sum + count, 0),
    async finish() {
      stop.abort();
      await looking;
      return { restarts: restarts(), mostAway };
    },
  };
}
