import assert from 'node:assert/strict';
import { test } from 'node:test';
import { onePass } from '../../../functions/pass/one-pass.ts';
import type { TickOptions } from '../../../functions/tick/options.ts';
import { exitCode } from '../../../functions/tick/output.ts';
import { type Kube, KubeError, resources } from '../../../reconcile/interfaces/kube.ts';
import { createFakeKube, type FakeKube } from '../../support/fakes/kube.ts';
import { etcdOf } from '../../support/world/etcd.ts';
import { tickOptions } from '../../support/world/passing.ts';
import { wireOf } from '../../support/world/wire.ts';
import { createWorld, namespace, type World } from '../../support/world/world.ts';
import { cronJob, env } from '../serve/installation.ts';

/** Work remains, and no follow-up can be made: what Kubernetes is told by the exit code. */

async function run(
  { kube: world, state }: World,
  own: FakeKube,
  how: Partial<TickOptions>,
  over?: AbortController,
): Promise<number> {
  const kube: Kube = {
    ...world,
    list: (resource, given) => (resource === resources.jobs ? own : world).list(resource, given),
    get: (resource, ...rest) => (resource === resources.cronJobs ? own : world).get(resource, ...rest),
    create: (resource, ...rest) => (resource === resources.jobs ? own : world).create(resource, ...rest),
    updateStatus: (...given) => {
      over?.abort(new Error('the time is over'));
      const late = new KubeError('no answer in time', { class: 'retryable', reason: 'Unreachable', status: undefined });
      return over ? Promise.reject(late) : world.updateStatus(...given);
    },
  };
  const asked = { ...tickOptions, ...how };
  const result = await onePass(asked, {
    kube,
    cronJob: { namespace: cronJob.metadata.namespace ?? '', name: cronJob.metadata.name },
    env,
    ...(!over && { namespace }),
    clusters: [],
    etcd: async (tls) => etcdOf(state, tls),
    wire: wireOf(state),
    holder: { pod: 'etcd-ratchet/one', uid: 'one' },
    nonce: () => 'one'.padEnd(32, 'f'),
    log: () => undefined,
    signal: AbortSignal.any([AbortSignal.timeout(20_000), ...(over ? [over.signal] : [])]),
    deadline: Date.now() + 20_000,
  });
  return exitCode(result ?? assert.fail('it does nothing'), asked);
}

function installed({ now }: World, isRefused: boolean): FakeKube {
  const own = createFakeKube({ clock: () => new Date(now()) });
  own.seed(resources.cronJobs, cronJob);
  const refused = new KubeError('exceeded quota', { class: 'terminal', reason: 'Forbidden', status: 403 });
  return isRefused ? { ...own, create: () => Promise.reject(refused) } : own;
}

for (const [what, isRefused, how, code] of [
  ['a follow-up whose successor is refused fails, so that Kubernetes starts it anew', true, { followUp: {} }, 1],
  ['a follow-up that has left its successor is done', false, { followUp: {} }, 0],
  ['a tick whose follow-up is refused is done: the next tick comes', true, {}, 0],
] as const)
  test(what, async () => {
    const world = createWorld();
    await world.apply();
    assert.equal(await run(world, installed(world, isRefused), how), code);
  });

test('a follow-up that leaves nothing to do is done, also where no Job can be made', async () => {
  const world = createWorld();
  assert.equal(await run(world, installed(world, true), { followUp: {} }), 0);
});

for (const [what, namespaces, code] of [
  ['in two namespaces fails', ['shop', 'other'], 1],
  ['in the only namespace was made', [], 0],
] as const)
  test(`a tick whose time is over before a cluster got a step ${what}`, async () => {
    const world = createWorld();
    await world.apply();
    const cluster = world.cluster() ?? assert.fail();
    for (const one of namespaces) {
      const metadata = { ...cluster.metadata, namespace: one, uid: one };
      world.kube.seed(resources.clusters, { ...cluster, metadata });
    }
    assert.equal(await run(world, installed(world, false), {}, new AbortController()), code);
  });
