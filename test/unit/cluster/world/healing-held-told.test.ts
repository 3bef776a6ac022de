import assert from 'node:assert/strict';
import { test } from 'node:test';
import { resources } from '../../../../reconcile/interfaces/kube.ts';
import { createFakeKube } from '../../../support/fakes/kube.ts';
import { pages } from '../../../support/page/server.ts';
import { now, saidOn } from '../../../support/plugin/said.ts';
import { bornWith } from '../../../support/world/born.ts';
import { tickUntilConverged } from '../../../support/world/converge.ts';
import { namespace } from '../../../support/world/world.ts';

/** A member is lost, and `spec.healing.mode` is Manual: what a person reads of it, wherever that person looks. */
const world = await bornWith({
  replicas: 3,
  healing: { podGracePeriod: '20s', memberGracePeriod: '40s', mode: 'Manual' },
});
world.loseVolume('orders-1');
const end = await tickUntilConverged(world, { limit: 300 });
const cluster = world.cluster() ?? assert.fail('the cluster is gone');
const [asked = assert.fail(end.trail.join('\n'))] = cluster.status?.approvals ?? [];

const kube = createFakeKube({ clock: () => now });
kube.seed(resources.clusters, cluster);
const ratchet = (...args: readonly string[]) => saidOn(kube, args, {}, { namespace });

test('kubectl ratchet why names the member, what is lost with it, and the section that helps', async () => {
  const { code, out } = await ratchet('why', 'orders');
  assert.equal(code, 0);
  assert.match(out, /^\S+\/orders: Stalled\n/);
  assert.match(out, /\nHealingHeld: [^\n]*orders-1/);
  assert.match(out, /\n {2}do: {4}\S/);
  assert.match(out, /docs\/runbooks\/member-does-not-run\.md#a-person-decides-whether-it-is-replaced/);
  const told = JSON.parse((await ratchet('why', 'orders', '-o', 'json')).out);
  assert.deepEqual([told.concerns[0].reason, told.concerns[0].needsAPerson], ['HealingHeld', true]);
});

test('kubectl ratchet status counts the cluster as one that needs a person', async () => {
  const { code, out } = await ratchet('status', '--exit-code');
  assert.equal(code, 3);
  assert.match(out, /\norders +Stalled +2\/3 .*the volume of orders-1 is gone\n/);
});

test('kubectl ratchet approve says what is removed, and approves exactly that failure', async () => {
  const { code, err } = await ratchet('approve', 'orders', '--yes');
  assert.equal(code, 0, err);
  assert.match(err, /orders-1 \([0-9a-f]+\) is removed/);
  const { metadata } = (await kube.get(resources.clusters, namespace, 'orders')) ?? assert.fail();
  assert.equal(metadata.annotations?.[asked.annotation], asked.value);
});

test('the page shows the cluster among those that need a person, with the command', async () => {
  const { get } = pages({ clusters: [cluster] });
  const home = await (await get('/')).text();
  assert.match(home, /HealingHeld/);
  const own = await (await get(`/clusters/${namespace}/orders`)).text();
  assert.match(own, /HealingHeld/);
  assert.match(own, /orders-1 \([0-9a-f]+\) is removed/);
  assert.ok(own.includes(`${asked.annotation}=${asked.value}`));
});
