/** What this project leans on in an API server, as tests: the fake and the real one must both pass. */

import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import {
  isReason,
  type Kube,
  KubeError,
  type KubeObject,
  type Resource,
  resources,
} from '../../../reconcile/interfaces/kube.ts';

export interface World {
  readonly kube: Kube;
  /** Of this test alone. */
  readonly namespace: string;
}

export interface Widget extends KubeObject {
  readonly spec?: Record<string, unknown>;
  readonly status?: Record<string, unknown>;
  readonly data?: Record<string, string>;
  readonly immutable?: boolean;
}

/** A namespaced custom resource with a status subresource, which the world serves and does not validate. */
export const widgets: Resource = { apiVersion: 'contract.test/v1', kind: 'Widget', plural: 'widgets' };
/** What the world does not serve. */
export const gizmos: Resource = { apiVersion: 'contract.test/v1', kind: 'Gizmo', plural: 'gizmos' };
/** A service account that may do nothing, in any namespace. */
export const nobody = 'nobody';

export function kubeContract(name: string, open: () => Promise<World>): void {
  describe(`${name}: objects`, () => {
    test('what is not there is undefined, and what is created can be read', async () => {
      const { kube, namespace } = await open();
      assert.equal(await kube.get(widgets, namespace, 'a'), undefined);
      const created = await kube.create<Widget>(widgets, widget(namespace, 'a', { size: 1 }));
      assert.partialDeepStrictEqual(created, { kind: 'Widget', spec: { size: 1 }, metadata: { generation: 1 } });
      assert.match(created.metadata.uid ?? '', /^[0-9a-f-]{36}$/);
      assert.match(created.metadata.creationTimestamp ?? '', /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/);
      assert.deepEqual(unmanaged(await kube.get<Widget>(widgets, namespace, 'a')), unmanaged(created));
    });

    test('creating never changes what is there', async () => {
      const { kube, namespace } = await open();
      await kube.create(widgets, widget(namespace, 'a', { size: 1 }));
      await rejects(kube.create(widgets, widget(namespace, 'a', { size: 2 })), 'AlreadyExists', 'precondition');
      assert.deepEqual((await kube.get<Widget>(widgets, namespace, 'a'))?.spec, { size: 1 });
    });

    test('a dry run says what a write would come to, and writes nothing', async () => {
      const { kube, namespace } = await open();
      await kube.dryRun(widgets, widget(namespace, 'a', { size: 1 }));
      assert.equal(await kube.get(widgets, namespace, 'a'), undefined);
      const first = await kube.create<Widget>(widgets, widget(namespace, 'a', { size: 1 }));
      await rejects(kube.dryRun(widgets, widget(namespace, 'a')), 'AlreadyExists', 'precondition');
      const tried = await kube.dryRun<Widget>(widgets, { ...first, spec: { size: 2 } });
      assert.deepEqual([tried.spec, tried.metadata.generation], [{ size: 2 }, 2]);
      const strange = { ...first, spec: { size: 2, ofAnotherMinor: true } };
      assert.equal((await kube.dryRun<Widget>(widgets, strange, { dropsUnknown: true })).spec?.size, 2);
      const second = await kube.update<Widget>(widgets, { ...first, spec: { size: 3 } });
      await rejects(kube.dryRun(widgets, first), 'Conflict', 'precondition');
      assert.deepEqual((await kube.get<Widget>(widgets, namespace, 'a'))?.spec, second.spec);
    });

    test('a status cannot be created, only updated', async () => {
      const { kube, namespace } = await open();
      const created = await kube.create<Widget>(widgets, { ...widget(namespace, 'a'), status: { made: 'up' } });
      assert.equal(created.status, undefined);
    });

    test('an update needs the resourceVersion it is based on, and it must be the current one', async () => {
      const { kube, namespace } = await open();
      const first = await kube.create<Widget>(widgets, widget(namespace, 'a', { size: 1 }));
      await assert.rejects(kube.update(widgets, widget(namespace, 'a')), TypeError);
      await assert.rejects(kube.updateStatus(widgets, widget(namespace, 'a')), TypeError);
      const second = await kube.update<Widget>(widgets, { ...first, spec: { size: 2 } });
      assert.equal(second.metadata.generation, 2);
      await rejects(kube.update(widgets, { ...first, spec: { size: 3 } }), 'Conflict', 'precondition');
      await rejects(kube.updateStatus(widgets, { ...first, status: { late: true } }), 'Conflict', 'precondition');
      assert.deepEqual((await kube.get<Widget>(widgets, namespace, 'a'))?.spec, { size: 2 });
    });

    test('an update that changes nothing leaves the resourceVersion', async () => {
      const { kube, namespace } = await open();
      const first = await kube.create<Widget>(widgets, widget(namespace, 'a', { size: 1 }));
      assert.equal(
        (await kube.update<Widget>(widgets, first)).metadata.resourceVersion,
        first.metadata.resourceVersion,
      );
    });

    test('labels do not count as a new generation', async () => {
      const { kube, namespace } = await open();
      const first = await kube.create<Widget>(widgets, widget(namespace, 'a', { size: 1 }));
      const labelled = { ...first, metadata: { ...first.metadata, labels: { a: 'b' } } };
      assert.partialDeepStrictEqual(await kube.update<Widget>(widgets, labelled), {
        metadata: { generation: 1, labels: { a: 'b' } },
      });
    });

    test('spec and status are written apart', async () => {
      const { kube, namespace } = await open();
      const first = await kube.create<Widget>(widgets, widget(namespace, 'a', { size: 1 }));
      const changed = { ...first, spec: { size: 2 }, status: { ready: true } };
      const second = await kube.updateStatus<Widget>(widgets, changed);
      assert.partialDeepStrictEqual(second, {
        spec: { size: 1 },
        status: { ready: true },
        metadata: { generation: 1 },
      });
      const third = await kube.update<Widget>(widgets, { ...second, spec: { size: 3 }, status: { ready: false } });
      assert.partialDeepStrictEqual(third, { spec: { size: 3 }, status: { ready: true }, metadata: { generation: 2 } });
    });

    test('what is gone cannot be updated', async () => {
      const { kube, namespace } = await open();
      const object = await kube.create<Widget>(widgets, widget(namespace, 'a'));
      await kube.delete(widgets, namespace, 'a', { preconditions: { uid: uidOf(object) } });
      const late = { ...object, spec: { late: true } };
      await assert.rejects(kube.update(widgets, late), KubeError);
      await assert.rejects(kube.updateStatus(widgets, late), KubeError);
      const namesake = await kube.create<Widget>(widgets, widget(namespace, 'a'));
      const stale = {
        ...late,
        metadata: { ...late.metadata, resourceVersion: namesake.metadata.resourceVersion ?? '' },
      };
      await rejects(kube.update(widgets, stale), 'Conflict', 'precondition');
    });

    test('an immutable ConfigMap stays as it is', async () => {
      const { kube, namespace } = await open();
      const map = { metadata: { namespace, name: 'a' }, data: { a: '1' }, immutable: true };
      const sealed = await kube.create<Widget>(resources.configMaps, map);
      await rejects(kube.update<Widget>(resources.configMaps, { ...sealed, data: { a: '2' } }), 'Invalid', 'terminal');
      await rejects(kube.update<Widget>(resources.configMaps, { ...sealed, immutable: false }), 'Invalid', 'terminal');
    });

    for (const [resource, generation, spec] of [
      [resources.configMaps, undefined, undefined],
      [resources.secrets, undefined, undefined],
      [resources.services, undefined, { clusterIP: 'None', selector: { a: 'b' } }],
      [
        resources.volumeClaims,
        undefined,
        { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } },
      ],
      [resources.disruptionBudgets, 1, { minAvailable: 1, selector: { matchLabels: { a: 'b' } } }],
      [resources.pods, 1, podSpec()],
    ] as const) {
      test(`the first generation of a ${resource.kind} is ${generation}`, async () => {
        const { kube, namespace } = await open();
        const created = await kube.create<Widget>(resource, {
          metadata: { namespace, name: 'a' },
          ...(spec && { spec }),
        });
        assert.equal(created.metadata.generation, generation);
      });
    }
  });

  describe(`${name}: deleting`, () => {
    test('a delete hits only the object with that UID, and is content if there is none', async () => {
      const { kube, namespace } = await open();
      const object = await kube.create<Widget>(widgets, widget(namespace, 'a'));
      const wrong = { uid: '11111111-2222-4333-8444-555555555555' };
      await rejects(kube.delete(widgets, namespace, 'a', { preconditions: wrong }), 'Conflict', 'precondition');
      const stale = { uid: uidOf(object), resourceVersion: '1' };
      await rejects(kube.delete(widgets, namespace, 'a', { preconditions: stale }), 'Conflict', 'precondition');
      assert.notEqual(await kube.get(widgets, namespace, 'a'), undefined);
      await kube.delete(widgets, namespace, 'a', { preconditions: { uid: uidOf(object) } });
      assert.equal(await kube.get(widgets, namespace, 'a'), undefined);
      await kube.delete(widgets, namespace, 'a', { preconditions: { uid: uidOf(object) } });
    });

    test('a finalizer holds an object until it is taken away', async () => {
      const { kube, namespace } = await open();
      const plain = widget(namespace, 'a');
      const held = { ...plain, metadata: { ...plain.metadata, finalizers: ['contract.test/hold'] } };
      const object = await kube.create<Widget>(widgets, held);
      await kube.delete(widgets, namespace, 'a', { preconditions: { uid: uidOf(object) } });
      const leaving = await kube.get<Widget>(widgets, namespace, 'a');
      assert.ok(leaving?.metadata.deletionTimestamp);
      assert.equal(leaving.metadata.generation, 2);
      await kube.update<Widget>(widgets, { ...leaving, metadata: { ...leaving.metadata, finalizers: [] } });
      assert.equal(await kube.get(widgets, namespace, 'a'), undefined);
    });

    test('an eviction takes a pending pod, only that one, and is content if it is gone', async () => {
      const { kube, namespace } = await open();
      const pod = await kube.create<Widget>(resources.pods, { metadata: { namespace, name: 'a' }, spec: podSpec() });
      // With a UID alone the API server tries again for ten seconds before it says so.
      const resourceVersion = pod.metadata.resourceVersion ?? '';
      const wrong = { uid: '11111111-2222-4333-8444-555555555555', resourceVersion };
      await rejects(kube.evict(namespace, 'a', { preconditions: wrong }), 'Conflict', 'precondition');
      await kube.evict(namespace, 'a', { preconditions: { uid: uidOf(pod) } });
      assert.equal(await kube.get(resources.pods, namespace, 'a'), undefined);
      await kube.evict(namespace, 'a', { preconditions: { uid: uidOf(pod) } });
    });

    test('a disruption budget keeps a running pod', async () => {
      const { kube, namespace } = await open();
      const labels = { app: 'a' };
      const budget = {
        metadata: { namespace, name: 'a' },
        spec: { minAvailable: 1, selector: { matchLabels: labels } },
      };
      await kube.create<Widget>(resources.disruptionBudgets, budget);
      const metadata = { namespace, name: 'a', labels };
      const pod = await kube.create<Widget>(resources.pods, { metadata, spec: podSpec() });
      const running = { phase: 'Running', conditions: [{ type: 'Ready', status: 'True' }] };
      const { metadata: live } = await kube.updateStatus<Widget>(resources.pods, { ...pod, status: running });
      const eviction = () => kube.evict(namespace, 'a', { preconditions: { uid: live.uid ?? '' } });
      await rejects(eviction(), 'TooManyRequests', 'retryable');
      await assert.rejects(eviction(), ({ causes }: KubeError) => causes.includes('DisruptionBudget'));
      assert.notEqual(await kube.get(resources.pods, namespace, 'a'), undefined);
    });
  });

  describe(`${name}: apply`, () => {
    const mine = { fieldManager: 'mine' };

    test('creates, merges, and takes back only its own fields', async () => {
      const { kube, namespace } = await open();
      await kube.apply<Widget>(widgets, widget(namespace, 'a', { size: 1, colour: { hue: 'red' } }), mine);
      await kube.apply<Widget>(widgets, widget(namespace, 'a', { weight: 5 }), { fieldManager: 'yours' });
      const both = await kube.apply<Widget>(widgets, widget(namespace, 'a', { size: 2 }), mine);
      assert.deepEqual(both.spec, { size: 2, weight: 5 });
      assert.equal(both.metadata.generation, 3);
    });

    test('again the same changes nothing', async () => {
      const { kube, namespace } = await open();
      const first = await kube.apply<Widget>(widgets, widget(namespace, 'a', { size: 1 }), mine);
      const again = await kube.apply<Widget>(widgets, widget(namespace, 'a', { size: 1 }), mine);
      assert.equal(again.metadata.resourceVersion, first.metadata.resourceVersion);
    });

    test('never takes a field from another manager, and names it', async () => {
      const { kube, namespace } = await open();
      await kube.apply<Widget>(widgets, widget(namespace, 'a', { size: 1 }), { fieldManager: 'yours' });
      const taking = kube.apply<Widget>(widgets, widget(namespace, 'a', { size: 2 }), mine);
      await rejects(taking, 'Conflict', 'precondition', /yours/);
      await kube.apply<Widget>(widgets, widget(namespace, 'a', { size: 1 }), mine);
    });

    test('does not take what an update wrote', async () => {
      const { kube, namespace } = await open();
      const first = await kube.apply<Widget>(widgets, widget(namespace, 'a', { size: 1 }), mine);
      await kube.update<Widget>(widgets, { ...first, spec: { size: 2 } });
      await rejects(kube.apply<Widget>(widgets, widget(namespace, 'a', { size: 1 }), mine), 'Conflict', 'precondition');
    });

    test('a dry run leaves no trace', async () => {
      const { kube, namespace } = await open();
      const dry = { ...mine, dryRun: true };
      assert.deepEqual((await kube.apply<Widget>(widgets, widget(namespace, 'a', { size: 1 }), dry)).spec, { size: 1 });
      assert.equal(await kube.get(widgets, namespace, 'a'), undefined);
      const real = await kube.apply<Widget>(widgets, widget(namespace, 'a', { size: 1 }), mine);
      assert.deepEqual((await kube.apply<Widget>(widgets, widget(namespace, 'a', { size: 2 }), dry)).spec, { size: 2 });
      assert.deepEqual(unmanaged(await kube.get<Widget>(widgets, namespace, 'a')), unmanaged(real));
    });

    test('a forced dry run goes over what others hold, and leaves no trace either', async () => {
      const { kube, namespace } = await open();
      await kube.apply<Widget>(widgets, widget(namespace, 'a', { size: 1 }), { fieldManager: 'yours' });
      const wanted = widget(namespace, 'a', { size: 2 });
      await rejects(kube.apply<Widget>(widgets, wanted, { ...mine, dryRun: true }), 'Conflict', 'precondition');
      const forced = await kube.apply<Widget>(widgets, wanted, { ...mine, dryRun: 'Forced' });
      assert.deepEqual(forced.spec, { size: 2 });
      assert.deepEqual((await kube.get<Widget>(widgets, namespace, 'a'))?.spec, { size: 1 });
      await rejects(kube.apply<Widget>(widgets, wanted, mine), 'Conflict', 'precondition');
    });

    test('a resourceVersion or UID in the object is a precondition', async () => {
      const { kube, namespace } = await open();
      const first = await kube.apply<Widget>(widgets, widget(namespace, 'a', { size: 1 }), mine);
      const based = (size: number) => {
        const plain = widget(namespace, 'a', { size });
        return { ...plain, metadata: { ...plain.metadata, resourceVersion: first.metadata.resourceVersion ?? '' } };
      };
      await kube.apply<Widget>(widgets, based(2), mine);
      await rejects(kube.apply<Widget>(widgets, based(3), mine), 'Conflict', 'precondition');
      const other = widget(namespace, 'b');
      const uid = uidOf(first);
      await rejects(
        kube.apply(widgets, { ...other, metadata: { ...other.metadata, uid } }, mine),
        'Conflict',
        'precondition',
      );
    });
  });

  describe(`${name}: lists and watches`, () => {
    test('a list with a limit is its first so many, and no other page', async () => {
      const { kube, namespace } = await open();
      for (const name of ['x1', 'x2', 'x3']) {
        await kube.create(resources.configMaps, { metadata: { namespace, name, labels: { limited: 'yes' } } });
      }
      const options = { namespace, labelSelector: 'limited=yes' };
      const named = async (limit: number) =>
        (await kube.list(resources.configMaps, { ...options, limit })).items.map(({ metadata }) => metadata.name);
      assert.deepEqual(await named(2), ['x1', 'x2']);
      assert.deepEqual(await named(4), ['x1', 'x2', 'x3']);
    });

    test('a list keeps neither status nor managedFields of what it is to hold bare', async () => {
      const { kube, namespace } = await open();
      for (const name of ['bare', 'whole']) {
        const created = await kube.create<Widget>(widgets, widget(namespace, name, { size: 1 }));
        await kube.updateStatus<Widget>(widgets, { ...created, status: { seen: true } });
      }
      const isBare = ({ metadata }: KubeObject) => metadata.name === 'bare';
      const { items } = await kube.list<Widget>(widgets, { namespace, isBare });
      assert.deepEqual(
        items.map(({ metadata, spec, status }) => [metadata.name, spec, status]),
        [
          ['bare', { size: 1 }, undefined],
          ['whole', { size: 1 }, { seen: true }],
        ],
      );
      assert.ok(items[0] && !('managedFields' in items[0].metadata));
    });

    test('a list is of one namespace or all, by labels and name, and says what each object is', async () => {
      const { kube, namespace } = await open();
      for (const [each, app] of [
        ['a', 'x'],
        ['b', 'y'],
        ['c', 'x'],
      ] as const) {
        await kube.create(resources.configMaps, { metadata: { namespace, name: each, labels: { app } } });
      }
      const names = async (labelSelector?: string, fieldSelector?: string) => {
        const options = { namespace, ...(labelSelector && { labelSelector }), ...(fieldSelector && { fieldSelector }) };
        const { items, resourceVersion } = await kube.list<Widget>(resources.configMaps, options);
        assert.match(resourceVersion, /^\d+$/);
        for (const item of items) assert.partialDeepStrictEqual(item, { apiVersion: 'v1', kind: 'ConfigMap' });
        return items.map(({ metadata }) => metadata.name).filter((found) => found.length === 1);
      };
      assert.deepEqual(await names(), ['a', 'b', 'c']);
      assert.deepEqual(await names('app=x'), ['a', 'c']);
      assert.deepEqual(await names('app in (y,z)'), ['b']);
      assert.deepEqual(await names('app,app!=y'), ['a', 'c']);
      assert.deepEqual(await names(undefined, 'metadata.name=b'), ['b']);
      const everywhere = await kube.list(resources.configMaps, { labelSelector: 'app=x' });
      assert.ok(everywhere.items.filter(({ metadata }) => metadata.namespace === namespace).length === 2);
    });

    test('a watch shows what happened since, and ends when it is told to', async () => {
      const { kube, namespace } = await open();
      const labelled = { metadata: { namespace, name: 'a', labels: { app: 'x' } } };
      const first = await kube.create<Widget>(widgets, { ...labelled, spec: { size: 1 } });
      const { resourceVersion } = await kube.list(widgets, { namespace });
      const changed = await kube.update<Widget>(widgets, { ...first, spec: { size: 2 } });
      await kube.create(widgets, { metadata: { namespace, name: 'other' } });
      const seen: string[] = [];
      const stop = new AbortController();
      const signal = AbortSignal.any([stop.signal, AbortSignal.timeout(10_000)]);
      for await (const { type, object } of kube.watch<Widget>(widgets, {
        namespace,
        labelSelector: 'app=x',
        resourceVersion,
        signal,
      })) {
        seen.push(`${type} ${object.metadata.name} ${object.spec?.size}`);
        // Leaving the selection looks like leaving the world.
        if (seen.length === 1)
          await kube.update<Widget>(widgets, { ...changed, metadata: { ...changed.metadata, labels: {} } });
        if (seen.length === 2)
          await kube.create<Widget>(widgets, { ...labelled, metadata: { ...labelled.metadata, name: 'b' } });
        if (seen.length === 3) stop.abort();
      }
      assert.deepEqual(seen, ['MODIFIED a 2', 'DELETED a 2', 'ADDED b undefined']);
    });
  });

  describe(`${name}: who and where`, () => {
    test('an impersonated service account has its own rights', async () => {
      const { kube, namespace } = await open();
      const account = kube.as({ namespace, name: nobody });
      await rejects(account.list(widgets, { namespace }), 'Forbidden', 'terminal');
      await rejects(account.create(widgets, widget(namespace, 'a')), 'Forbidden', 'terminal');
      assert.throws(() => kube.as({ namespace, name: 'a:b' }), TypeError);
      await kube.list(widgets, { namespace });
    });

    test('a kind that is not installed is not an empty one', async () => {
      const { kube, namespace } = await open();
      await rejects(kube.list(gizmos, {}), 'NotFound', 'terminal', /CRDs/);
      await rejects(kube.get(gizmos, namespace, 'a'), 'NotFound', 'terminal', /CRDs/);
      const preconditions = { uid: '11111111-2222-4333-8444-555555555555' };
      await rejects(kube.delete(gizmos, namespace, 'a', { preconditions }), 'NotFound', 'terminal', /CRDs/);
    });

    test('requests are counted, and the clock is the API server’s', async () => {
      const { kube, namespace } = await open();
      const before = kube.requests();
      await kube.list(widgets, { namespace });
      const object = await kube.create<Widget>(widgets, widget(namespace, 'a'));
      await kube.updateStatus<Widget>(widgets, object);
      await assert.rejects(kube.as({ namespace, name: nobody }).list(widgets, { namespace }));
      const grown = (key: string) => (kube.requests()[key] ?? 0) - (before[key] ?? 0);
      assert.deepEqual(['LIST widgets', 'POST widgets', 'PUT widgets/status'].map(grown), [2, 1, 1]);
      assert.ok(Math.abs(Date.now() - (kube.now()?.getTime() ?? 0)) < 5_000);
    });

    for (const wrong of ['', '.', '..', 'a/b', 'a%2fb']) {
      test(`the name ${JSON.stringify(wrong)} is never sent`, async () => {
        const { kube, namespace } = await open();
        const preconditions = { uid: '11111111-2222-4333-8444-555555555555' };
        await assert.rejects(kube.delete(widgets, namespace, wrong, { preconditions }), TypeError);
        await assert.rejects(kube.get(widgets, wrong, 'a'), TypeError);
      });
    }

    test('nothing is asked when the time is up', async () => {
      const { kube, namespace } = await open();
      const before = kube.requests();
      await rejects(kube.list(widgets, { namespace, signal: AbortSignal.abort() }), 'Timeout', 'retryable');
      assert.deepEqual(kube.requests(), before);
    });
  });
}

async function rejects(
  promise: Promise<unknown>,
  reason: string,
  kind: KubeError['class'],
  words = /./,
): Promise<void> {
  await assert.rejects(promise, (error) => {
    assert.ok(isReason(error, reason), `${reason} was expected, not ${error}`);
    assert.equal(error.class, kind);
    assert.match(error.message, words);
    return true;
  });
}

function widget(namespace: string, name: string, spec?: Record<string, unknown>): Widget {
  return { apiVersion: widgets.apiVersion, kind: widgets.kind, metadata: { namespace, name }, ...(spec && { spec }) };
}

function podSpec(): Record<string, unknown> {
  // No scheduler of that name exists, so nobody else writes to the pod.
  return { schedulerName: 'nobody', containers: [{ name: 'a', image: 'registry.example.com/a:1' }] };
}

function uidOf({ metadata }: KubeObject): string {
  assert.ok(metadata.uid);
  return metadata.uid;
}

function unmanaged(object: KubeObject | undefined): unknown {
  if (object === undefined) return undefined;
  const { managedFields: _, ...metadata } = object.metadata as KubeObject['metadata'] & { managedFields?: unknown };
  return { ...object, metadata };
}
