import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { approveCommand } from '../../../manifests/render/kubectl.ts';
import { approvals } from '../../../manifests/render/names.ts';

const root = join(import.meta.dirname, '../../..');

test('a command to copy names the resource with its group', () => {
  assert.equal(
    approveCommand('etcdclusters', { namespace: 'payments', name: 'orders' }, { annotation: approvals[0], value: 'd' }),
    `kubectl -n payments annotate --overwrite etcdclusters.etcd.ratchet.dev orders ${approvals[0]}-approved-by="$(kubectl auth whoami -o jsonpath={.status.userInfo.username})" ${approvals[0]}=d`,
  );
});

test('no printed command leaves it to kubectl whose EtcdCluster is meant', () => {
  const files = ['functions', 'reconcile', 'gitops'].flatMap((room) => globSync(`${root}/${room}/**/*.ts`));
  assert.ok(files.length > 200);
  const bare = /kubectl [^`\n]*(?:annotate|patch|scale|get|delete)[^`\n]* etcd(?:cluster|fleet|peer)s?(?![\w.])/;
  assert.deepEqual(
    [...files, `${root}/README.md`, ...globSync(`${root}/docs/**/*.md`)].filter((file) =>
      bare.test(readFileSync(file, 'utf8')),
    ),
    [],
  );
});

test('no command that is put together leaves it to kubectl whose EtcdBackup is meant', () => {
  const files = ['functions', 'reconcile', 'gitops'].flatMap((room) => globSync(`${root}/${room}/**/*.ts`));
  const bare = /kubectl\([^`\n]*`[^`\n]*etcd(?:cluster|fleet|peer|backup|backupschedule|restore)s?(?![\w.'])/;
  assert.deepEqual(
    files.filter((file) => bare.test(readFileSync(file, 'utf8'))),
    [],
  );
});

test('a command about something in a namespace names the namespace', () => {
  const files = ['functions', 'reconcile', 'gitops'].flatMap((room) => globSync(`${root}/${room}/**/*.ts`));
  const bare =
    /kubectl (?:describe|logs|delete|edit|patch (?!pv |storageclass )|label (?!--overwrite namespace )|annotate|exec|get (?!etcdfleets|validating|namespaces?\b|\S+ --all-namespaces))/;
  const said = files.flatMap((file) =>
    readFileSync(file, 'utf8')
      .split('\n')
      .filter((line) => bare.test(line) && !/^\s*(?:\/\*|\*|\/\/)/.test(line)),
  );
  // The table of cures is about any cluster: there a placeholder stands for the namespace.
  assert.deepEqual(
    said.filter((line) => !line.includes('etcdpeers.etcd.ratchet.dev` shows')),
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
