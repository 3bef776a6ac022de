import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, describe, test } from 'node:test';
import { stringify } from 'yaml';
import type { Pod } from '../../../manifests/kube-types.ts';
import { type KubeObject, resources } from '../../../reconcile/interfaces/kube.ts';
import { createFakeKube, type FakeKube } from '../../support/fakes/kube.ts';
import { saidOn } from '../../support/plugin/said.ts';

const directory = mkdtempSync(join(tmpdir(), 'ratchet-adopt-'));
after(() => rmSync(directory, { recursive: true }));
let files = 0;

const existing = { clusterID: 'cdf8', memberIDs: ['8e9e', '91bc'], podLabels: { app: 'legacy' } };

function fileOf(bootstrap: object | undefined): string {
  const spec = { replicas: 3, version: '3.6.16', storage: { size: '8Gi' }, tls: { mode: 'Disabled' }, bootstrap };
  const metadata = { name: 'orders', namespace: 'payments' };
  const file = join(directory, `${files++}.yaml`);
  writeFileSync(file, stringify({ apiVersion: 'etcd.ratchet.dev/v1alpha1', kind: 'EtcdCluster', metadata, spec }));
  return file;
}

const owned = (kind: string, name: string, apiVersion: string) => ({
  ownerReferences: [{ kind, name, apiVersion, uid: `${name}-uid`, controller: true }],
});

function podOf(name: string, more: Partial<Pod['metadata']> = {}): Pod {
  const metadata = { namespace: 'payments', name, labels: { app: 'legacy' }, ...more };
  return { apiVersion: 'v1', kind: 'Pod', metadata, spec: { containers: [] } };
}

/** Pods of an operator's StatefulSet, and one that is managed by nothing. */
function world(authorize: (call: { key: string }) => boolean = () => true): FakeKube {
  const kube = createFakeKube({ authorize });
  const set: KubeObject = {
    apiVersion: 'apps/v1',
    kind: 'StatefulSet',
    metadata: { namespace: 'payments', name: 'legacy', ...owned('EtcdCluster', 'legacy', 'operator.etcd.io/v1alpha1') },
  };
  kube.seed(resources.statefulSets, set);
  kube.seed(resources.pods, podOf('legacy-0', owned('StatefulSet', 'legacy', 'apps/v1')), podOf('by-hand'));
  return kube;
}

async function adopt(kube: FakeKube, ...args: readonly string[]) {
  const before = kube.journal().length;
  const said = await saidOn(kube, ['adopt', 'orders', ...args]);
  const writes = kube.journal().slice(before);
  assert.deepEqual(
    writes.filter(({ key }) => !/^(GET|LIST)/.test(key)),
    [],
    'nothing is written',
  );
  return said;
}

describe('kubectl ratchet adopt', () => {
  test('tells what manages each pod, up to the resource of an operator, and where the plan ends', async () => {
    const { code, out } = await adopt(world(), '--plan', '-f', fileOf({ existing }), '--exit-code');
    assert.equal(code, 3, out);
    assert.match(out, /^takes over etcd cluster cdf8, of members 8e9e, 91bc:\nPOD +MEMBER +ROLE +ETCD +MANAGED BY\n/);
    assert.match(
      out,
      /\nlegacy-0 +unknown +StatefulSet legacy, of EtcdCluster legacy \(operator\.etcd\.io\/v1alpha1\)\n/,
    );
    assert.match(out, /\nby-hand +unknown +nothing\n/);
    assert.match(out, /ExistingUnreachable/);
    assert.doesNotMatch(out, /Before step/, 'no member leaves in a plan that does not come that far');
  });

  test('tells the same to a program', async () => {
    const { out } = await adopt(world(), '--plan', '-f', fileOf({ existing }), '-o', 'json');
    const told = JSON.parse(out);
    assert.deepEqual(told.takesOver, { clusterID: 'cdf8', memberIDs: ['8e9e', '91bc'] });
    assert.deepEqual(told.pods[1], {
      name: 'legacy-0',
      managedBy: ['StatefulSet legacy', 'EtcdCluster legacy (operator.etcd.io/v1alpha1)'],
      operator: 'etcd-io/etcd-operator',
      silent: 'it has no address',
    });
    assert.equal(told.planned.end.reason, 'ExistingUnreachable');
  });

  test('without --plan does nothing, and says how an adoption begins', async () => {
    const { code, err } = await adopt(world(), '-f', fileOf({ existing }));
    assert.equal(code, 1);
    assert.match(err, /adopt only tells what would be done: add --plan\. .*docs\/how-to\/adopt\.md/);
  });

  test('of a document that takes over nothing is refused by the field that it lacks', async () => {
    const file = fileOf(undefined);
    const { code, err } = await adopt(world(), '--plan', '-f', file);
    assert.equal(code, 1);
    assert.match(
      err,
      /\.yaml has no spec\.bootstrap\.existing, and in namespace payments no pod has the labels .*--pods KEY=VALUE/,
    );
  });

  test('with no right to read StatefulSets says so in the place of what manages them', async () => {
    const kube = world(({ key }) => key !== 'GET statefulsets');
    const { out } = await adopt(kube, '--plan', '-f', fileOf({ existing }));
    assert.match(out, /legacy-0 +unknown +StatefulSet legacy, of unknown: you may not read StatefulSets\n/);
  });

  test('with no right to list pods fails with what is forbidden', async () => {
    const { code, err } = await adopt(
      world(({ key }) => key !== 'LIST pods'),
      '--plan',
      '-f',
      fileOf({ existing }),
    );
    assert.equal(code, 1);
    assert.match(err, /^error: .*pods/);
  });

  test('draws nothing on the terminal by names of others, and counts no pod of ours', async () => {
    const kube = world();
    kube.seed(
      resources.pods,
      podOf('odd', owned('StatefulSet', 'x\u001b[2J', 'apps/v1')),
      podOf('ours', { labels: { app: 'legacy', 'app.kubernetes.io/managed-by': 'etcd-ratchet' } }),
    );
    const { out } = await adopt(kube, '--plan', '-f', fileOf({ existing }));
    assert.match(out, /odd +unknown +StatefulSet x\\u001b\[2J\n/);
    assert.doesNotMatch(out, /ours/);
  });

  for (const [what, hostile, place] of [
    ['no cluster ID', { ...existing, clusterID: undefined }, /clusterID/],
    ['an ID that is a number', { ...existing, clusterID: 1234 }, /clusterID/],
    ['an ID in decimal of 64 bits', { ...existing, clusterID: '14841639068965178418' }, /clusterID/],
    ['an ID with zeros before it', { ...existing, clusterID: '00cdf8' }, /clusterID/],
    ['an ID in other digits', { ...existing, clusterID: '１２３' }, /clusterID/],
    ['no members', { ...existing, memberIDs: [] }, /memberIDs/],
    ['a member twice', { ...existing, memberIDs: ['8e9e', '8e9e'] }, /memberIDs/],
    [
      'more members than etcd has',
      { ...existing, memberIDs: Array.from({ length: 10 }, (_, n) => `a${n}`) },
      /memberIDs/,
    ],
    ['a member that is an object', { ...existing, memberIDs: [{ id: 'a' }] }, /memberIDs/],
    ['no labels', { ...existing, podLabels: {} }, /podLabels/],
    ['labels that are a text', { ...existing, podLabels: 'app=legacy' }, /podLabels/],
    ['a label with a selector in it', { ...existing, podLabels: { app: 'legacy,tier!=x' } }, /podLabels/],
    ['a port that is none', { ...existing, clientPort: 65_536 }, /clientPort/],
    ['a server name with a wildcard', { ...existing, serverName: '*.legacy' }, /serverName/],
    ['a field that is not known', { ...existing, endpoints: ['http://169.254.169.254'] }, /endpoints/],
  ] as const) {
    test(`of a document with ${what} is refused by that field, and no pod is read`, async () => {
      const kube = world();
      const { code, err } = await adopt(kube, '--plan', '-f', fileOf({ existing: hostile }));
      assert.equal(code, 1, err);
      assert.match(err, place);
      assert.deepEqual(kube.journal(), []);
    });
  }
});
