/** Where all nodes have a taint: what we start for a cluster goes where its members go. */

import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { parse } from 'yaml';
import type { EtcdCluster } from '../../manifests/api/etcd-cluster.ts';
import type { Pod } from '../../manifests/kube-types.ts';
import { resources } from '../../reconcile/interfaces/kube.ts';
import { blocksOf } from '../support/docs/blocks.ts';
import { read } from '../unit/docs/pages.ts';
import { makeBackupStore } from './support/backup-store.ts';
import { backupUntil, createBackup, messageOf, reasonOf } from './support/backups.ts';
import { condition, isWholeOf } from './support/conditions.ts';
import { inOwnSandbox, startOwnCluster } from './support/own-cluster.ts';
import { scene } from './support/scene.ts';
import { clusterYaml } from './support/specs.ts';

const binaries = await inOwnSandbox();
const own = await startOwnCluster({ binaries });
const stage = scene({ fleet: false, furnish: makeBackupStore });
after(() => own.stop());

const page = 'docs/how-to/platforms.md';
const [ofPage] = blocksOf(page, read(page))
  .filter(({ kind }) => kind === 'yaml')
  .map(({ text }) => parse(text) as Pick<EtcdCluster, 'metadata' | 'spec'>);
const { podTemplate } = ofPage?.spec ?? assert.fail(`${page} begins with no cluster`);

const apply = (text: string) => stage().kubectl(['apply', '--server-side', '-f', '-'], { stdin: text });

test('members, a backup and its drill, and a restore run on dedicated nodes', async () => {
  const { kubectl, namespace, tickUntil, list } = stage();
  await kubectl(['taint', 'nodes', '--all', 'dedicated=etcd:NoSchedule']);
  await kubectl(['label', 'nodes', '--all', 'pool=etcd']);
  await apply(clusterYaml('orders', namespace, { podTemplate }));
  await tickUntil('orders', isWholeOf(3));

  await createBackup(stage(), 'nightly', { to: { object: 'pvc://backups/{{cluster}}/{{timestamp}}.db' } });
  const backup = await backupUntil(stage(), 'nightly', ({ status }) => status?.finishedAt !== undefined);
  assert.equal(reasonOf(backup), 'Verified', messageOf(backup));

  const again = parse(clusterYaml('again', namespace, { replicas: 1, podTemplate })) as EtcdCluster;
  const cluster = { name: 'again', spec: again.spec };
  const restore = {
    ...{ apiVersion: 'etcd.ratchet.dev/v1alpha1', kind: 'EtcdRestore', metadata: { name: 'again', namespace } },
    spec: { backupName: 'nightly', cluster },
  };
  await kubectl(['create', '-f', '-'], { stdin: JSON.stringify(restore) });
  await stage().ticksUntil('the restored cluster is there', () => stage().get(resources.clusters, 'again'));
  await tickUntil('again', isWholeOf(1));

  const pods = await list<Pod>(resources.pods);
  assert.ok(pods.some(({ metadata }) => metadata.labels?.['etcd.ratchet.dev/backup'] === 'nightly'));
  for (const { metadata, spec } of pods)
    assert.ok(spec.tolerations?.some(({ key }) => key === 'dedicated') && spec.nodeSelector?.pool, metadata.name);
});

test('a cluster that tolerates no such node says so', async () => {
  const { namespace, tickUntil } = stage();
  await apply(clusterYaml('plain', namespace, { replicas: 1 }));
  const isTold = (found: EtcdCluster) =>
    /finds no node \(Unschedulable\)/.test(condition(found, 'Ready')?.message ?? '');
  await tickUntil('plain', isTold);
});
