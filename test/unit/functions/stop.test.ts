import assert from 'node:assert/strict';
import { test } from 'node:test';
import { pass } from '../../../functions/pass/pass.ts';
import { etcdOf } from '../../support/world/etcd.ts';
import { wireOf } from '../../support/world/wire.ts';
import { createWorld, namespace } from '../../support/world/world.ts';

/** A follow-up that waits for members to start; `stopped` says how often it may look again. */
async function waiting(isStopped: (asked: number) => boolean) {
  const world = createWorld();
  await world.apply();
  for (let step = 0; (await world.tick())?.decision.kind === 'act'; step += 1) assert.ok(step < 20);
  let asked = 0;
  const before = world.kube.journal().length;
  const { clusters } = await pass({
    kube: world.kube,
    etcd: async (tls) => etcdOf(world.state, tls),
    wire: wireOf(world.state),
    holder: { pod: 'etcd-ratchet/follow-up', uid: 'follow-up' },
    nonce: () => 'f'.repeat(32),
    log: () => undefined,
    dryRun: false,
    signal: AbortSignal.timeout(20_000),
    deadline: Date.now() + 20_000,
    namespace,
    clusters: [],
    followUp: true,
    waitMs: 10_000,
    isStopped: async () => {
      asked += 1;
      // What it waits for has happened when it is asked.
      world.settle();
      return isStopped(asked);
    },
  });
  const written = world.kube
    .journal()
    .slice(before)
    .filter(({ verb }) => verb !== 'LIST' && verb !== 'GET' && verb !== 'WATCH');
  return { asked, acted: clusters.some(({ outcome }) => outcome === 'acted'), written };
}

test('a follow-up that waits takes no step any more when everything was stopped meanwhile', async () => {
  const { asked, acted, written } = await waiting(() => true);
  assert.equal(asked, 1);
  assert.equal(acted, false);
  assert.deepEqual(
    written.map(({ verb, resource }) => `${verb} ${resource.plural}`),
    [],
  );
});

test('and takes it where nothing was stopped', async () => {
  const { asked, acted } = await waiting(() => false);
  assert.equal(asked, 1);
  assert.equal(acted, true);
});
