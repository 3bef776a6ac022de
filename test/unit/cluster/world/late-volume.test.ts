import assert from 'node:assert/strict';
import { describe, type TestContext, test } from 'node:test';
import type { EtcdClusterSpec } from '../../../../manifests/api/etcd-cluster.ts';
import { resources } from '../../../../reconcile/interfaces/kube.ts';
import { tickUntilConverged } from '../../../support/world/converge.ts';
import { tickUntilFrozen } from '../../../support/world/freeze.ts';
import { createWorld, namespace, type World } from '../../../support/world/world.ts';

/** Leases run out by this world's clock, and so do fences. */
function anew(t: TestContext): World {
  const world = createWorld();
  t.mock.restoreAll();
  t.mock.method(performance, 'now', () => world.now());
  return world;
}

interface Request {
  readonly write: number;
  readonly claim: string;
}

/** Those of a birth that make a PVC: they are sent side by side. */
async function requestsForClaims(t: TestContext, spec: Partial<EtcdClusterSpec>): Promise<readonly Request[]> {
  const world = anew(t);
  await world.apply(spec);
  let writes = 0;
  let first: number | undefined;
  const after = () => {
    if (world.claims().length > 0) first ??= writes;
    writes += 1;
  };
  await tickUntilConverged(world, { faults: { after } });
  return world.claims().map(({ metadata }, index) => ({ write: (first ?? 0) + index, claim: metadata.name }));
}

const healing = { podGracePeriod: '20s', memberGracePeriod: '40s' };

/**
 * What people do to a cluster that lives, so that the name of this PVC is free, and its ConfigMap may be unsealed.
 */
const losses: readonly (readonly [
  string,
  (world: World, claim: string, spec: Partial<EtcdClusterSpec>) => Promise<void>,
])[] = [
  [
    'the resource was applied again, and adopted what there was',
    async (world, claim, spec) => {
      await appliedAgain(world, claim, spec);
      await tickUntilConverged(world, { limit: 200 });
    },
  ],
  ['the resource was applied again a moment ago', appliedAgain],
  [
    'it slept, and is to wake',
    async (world, claim, spec) => {
      await world.apply({ ...spec, replicas: 0 });
      await tickUntilConverged(world, { limit: 200 });
      await appliedAgain(world, claim, spec);
    },
  ],
  [
    'its peer was deleted by hand',
    async (world, claim) => {
      const uid = (await world.kube.get(resources.peers, namespace, claim))?.metadata.uid ?? '';
      await world.kube.delete(resources.peers, namespace, claim, { preconditions: { uid } });
      world.settle();
      world.loseVolume(claim);
    },
  ],
  ['its pod has gone with it', async (world, claim) => world.loseVolume(claim)],
];

async function appliedAgain(world: World, claim: string, spec: Partial<EtcdClusterSpec>): Promise<void> {
  await world.remove();
  world.settle();
  world.loseVolume(claim);
  await world.apply(spec);
}

/**
 * Somebody froze in a birth with the request for a PVC on its way; others went on, and clients were let in. Then that
 * PVC is lost, with whatever else; and the request arrives after all.
 */
describe('a PVC of a birth that arrives when clients have long been let in', () => {
  for (const storageClassName of [undefined, 'immediate']) {
    const spec = { replicas: 3, healing, storage: { size: '1Gi', ...(storageClassName && { storageClassName }) } };
    for (const [what, lose] of losses) {
      test(`is never started on, where ${what}${storageClassName ? ', also if it is bound at once' : ''}`, async (t) => {
        const requests = await requestsForClaims(t, spec);
        assert.equal(requests.length, 3);
        for (const { write, claim } of requests) {
          const world = anew(t);
          await world.apply(spec);
          const frozen = await tickUntilFrozen(world, { when: 'before', write });
          world.advance(31);
          await tickUntilConverged(world);
          await lose(world, claim, spec);
          const before = world.claims().find(({ metadata }) => metadata.name === claim);
          await frozen.wake();
          const late = world.claims().find(({ metadata }) => metadata.name === claim);
          assert.ok(!before && late, 'it arrives');
          // Every violation is seen on the way: of I5, and of I4 if it were taken for a volume with data.
          const end = await tickUntilConverged(world, { limit: 300 });
          world.settle();
          assert.equal(world.disks.get(late.metadata.uid ?? '')?.memberId, undefined, end.trail.join('\n'));
          // Nobody may say of somebody else's place on the list that it can go; else it is healed.
          assert.match(end.reason, /^(UnknownMember|Converged)$/, end.trail.join('\n'));
        }
      });
    }
  }
});
