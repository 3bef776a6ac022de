import assert from 'node:assert/strict';
import { EventEmitter, on } from 'node:events';
import { test } from 'node:test';
import { type Kube, KubeError, resources } from '../../../reconcile/interfaces/kube.ts';
import { startController } from '../../e2e/support/controller.ts';

/** A namespace in which nothing changes. */
const quiet = {
  list: async () => ({ items: [], resourceVersion: '1' }),
  watch: (_resource: unknown, { signal }: { readonly signal: AbortSignal }) => on(new EventEmitter(), 'x', { signal }),
} as unknown as Kube;

function controlled(attend: () => Promise<number>) {
  const stop = new AbortController();
  const options = { kube: quiet, namespace: 'n', watched: [resources.secrets], attend, signal: stop.signal };
  return { stop, controller: startController(options) };
}

test('an object that was deleted between a look and a write does not end a controller', async () => {
  const recovered = Promise.withResolvers<void>();
  let attempts = 0;
  const { stop, controller } = controlled(async () => {
    if (++attempts === 1)
      throw new KubeError('PUT certificates n/a: it is gone', { class: 'terminal', reason: 'NotFound' });
    recovered.resolve();
    return Number.POSITIVE_INFINITY;
  });
  await recovered.promise;
  stop.abort();
  await controller.ended;
});

test('what a person must change ends it, and all that wait are told', async () => {
  const { stop, controller } = controlled(async () => {
    throw new KubeError('secrets is forbidden', { class: 'terminal', reason: 'Forbidden' });
  });
  const ended = assert.rejects(controller.ended, /is forbidden/);
  await ended;
  stop.abort();
});
