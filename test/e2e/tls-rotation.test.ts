import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import type { EtcdCluster } from '../../manifests/api/etcd-cluster.ts';
import type { Secret } from '../../manifests/kube-types.ts';
import { resources } from '../../reconcile/interfaces/kube.ts';
import { trustOf } from '../../reconcile/x509/secret-data.ts';
import { condition, isReady } from './support/conditions.ts';
import { doneIn } from './support/done.ts';
import { type Follower, startFollower } from './support/follower.ts';
import { assertForetold, foretell } from './support/foretold.ts';
import { askedBy } from './support/issued-leaves.ts';
import { readKey } from './support/keys.ts';
import { areShown, comeDue, isPodReady, leavesOf, liveShortly, podsOf, wearOut } from './support/leaves.ts';
import { lookNow } from './support/look-now.ts';
import { scene } from './support/scene.ts';
import { clusterYaml } from './support/specs.ts';
import { until } from './support/until.ts';
import { startVisits, watchPods } from './support/visits.ts';
import { fingerprintIn, textIn } from './support/wire.ts';
import { startWriter } from './support/writer.ts';

/** One cluster, from renewals to the end of all of its certificates, and an application that follows them. */

const stage = scene({ fleet: false });
const name = 'rotated';
let writer: Follower | undefined;
after(() => writer?.finish());
/** How long the birth took, in milliseconds. */
let birth = 0;
const following = () => writer ?? assert.fail('the first test starts it');

async function apply(rotationOverlap: string): Promise<void> {
  const { kubectl, namespace } = stage();
  const stdin = clusterYaml(name, namespace, { tls: { rotationOverlap, gatewayClient: 'Enabled' } });
  await kubectl(['apply', '--server-side', '-f', '-'], { stdin });
}

/** Which pods there are, and how often their containers were started. */
async function startsOf(): Promise<readonly string[]> {
  const starts = (await podsOf(stage(), name)).map(({ metadata, status }) => {
    const counts = status?.containerStatuses?.map(({ restartCount }) => restartCount);
    return `${metadata.name} ${metadata.uid} ${counts}`;
  });
  return starts.toSorted();
}

/** With ticks as well: what a process more does to the machine is no gap of etcd's. */
async function gapInPeace(milliseconds: number): Promise<number> {
  following().gap();
  const quiet = performance.now();
  const isOver = () => performance.now() - quiet >= milliseconds;
  await stage().ticksUntil('as long in peace', isOver, { within: milliseconds / 1000 + 60 });
  return following().gap().milliseconds;
}

test('due leaves are renewed in one step, and deleted ones come back, without a restart', async (t) => {
  const { kubectl, namespace, tickUntil, ticksUntil, accessNow, cluster, get } = stage();
  const asked = performance.now();
  await apply('24h');
  await tickUntil(name, isReady);
  birth = performance.now() - asked;
  writer = await startFollower(() => accessNow(name), 'throughout');

  const old = await wearOut(stage(), name);
  await until('members present what is due', () => areShown(stage(), old));
  const before = await startsOf();
  const steps = (await cluster(name)).status?.history?.length ?? 0;
  await comeDue(stage(), name);
  const sofar = following().acknowledged;
  following().gap();
  await until('two hundred writes in peace', async () => following().acknowledged >= sofar + 200);
  const earlier = following().gap().milliseconds;
  const started = performance.now();
  await lookNow(stage(), name);
  const done = await ticksUntil('a step is done', async () => {
    const found = doneIn((await cluster(name)).status?.history?.slice(steps));
    return found.some(({ outcome }) => outcome === 'acted') && found;
  });
  assert.deepEqual(
    done.map(({ action, reason }) => [action, reason]),
    [['issue-certificates', 'RenewingCertificates']],
    'one step for all of them',
  );
  const renewed = await leavesOf(stage(), name);
  for (const [index, { plan, secret }] of renewed.entries())
    assert.notEqual(fingerprintIn(secret), fingerprintIn(old[index]?.secret), plan.secretName);
  await until('members present the new ones', () => areShown(stage(), renewed));
  assert.equal(condition(await tickUntil(name, isReady), 'CertificatesReady')?.reason, 'Served');
  await until('the application took its own up', async () => following().renewals > 0);
  const took = performance.now() - started;
  const gap = following().gap().milliseconds;
  const later = await gapInPeace(took);
  t.diagnostic(`longest gap ${gap} ms; in quiet times before and after, ${earlier} ms and ${later} ms`);
  const noise = Math.max(earlier, later);
  // Far below an election, and above what a busy machine does to a quiet cluster.
  assert.ok(gap < Math.max(500, 3 * noise), `${gap} ms; ${noise} ms in peace`);

  const lost = ['0-server', '1-peer', 'reconciler', 'client', 'gateway'].map((leaf) => `${name}-${leaf}-tls`);
  await kubectl(['-n', namespace, 'delete', 'secret', ...lost]);
  await lookNow(stage(), name);
  await ticksUntil('they are back', async () => {
    const found = await Promise.all(lost.map((one) => get<Secret>(resources.secrets, one)));
    return found.every((one) => one !== undefined);
  });
  await tickUntil(name, isReady);
  assert.deepEqual(await startsOf(), before, 'the same pods, none restarted');
});

test('new CAs under load: old and new clients reach every member until the old CA is retired', async (t) => {
  const { kubectl, namespace, tickUntil, access } = stage();
  const old = await access(name);
  const oldOfGateway = await secretOfGateway();
  assert.equal(await statusByGateway(oldOfGateway), 200);
  const firstTrust = await trustOfAll();
  const watcher = watchPods(stage(), name);

  // Both, from the first moment of the rotation to the last at which the old CA is trusted, on connections that are
  // new.
  const visits = [
    startVisits(stage(), name, 'old', async () => old),
    startVisits(stage(), name, 'new', () => access(name)),
  ];
  const renewals = following().renewals;
  following().gap();
  await kubectl(['-n', namespace, 'annotate', 'etcdcluster', name, 'etcd.ratchet.dev/rotate-certificates=first']);
  const waiting = await tickUntil(name, isOverlapping);
  assert.equal(condition(waiting, 'CertificatesReady')?.reason, 'RotatingAuthorities');
  await until('the application took the new one up', async () => following().renewals > renewals);
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
  for (const each of [oldOfGateway, await secretOfGateway()]) assert.equal(await statusByGateway(each), 200);
  assert.equal(watcher.restarts(), 0, 'so far nobody was restarted');
  t.diagnostic(`longest gap while two are trusted: ${following().gap().milliseconds} ms`);

  await apply('1s');
  const foretold = await foretell(stage(), name);
  const ready = await tickUntil(name, isReady, 120);
  t.diagnostic(assertForetold(foretold, ready));
  assert.equal(condition(ready, 'CertificatesReady')?.status, 'True');
  const gap = following().gap().milliseconds;
  const { restarts, mostAway } = await watcher.finish();
  assert.equal(mostAway, 1, 'one at a time');
  assert.deepEqual(restarts, { 'rotated-0-0': 1, 'rotated-1-0': 1, 'rotated-2-0': 1 }, 'each once');

  for (const { secretName, trust } of await trustOfAll()) {
    const before = firstTrust.find((found) => found.secretName === secretName)?.trust ?? [];
    assert.equal(trust.length, 1, `${secretName} trusts one CA`);
    assert.ok(!trust.some((certificate) => before.includes(certificate)), `${secretName} trusts the new one`);
  }
  await assert.rejects(readKey(old, 'throughout/0'), 'the old certificate opens nothing any more');
  assert.equal(await statusByGateway(await secretOfGateway()), 200);
  assert.notEqual(await statusByGateway(oldOfGateway), 200);
  const noise = await gapInPeace(8_000);
  const { acknowledged, lost } = await following().finish();
  writer = undefined;
  t.diagnostic(`while restarted: longest gap ${gap} ms, in 8 quiet seconds ${noise} ms; ${acknowledged} writes`);
  assert.deepEqual(lost, [], `of ${acknowledged} acknowledged writes`);
  // An election would take longer, and so would a client that is sent to a member which is not there.
  assert.ok(gap < Math.max(1000, 3 * noise), `${gap} ms`);
});

/** Milliseconds from when their CAs are made; all three members have to be started with them meanwhile. */
const shortestLife = 45_000;

test('all certificates expired without a tick: each member is started with new ones', async (t) => {
  const { tickUntil, access } = stage();
  // On a busy machine a start takes longer, as their birth has shown.
  const life = Math.max(shortestLife, 3 * birth);
  const ends = await liveShortly(stage(), name, life);
  assert.ok(Date.now() < ends, 'members were started in time');
  const connected = startWriter(await access(name), 'over an old connection');
  await until('writes', async () => connected.acknowledged >= 100);
  await until('everything has ended', async () => Date.now() > ends + 1_000, { within: life / 1000 + 30 });
  const before = connected.acknowledged;
  await until('writes over a connection that was made in time', async () => connected.acknowledged >= before + 100);
  const held = await podsOf(stage(), name);
  assert.ok(held.every(isPodReady), 'nothing in Kubernetes says that anything is the matter');
  assert.deepEqual((await connected.finish()).lost, []);

  const started = performance.now();
  const isWell = (found: EtcdCluster) => isReady(found) && condition(found, 'CertificatesReady')?.status === 'True';
  const ready = await tickUntil(name, isWell, 200);
  t.diagnostic(`back after ${((performance.now() - started) / 1000).toFixed(1)} s`);
  assert.equal(ready.status?.readyReplicas, 3);
  assert.ok(ready.status?.history?.some(({ reason }) => reason === 'ReloadingAuthorities'));
  const uids = held.map(({ metadata }) => metadata.uid);
  const now = await podsOf(stage(), name);
  assert.ok(!now.some(({ metadata }) => uids.includes(metadata.uid)), 'each was started anew');
  const again = startWriter(await access(name), 'after');
  await until('writes with what was made anew', async () => again.acknowledged >= 100);
  assert.deepEqual((await again.finish()).lost, []);
});

test('the certificate for clients of the gateway goes with its cluster', async () => {
  const { kubectl, namespace, get, ticksUntil } = stage();
  await kubectl(['-n', namespace, 'delete', 'etcdcluster', name, '--wait=false']);
  await ticksUntil('it has gone', async () => !(await get<Secret>(resources.secrets, `${name}-gateway-tls`)), {
    within: 120,
  });
});

async function secretOfGateway(): Promise<Secret> {
  return (await stage().get<Secret>(resources.secrets, `${name}-gateway-tls`)) ?? assert.fail('there is none');
}

/** A key is read by HTTP. */
async function statusByGateway(shown: Secret): Promise<number | string> {
  const asked = { cluster: name, ca: textIn(shown, 'ca.crt'), path: '/v3/kv/range', body: '{"key":"aw=="}' };
  const answer = await askedBy(shown, stage(), asked);
  return 'status' in answer ? answer.status : answer.refused;
}

function isOverlapping({ status }: EtcdCluster): boolean {
  return status?.lastDecision?.reason === 'RotatingAuthorities' && /rotationOverlap/.test(status.lastDecision.message);
}

async function trustOfAll() {
  const secrets = (await stage().list<Secret>(resources.secrets)).filter(({ metadata }) =>
    metadata.name.startsWith(`${name}-`),
  );
  assert.equal(secrets.length, 2 + 4 + 6);
  return secrets.map(({ metadata, data = {} }) => ({ secretName: metadata.name, trust: trustOf(data) }));
}
