import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { annotateCommand } from '../../../manifests/build/kubectl.ts';
import { approvals } from '../../../manifests/build/names.ts';

const root = join(import.meta.dirname, '../../..');

test('a command to copy names the resource with its group', () => {
  assert.equal(
    annotateCommand('etcdclusters', { namespace: 'payments', name: 'orders' }, 'a.b/c', 'd'),
    'kubectl -n payments annotate --overwrite etcdclusters.etcd.ratchet.dev orders a.b/c=d',
  );
});

test('no printed command leaves it to kubectl whose EtcdCluster is meant', () => {
  const files = ['functions', 'reconcile', 'gitops'].flatMap((room) => globSync(`${root}/${room}/**/*.ts`));
  assert.ok(files.length > 200);
  const bare = /kubectl [^`\n]*(?:annotate|patch|scale|get|delete)[^`\n]* etcd(?:cluster|fleet|peer)s?(?![\w.])/;
  assert.deepEqual(
    [...files, `${root}/README.md`].filter((file) => bare.test(readFileSync(file, 'utf8'))),
    [],
  );
});

test('the admission policy guards exactly the annotations that approve what can not be undone', () => {
  const policy = readFileSync(join(root, 'manifests/install/cluster/approvals.yaml'), 'utf8');
  const listed = /name: approvals\s+expression: "\[([^\]]*)\]"/.exec(policy)?.[1];
  assert.deepEqual(
    listed?.split(', ').map((name) => name.replaceAll("'", '')),
    [...approvals],
  );
});
