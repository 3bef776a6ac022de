import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { FleetResult } from '../../../functions/pass/fleet-pass.ts';
import { reportFleet } from '../../../functions/pass/report-fleet.ts';
import type { EtcdCluster } from '../../../manifests/api/etcd-cluster.ts';
import { resources } from '../../../reconcile/interfaces/kube.ts';
import { setStage } from './checks-stage.ts';
import { clusterYaml } from './scene.ts';

const rollout = { stages: [{ name: 'canary', matchLabels: { stage: 'canary' } }], haltOnStatuses: ['ci/smoke'] };
const ready = {
  ...{ type: 'Ready', status: 'True', reason: 'Converged', message: '' },
  lastTransitionTime: '2026-01-01T00:00:00Z',
};
const isReading = ({ method, url }: { readonly method: string; readonly url: string }) =>
  method === 'GET' && url.includes('/status?');

async function begun(spec: Parameters<typeof setStage>[0] = { rollout }) {
  const stage = await setStage(spec);
  const sha = await stage.repository.commit(
    { 'c/orders.yaml': clusterYaml('orders', { replicas: 5 }) },
    { keep: true },
  );
  const by = (context: string, state: string) =>
    stage.forge.statuses.push({ owner: 'ada', repository: 'etcd', sha, context, state, description: 'by others' });
  const told = () => stage.scene.fleet().status;
  const condition = () => told()?.conditions?.find(({ type }) => type === 'StatusesReported');
  return { ...stage, sha, by, told, condition, [Symbol.asyncDispose]: () => stage[Symbol.asyncDispose]() };
}

test('statuses of others are read of the commit that was applied, and only what is asked for', async () => {
  await using one = await begun();
  one.by('ci/other', 'failure');
  await one.scene.pass();
  assert.deepEqual(one.told()?.othersStatuses, { sha: one.sha });
  one.by('ci/smoke', 'failure');
  await one.scene.pass();
  assert.deepEqual(one.told()?.othersStatuses, { sha: one.sha, failed: 'ci/smoke' });
  one.by('ci/smoke', 'success');
  await one.scene.pass();
  assert.deepEqual(one.told()?.othersStatuses, { sha: one.sha });
});

test('where all is as the commit says, nothing is read, and what was read is known still', async () => {
  await using one = await begun();
  await one.scene.pass();
  for (const { metadata, status, ...cluster } of one.scene.clusters())
    await one.scene.fake.updateStatus(resources.clusters, {
      ...{ ...cluster, metadata },
      status: { ...status, observedGeneration: metadata.generation ?? 0, conditions: [ready] },
    } as EtcdCluster);
  const before = one.forge.requests.filter(isReading).length;
  await one.scene.pass();
  assert.equal(one.forge.requests.filter(isReading).length, before);
  assert.deepEqual(one.told()?.othersStatuses, { sha: one.sha });
});

test('nothing is read for a fleet that asks for none', async () => {
  await using one = await begun({});
  await one.scene.pass();
  assert.deepEqual(one.forge.requests.filter(isReading), []);
});

test('a forge that does not let them be read is told of, and nothing is known then', async () => {
  await using one = await begun();
  await one.scene.pass();
  one.forge.breakWith({ kind: 'status', status: 403, only: 'GET', at: '/status?' });
  await one.scene.pass();
  assert.equal(one.told()?.othersStatuses, undefined);
  assert.deepEqual([one.condition()?.status, one.condition()?.reason], ['False', 'ForgeForbidden']);
  assert.match(one.condition()?.message ?? '', /does not let the token read commit statuses/);
  one.forge.breakWith(undefined);
  await one.scene.pass();
  assert.deepEqual([one.condition()?.status, one.told()?.othersStatuses], ['True', { sha: one.sha }]);
});

test('while the forge limits us, a failure that was read of that commit is known still', async () => {
  await using one = await begun();
  one.by('ci/smoke', 'failure');
  await one.scene.pass();
  one.forge.breakWith({ kind: 'status', status: 429, headers: { 'retry-after': '3600' } });
  const known = { sha: one.sha, failed: 'ci/smoke' };
  for (let passes = 0; passes < 2; passes += 1) {
    await one.scene.pass();
    assert.equal(one.condition()?.reason, 'RateLimited');
  }
  assert.deepEqual(one.told()?.othersStatuses, known);
});

test('an invocation that sees none of its clusters forgets no failure', async () => {
  await using one = await begun();
  one.by('ci/smoke', 'failure');
  await one.scene.pass();
  const { outcome, fleet } = doneBy(await one.scene.passThatDies());
  const log = () => {};
  const { signal } = new AbortController();
  const told = { kube: one.scene.kube, log, signal, forgeDeadline: Date.now() + 60_000, always: true, fleets: [fleet] };
  const { status } = await reportFleet({ fleet, outcome }, [], told);
  assert.deepEqual(status?.othersStatuses, { sha: one.sha, failed: 'ci/smoke' });
});

test('a forge that has just limited us is not asked in the same pass', async () => {
  await using one = await begun();
  one.forge.requests.length = 0;
  one.forge.breakWith({ kind: 'status', status: 429, only: 'POST', headers: { 'retry-after': '3600' } });
  await one.scene.pass();
  assert.deepEqual(one.forge.requests.filter(isReading), []);
  assert.equal(one.condition()?.reason, 'RateLimited');
});

function doneBy(result: FleetResult) {
  return result.kind === 'done' ? result : assert.fail(result.kind);
}
