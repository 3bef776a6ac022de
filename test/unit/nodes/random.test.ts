import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import type { EtcdNodePolicySpec } from '../../../manifests/api/etcd-node-policy.ts';
import { annotations } from '../../../manifests/render/names.ts';
import { resources } from '../../../reconcile/interfaces/kube.ts';
import { killer } from '../../support/world/crash.ts';
import { type NodesWorld, nodesWorld } from '../../support/world/nodes.ts';

/**
 * Lives at random: wishes come and go, the policy changes, strangers write marks, steps and agents die at any write.
 * In the world no two nodes with members of one cluster are ever down at once, no quorum is lost, and no leader goes
 * without handing over. When people leave it alone, it comes to rest.
 */

const nodes = ['node-1', 'node-2', 'node-3'] as const;
const nodeName = fc.constantFrom(...nodes);

type Event =
  | { readonly kind: 'ask' | 'withdraw' | 'mark'; readonly node: string }
  | { readonly kind: 'policy'; readonly spec: Partial<EtcdNodePolicySpec> }
  | { readonly kind: 'step'; readonly dies: number; readonly when: 'before' | 'after' }
  | { readonly kind: 'two' }
  | { readonly kind: 'agent-dies' }
  | { readonly kind: 'pass' };

const event: fc.Arbitrary<Event> = fc.oneof(
  { weight: 3, arbitrary: fc.record({ kind: fc.constantFrom('ask' as const), node: nodeName }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constantFrom('withdraw' as const, 'mark' as const), node: nodeName }) },
  {
    weight: 1,
    arbitrary: fc.record({
      kind: fc.constant('policy' as const),
      spec: fc.record({ suspend: fc.boolean(), maxUnavailable: fc.constantFrom(1, 2, 3, '100%') }),
    }),
  },
  {
    weight: 3,
    arbitrary: fc.record({
      kind: fc.constant('step' as const),
      dies: fc.integer({ min: 0, max: 4 }),
      when: fc.constantFrom('before' as const, 'after' as const),
    }),
  },
  { weight: 2, arbitrary: fc.constant({ kind: 'two' as const }) },
  { weight: 1, arbitrary: fc.constant({ kind: 'agent-dies' as const }) },
  { weight: 8, arbitrary: fc.constant({ kind: 'pass' as const }) },
);

async function happen(stage: NodesWorld, one: Event): Promise<void> {
  switch (one.kind) {
    case 'ask':
      return stage.ask(one.node);
    case 'withdraw':
      return stage.withdraw(one.node);
    case 'mark': {
      const time = '2026-01-02T03:04:05Z';
      const marks = { [annotations.rebootNow]: `${time} stranger`, [annotations.rebootReturned]: `${time} any` };
      return stage.annotate(one.node, marks);
    }
    case 'policy': {
      const policy = stage.policy();
      return stage.world.state.kube.seed(resources.nodePolicies, { ...policy, spec: { ...policy.spec, ...one.spec } });
    }
    case 'step':
      await stage.step(killer({ when: one.when, write: one.dies }));
      return;
    case 'two':
      await Promise.all([stage.step(), stage.step()]);
      return;
    case 'agent-dies':
      return stage.pass({
        before: () => {
          throw new Error('killed before the write');
        },
      });
    case 'pass':
      await stage.step();
      return stage.pass();
  }
}

test('whatever happens on the way, no two nodes of a cluster go down, and all come to rest', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(event, { minLength: 10, maxLength: 60 }), async (events) => {
      const stage = await nodesWorld({ maxUnavailable: 3, drain: { timeout: '2m' }, reboot: { timeout: '2m' } });
      for (const one of events) await happen(stage, one);
      await happen(stage, { kind: 'policy', spec: { suspend: false } });
      for (const node of nodes) stage.ask(node, 'the last one');
      const reboots = new Map(stage.reboots);
      for (let passes = 0; passes < 300; passes += 1) {
        await happen(stage, { kind: 'pass' });
        if (nodes.every((node) => stage.node(node).metadata.annotations?.[annotations.rebootNeeded] === undefined))
          break;
      }
      for (let passes = 0; passes < 10; passes += 1) await happen(stage, { kind: 'pass' });
      const { status } = stage.policy();
      assert.equal(status?.conditions?.[0]?.reason, 'NothingToDo', JSON.stringify(status));
      for (const node of nodes) {
        assert.ok((stage.reboots.get(node) ?? 0) >= 1, `${node} has rebooted`);
        assert.ok((stage.reboots.get(node) ?? 0) - (reboots.get(node) ?? 0) <= 2, `${node} reboots once more or twice`);
        assert.notEqual(stage.node(node).spec?.unschedulable, true, node);
      }
    }),
    { numRuns: 40 },
  );
});
