import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseDocument } from 'yaml';
import { rereadsIn } from '../../../gitops/specs/rereads.ts';
import { withScalarsOfKubectl } from '../../../gitops/specs/scalars.ts';
import { planFleet } from '../../../reconcile/fleet/plan.ts';
import { clusterOf, entryOf, fleetWith, revision, specOf, treeOf } from './objects.ts';

const path = ['spec', 'podTemplate', 'spec', 'volumes', 0, 'configMap', 'defaultMode'];
const reread = { path, text: '0440', was: 440, now: 288, line: 9, column: 20 };
const fleet = fleetWith({ inventory: [entryOf('orders')] });

function planWith(modes: readonly number[] | undefined) {
  const live = clusterOf('orders');
  const volumes = modes?.map((defaultMode, n) => ({ name: `v${n}`, configMap: { defaultMode } }));
  const cluster = { ...live, spec: { ...live.spec, ...(volumes && { podTemplate: { spec: { volumes } } }) } };
  const tree = treeOf([{ ...specOf('orders'), rereads: [reread] }]);
  const clusters = modes ? [cluster as typeof live] : [];
  return planFleet({ fleet, fleets: [fleet], clusters, revision, tree });
}

test('a value that is live as it was read before is not changed before a commit says so', () => {
  for (const modes of [[440], [7, 440]]) {
    const { applies, problems, keep } = planWith(modes);
    assert.deepEqual([applies, keep], [[], []]);
    assert.partialDeepStrictEqual(problems, [{ file: 'orders.yaml', line: 9, column: 20, name: 'orders' }]);
    assert.match(
      problems[0]?.message ?? '',
      /^spec\.podTemplate\.spec\.volumes\[0\]\.configMap\.defaultMode: 0440 is 288, as kubectl reads it.*write 288 to change it, 440 to keep it$/,
    );
  }
});

test('a key that is live as it was read before is not changed either', async () => {
  const text = 'spec:\n  podTemplate:\n    spec:\n      nodeSelector: {on: etcd}\n';
  const [found] = rereadsIn(parseDocument(text, { customTags: withScalarsOfKubectl }));
  assert.deepEqual(found, {
    path: ['spec', 'podTemplate', 'spec', 'nodeSelector'],
    isKey: true,
    text: 'on',
    was: 'on',
    now: 'true',
  });
  const plan = (nodeSelector: Readonly<Record<string, string>>) => {
    const live = clusterOf('orders');
    const cluster = { ...live, spec: { ...live.spec, podTemplate: { spec: { nodeSelector } } } };
    const tree = treeOf([{ ...specOf('orders'), rereads: [{ ...found, line: 4, column: 22 }] }]);
    return planFleet({ fleet, fleets: [fleet], clusters: [cluster as typeof live], revision, tree });
  };
  const { applies, problems } = plan({ on: 'etcd' });
  assert.deepEqual(applies, []);
  assert.match(
    problems[0]?.message ?? '',
    /nodeSelector: the key on is "true", .* write "true" to change it, "on" to keep it$/,
  );
  assert.deepEqual(plan({ true: 'etcd' }).problems, []);
});

test('a value that kubectl wrote, and a document that is not live, are applied', () => {
  for (const modes of [[288], [440, 288], [], undefined]) {
    const { applies, problems } = planWith(modes);
    assert.deepEqual([applies.length, problems], [1, []], String(modes));
  }
});
