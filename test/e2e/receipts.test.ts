import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { EtcdCluster } from '../../manifests/api/etcd-cluster.ts';
import { isWhole } from './support/conditions.ts';
import { scene } from './support/scene.ts';
import { clusterYaml } from './support/specs.ts';

/** What a commit says of its plan, where something comes in between: a loss, another commit, a hand. */

const stage = scene();
const file = 'clusters/orders.yaml';
const contextOf = (namespace: string) => `etcd-ratchet/fleet/${namespace}/orders`;
const healing = { podGracePeriod: '5s', memberGracePeriod: '10s' };

const yaml = (fields: object) => clusterYaml('orders', stage().namespace, { healing, ...fields });
const commit = (snapshotCount: number) => stage().push({ [file]: yaml({ etcd: { snapshotCount } }) });
const said = (sha: string) => stage().forge.statusesOf(sha).get(contextOf(stage().namespace));

/** Steps one at a time until so many of the newest spec's were taken. */
async function taken(count: number): Promise<EtcdCluster> {
  const isSo = ({ metadata, status: { plan } = { observedGeneration: 0 } }: EtcdCluster) =>
    plan?.generation === metadata.generation && (plan?.taken?.length ?? 0) >= count;
  return stage().tickUntil('orders', isSo);
}

/** With its pod, as when a node dies that had the disk. */
async function loseClaim(name: string): Promise<void> {
  const { kubectl, namespace } = stage();
  await kubectl(['-n', namespace, 'delete', 'pvc', name, '--wait=false']);
  await kubectl(['-n', namespace, 'delete', 'pod', `${name}-0`, '--grace-period=0', '--force', '--wait=false']);
}

async function receiptOf(sha: string): Promise<string> {
  await stage().ticksUntil(`the receipt of ${sha.slice(0, 7)}`, () => said(sha)?.state === 'success', {
    within: 240,
    last: () => JSON.stringify(said(sha)),
  });
  return said(sha)?.description ?? '';
}

test('a commit whose steps are taken as they were foretold says so', async () => {
  await stage().push({ [file]: yaml({}) });
  await stage().tickUntil('orders', isWhole);
  const sha = await commit(200);
  assert.match(await receiptOf(sha), /; as planned, 3 of 3 steps$/);
});

test('a disk that is lost in the middle makes the commit say where its plan was left', async () => {
  const sha = await commit(300);
  const { status } = await taken(1);
  const rolled = new Set(status?.plan?.taken?.map(({ target }) => target));
  const victim = status?.members?.find(({ name }) => !rolled.has(name) && name !== status.leader)?.name;
  await loseClaim(victim ?? assert.fail('no member is left'));
  const told = await receiptOf(sha);
  assert.match(told, /left its plan at step \d of 3/);
  const { status: healed } = await stage().cluster('orders');
  assert.match(healed?.plan?.message ?? '', /^left its plan at step \d of 3: .+ came, where change-template orders-\d/);
  assert.ok(
    healed?.members?.every(({ name }) => name !== victim),
    'another member has taken its place',
  );
});

test('a commit that comes in the middle of another has a plan of its own, from there', async () => {
  const first = await commit(400);
  await taken(1);
  const second = await commit(500);
  assert.match(await receiptOf(second), /; as planned, 3 of 3 steps$/);
  assert.doesNotMatch(said(first)?.description ?? '', /as planned/);
  assert.notEqual(said(first)?.state, 'success', 'what it asked for was never whole');
});

test('a hand that takes objects in the middle makes the commit say what came instead', async () => {
  const { kubectl, namespace } = stage();
  const sha = await commit(600);
  const { status } = await taken(1);
  const rolled = new Set(status?.plan?.taken?.map(({ target }) => target));
  const other = status?.members?.find(({ name }) => !rolled.has(name) && name !== status.leader)?.name;
  await kubectl(['-n', namespace, 'delete', 'statefulset', other ?? assert.fail('no member is left'), '--wait=true']);
  assert.match(await receiptOf(sha), /left its plan at step \d of 3: start-members orders-\d/);
});

test('a request whose commit takes more by then says what was shown, and what it takes', async () => {
  const { repository, forge, ticksUntil } = stage();
  const files = { [file]: yaml({ etcd: { snapshotCount: 700 } }) };
  await repository.git('branch', 'request-1', 'main');
  const headSha = await repository.commit(files, { branch: 'request-1', keep: true, message: 'Request 1' });
  forge.pulls.unshift({ number: 1, title: 'Request 1', headSha });
  const plan = () => forge.statusesOf(headSha).get('etcd-ratchet/fleet/plan');
  await ticksUntil('the plan is shown', () => plan()?.state === 'success');
  assert.match(plan()?.description ?? '', /^orders: 3 restarts, \d+ steps$/);

  // Between the look and the merge a disk is lost. It is merged as a squash.
  const { status } = await stage().cluster('orders');
  const victim = status?.members?.find(({ name }) => name !== status.leader)?.name ?? assert.fail('no member');
  await loseClaim(victim);
  const merged = await repository.commit(files, { message: 'Request 1 (#1)' });
  await receiptOf(merged);
  const told = (await stage().cluster('orders')).status?.plan?.message ?? '';
  assert.match(
    told,
    /; request 1 was shown with 3 restarts and 0 removals, and it takes \d restarts and 1 removal by now$/,
  );
});
