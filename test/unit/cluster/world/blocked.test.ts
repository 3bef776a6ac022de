import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { Node } from '../../../../manifests/kube-types.ts';
import { resources } from '../../../../reconcile/interfaces/kube.ts';
import { tickUntilConverged } from '../../../support/world/converge.ts';
import { assertWhole } from '../../../support/world/whole.ts';
import { createWorld, type World } from '../../../support/world/world.ts';

const healing = { podGracePeriod: '20s', memberGracePeriod: '120s' };

async function healthyWorld(tls: 'Disabled' | 'Managed'): Promise<World> {
  const world = createWorld();
  const node: Node = {
    metadata: { name: 'node-1' },
    status: { conditions: [{ type: 'Ready', status: 'True' }] },
  };
  world.kube.seed(resources.nodes, node);
  await world.apply({ healing, tls: { mode: tls } });
  await tickUntilConverged(world);
  return world;
}

/** Somebody deletes the pod; the next one of that member can't have its volume, wherever it is started. */
function breakDisk(world: World): void {
  world.holdUp(({ metadata }) => (metadata.name === 'orders-1-0' ? 'FailedMount' : undefined));
  world.kill('orders-1-0');
}

describe('a volume that kubelet can’t mount', () => {
  for (const tls of ['Disabled', 'Managed'] as const) {
    test(`costs its member, after its pod was made anew in vain (TLS ${tls})`, async () => {
      const world = await healthyWorld(tls);
      breakDisk(world);
      const { kind, trail } = await tickUntilConverged(world, { limit: 400 });
      const story = trail.join('\n');
      assert.equal(kind, 'done', story);
      assertWhole(world, 3, story);
      assert.ok(trail.indexOf('act RecreatingPod acted') < trail.indexOf('act ReplacingMember acted'), story);
      assert.match(story, /wait MemberDown/);
    });
  }

  for (const [what, hide] of [
    ['nodes may not be read', (world: World) => world.forbidden.add('LIST nodes')],
    ['events may not be read', (world: World) => world.forbidden.add('LIST events')],
    ['its node is silent', silence],
  ] as const) {
    test(`is a person’s to see to where ${what}: nothing is given up`, async () => {
      const world = await healthyWorld('Disabled');
      breakDisk(world);
      hide(world);
      const { kind, reason, trail } = await tickUntilConverged(world, { limit: 400 });
      const expected = what.startsWith('events') ? 'MemberStarting' : 'VolumeNotMounted';
      assert.deepEqual([kind, reason], ['refuse', expected], trail.join('\n'));
      assert.equal(world.claims().length, 3);
      world.holdUp(() => undefined);
      assert.equal((await tickUntilConverged(world)).kind, 'done');
      assertWhole(world, 3, what);
    });
  }

  function silence(world: World): void {
    world.kube.seed(resources.nodes, { metadata: { name: 'node-1' } });
  }
});

describe('pods that the API server refuses', () => {
  test('are named with its words, and when they are admitted the birth goes on', async () => {
    const world = createWorld();
    world.holdUp(() => 'FailedCreate');
    await world.apply({ healing });
    const refused = await tickUntilConverged(world);
    assert.deepEqual([refused.kind, refused.reason], ['refuse', 'PodRefused'], refused.trail.join('\n'));
    assert.match(refused.message, /orders-0 \(FailedCreate: create Pod orders-0-0 .*exceeded quota: small/);
    world.holdUp(() => undefined);
    assert.equal((await tickUntilConverged(world)).kind, 'done');
    assertWhole(world, 3, 'after all');
  });
});
