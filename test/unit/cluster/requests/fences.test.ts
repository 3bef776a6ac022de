import assert from 'node:assert/strict';
import { before, describe, test } from 'node:test';
import type { ActContext } from '../../../../reconcile/cluster/act/actions/context.ts';
import { deletePod, evictPod, readPod } from '../../../../reconcile/cluster/act/requests/pods.ts';
import { runLive } from '../../../../reconcile/cluster/act/requests/run-live.ts';
import { askMayGoBackTo } from '../../../../reconcile/cluster/act/requests/versions.ts';
import { deleteVolume, liveVolume } from '../../../../reconcile/cluster/act/requests/volumes.ts';
import type { EtcdAdmin } from '../../../../reconcile/interfaces/etcd-admin.ts';
import { resources } from '../../../../reconcile/interfaces/kube.ts';
import type { Program } from '../../../../reconcile/requests/program.ts';
import { tickUntilConverged } from '../../../support/world/converge.ts';
import { createWorld, namespace, type World } from '../../../support/world/world.ts';

/** What the live half of a request carries or asks beside what its model compares. */

const name = 'orders-1';
let world: World;

before(async () => {
  world = createWorld();
  await world.apply({ version: '3.6.16' });
  await tickUntilConverged(world);
});

describe('what is deleted is the very object that was read, as it was read (I7)', () => {
  for (const [what, resource, object, program] of [
    ['a pod that is deleted', resources.pods, `${name}-0`, deletesPod],
    ['a pod that is evicted', resources.pods, `${name}-0`, evictsPod],
    ['a volume', resources.volumeClaims, name, deletesVolume],
  ] as const) {
    test(what, async () => {
      const found = await world.kube.get(resource, namespace, object);
      const { uid, resourceVersion } = found?.metadata ?? assert.fail(`there is no ${object}`);
      const carried: unknown[] = [];
      const note = async (_: unknown, preconditions: unknown) => {
        carried.push(preconditions);
      };
      const kube: ActContext['kube'] = {
        ...world.kube,
        delete: (_resource, _namespace, deleted, { preconditions }) => note(deleted, preconditions),
        evict: (_namespace, evicted, { preconditions }) => note(evicted, preconditions),
      };
      await runLive(program(), contextOf({ kube }));
      assert.deepEqual(carried, [{ uid, resourceVersion }]);
    });
  }
});

for (const [told, may] of [
  ['3.6.0', true],
  ['3.7.0', false],
] as const) {
  test(`where a member tells the cluster version ${told}, one may ${may ? '' : 'not '}go back to 3.6 (I6)`, async () => {
    const etcd = { version: async () => ({ cluster: told }), close: () => undefined } as unknown as EtcdAdmin;
    const way = { endpoints: new Map([[name, 'http://10.0.0.1:2379']]), connect: async () => etcd };
    assert.equal(await runLive(askMayGoBackTo({ version: '3.6.16' }), contextOf({ etcd: way })), may);
  });
}

function* deletesPod(): Program {
  const pod = yield* readPod({ name });
  if (pod) yield* deletePod(pod);
}

function* evictsPod(): Program {
  const pod = yield* readPod({ name });
  if (pod) yield* evictPod(pod);
}

function* deletesVolume(): Program {
  yield* deleteVolume(yield* liveVolume(name));
}

function contextOf(differences: Partial<ActContext>): ActContext {
  return {
    kube: world.kube,
    cluster: world.cluster() ?? assert.fail('there is no cluster'),
    etcd: { endpoints: new Map(), connect: () => assert.fail('no member is asked') },
    signal: AbortSignal.timeout(60_000),
    ...differences,
  };
}
