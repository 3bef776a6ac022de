import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { Event } from '../../../manifests/kube-types.ts';
import type { Slot } from '../../../reconcile/cluster/know/observation.ts';
import { readWarnings, withWarnings } from '../../../reconcile/cluster/observe/read-warnings.ts';
import { KubeError, resources } from '../../../reconcile/interfaces/kube.ts';
import { createFakeKube, type FakeKubeOptions } from '../../support/fakes/kube.ts';
import {
  all,
  fresh,
  healthy,
  namespace,
  silent,
  withContainer,
  withEndpoint,
  without,
  withPod,
} from './observations.ts';

const creating = all(
  withEndpoint(silent),
  withPod({ ready: false, node: 'node-1', hasSandbox: false }),
  withContainer({ state: 'waiting', reason: 'ContainerCreating', everStarted: false }),
);

function event(name: string, uid: string, reason = 'FailedMount'): Event {
  return {
    metadata: { name, namespace },
    reason,
    note: 'as it is',
    deprecatedLastTimestamp: '2026-01-02T03:03:05Z',
    regarding: { uid },
  };
}

function seen(change: (slot: Slot) => Slot, seconds = 120) {
  const unhealthySince = new Date(Date.parse('2026-01-02T03:04:05Z') - seconds * 1000).toISOString();
  const status = { observedGeneration: 1, members: [{ name: 'orders-1', healthy: false, unhealthySince }] };
  return healthy(3, { slots: { 1: change }, status });
}

async function reading(
  observation: ReturnType<typeof healthy>,
  events: readonly Event[],
  options: FakeKubeOptions = {},
) {
  const kube = createFakeKube(options);
  kube.seed(resources.events, ...events);
  const warnings = await readWarnings(kube, observation.slots, observation, AbortSignal.timeout(60_000));
  const slots = withWarnings(observation.slots, warnings);
  return {
    requests: kube.journal().length,
    told: slots[1]?.warnings,
    others: [slots[0]?.warnings, slots[2]?.warnings],
  };
}

describe('events are read', () => {
  for (const [what, change, requests] of [
    ['of a pod that has a node, and no network yet', creating, 1],
    ['of a StatefulSet that has no pod', all(without('pod'), withEndpoint(silent)), 1],
    ['of a pod that waits for a claim, and of that claim', all(fresh, creating), 2],
    ['of none whose container runs', all(withPod({ ready: false, node: 'node-1' }), withEndpoint(silent)), 0],
    ['of none whose volumes and network are there', all(creating, withPod({ hasSandbox: true })), 0],
    ['of none whose pod leaves', all(creating, withPod({ leaving: true })), 0],
    ['of none that is well', (slot: Slot) => slot, 0],
  ] as const) {
    test(`${what}: ${requests} requests`, async () => {
      assert.equal((await reading(seen(change), [])).requests, requests);
    });
  }

  test('not before its grace is over: a cluster that is only starting costs nothing', async () => {
    assert.equal((await reading(seen(creating, 119), [])).requests, 0);
  });

  test('at the second look where no pod was made: the API server may refuse it', async () => {
    const podless = all(without('pod'), withEndpoint(silent));
    assert.equal((await reading(seen(podless, 1), [event('a', 'set-1', 'FailedCreate')])).requests, 1);
    const first = { ...seen(podless), cluster: healthy(3).cluster };
    assert.equal((await reading(first, [])).requests, 0);
  });

  test('of that very object, and of no other member', async () => {
    const events = [event('a', 'pod-1'), event('b', 'pod-0'), event('c', 'an earlier pod', 'FailedAttachVolume')];
    const { told, others } = await reading(seen(creating), events);
    assert.deepEqual(
      [told?.map(({ reason, uid }) => `${reason} ${uid}`), others],
      [['FailedMount pod-1'], [undefined, undefined]],
    );
  });

  test('and none reported is something else than not known', async () => {
    assert.deepEqual((await reading(seen(creating), [])).told, []);
  });
});

describe('what they say is not known', () => {
  test('where they may not be read', async () => {
    const { told } = await reading(seen(creating), [event('a', 'pod-1')], { authorize: () => false });
    assert.equal(told, undefined);
  });

  test('where the API server does not answer', async () => {
    const before = () => {
      throw new KubeError('no answer', { class: 'retryable', reason: 'Timeout' });
    };
    assert.equal((await reading(seen(creating), [], { before })).told, undefined);
  });

  test('of thousands of events one page is read', async () => {
    const events = Array.from({ length: 3000 }, (_, index) => event(`e${index}`, 'pod-1'));
    const { told, requests } = await reading(seen(creating), events);
    assert.deepEqual([told, requests], [undefined, 1]);
  });
});
