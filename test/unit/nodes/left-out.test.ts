import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Pod } from '../../../manifests/kube-types.ts';
import { resources } from '../../../reconcile/interfaces/kube.ts';
import { type NodesWorld, nodesWorld } from '../../support/world/nodes.ts';
import { namespace } from '../../support/world/world.ts';

/** Lists over all namespaces lack those of the cluster: it is unknown what a reboot would cost it. */

async function passes(stage: NodesWorld, count: number): Promise<void> {
  for (let pass = 0; pass < count; pass += 1) {
    await stage.step();
    await stage.pass();
  }
}

test('no node begins whose members can not be seen', async () => {
  const stage = await nodesWorld();
  stage.leaveOut(namespace);
  stage.ask('node-1');
  await passes(stage, 20);
  assert.equal(stage.reboots.size, 0);
  assert.equal(stage.policy().status?.blocked?.[0]?.reason, 'BlockingPod');
});

test('a node that has begun goes no further while its members can not be seen', async () => {
  const stage = await nodesWorld();
  stage.ask('node-1');
  for (let pass = 0; stage.policy().status?.inProgress !== 1; pass += 1) {
    assert.ok(pass < 20, 'it begins');
    await stage.step();
  }
  stage.leaveOut(namespace);
  await passes(stage, 20);
  assert.equal(stage.reboots.size, 0);
  const names = stage.world.state.kube.stored<Pod>(resources.pods).map(({ metadata }) => metadata.name);
  assert.ok(names.includes('orders-0-0'), 'and its member stays');
});
