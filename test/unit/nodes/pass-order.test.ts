import assert from 'node:assert/strict';
import { test } from 'node:test';
import { pass } from '../../../functions/pass/pass.ts';
import { etcdOf } from '../../support/world/etcd.ts';
import { wireOf } from '../../support/world/wire.ts';
import { createWorld, namespace } from '../../support/world/world.ts';

test('a pass looks at node policies after the first step of each cluster', async () => {
  const world = createWorld();
  await world.apply();
  const { kube } = world;
  await pass({
    kube,
    namespace,
    clusters: [],
    followUp: false,
    dryRun: false,
    waitMs: 0,
    rebootsIn: 'etcd-ratchet-reboots',
    etcd: async (tls) => etcdOf(world.state, tls),
    wire: wireOf(world.state),
    holder: { pod: 'etcd-ratchet/one', uid: 'one' },
    nonce: () => 'one'.padEnd(32, 'f'),
    log: () => undefined,
    signal: AbortSignal.timeout(20_000),
    deadline: Date.now() + 20_000,
  });
  const keys = kube.journal().map(({ key }) => key);
  const stepped = keys.lastIndexOf('PUT etcdclusters/status');
  const looked = keys.indexOf('LIST etcdnodepolicies');
  assert.ok(stepped >= 0 && looked > stepped, keys.join());
});
