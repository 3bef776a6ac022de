import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';
import { test } from 'node:test';

const checkout = join(import.meta.dirname, '../..');

/** What each room may import of ours, besides itself. */
const mayImport: Readonly<Record<string, readonly string[]>> = {
  manifests: [],
  gitops: ['manifests'],
  reconcile: ['manifests'],
  functions: ['manifests', 'gitops', 'reconcile'],
};

/** Packages that only their own client file speaks to. */
const clientOf: Readonly<Record<string, RegExp>> = {
  '@kubernetes/client-node': /^reconcile\/clients\/kube[^/]*\.ts$/,
  etcd3: /^reconcile\/clients\/etcd[^/]*\.ts$/,
  '@grpc/grpc-js': /^reconcile\/clients\/etcd[^/]*\.ts$/,
  'isomorphic-git': /^gitops\//,
  '@peculiar/x509': /^reconcile\/clients\/x509\.ts$/,
};

const pure = [
  'reconcile/cluster/decide.ts',
  'reconcile/cluster/rules/**/*.ts',
  'manifests/build/**/*.ts',
  'functions/page/{home,fleet,cluster,check,notice,layout,parts,members,history,plan,requests,revisions,attention,state,time}.ts',
];

for (const [room, allowed] of Object.entries(mayImport)) {
  test(`${room} imports nothing of ours but ${allowed.join(', ') || 'itself'}`, () => {
    const files = globSync(`${room}/**/*.ts`, { cwd: checkout });
    assert.ok(files.length > 0, `no file in ${room}`);
    for (const file of files) {
      for (const target of importsOf(file).filter((name) => name.startsWith('.'))) {
        const other = normalize(join(dirname(file), target)).split('/')[0] ?? '';
        assert.ok(other === room || allowed.includes(other), `${file} imports ${target}`);
      }
    }
  });
}

for (const [name, owner] of Object.entries(clientOf)) {
  test(`${name} is imported only where it belongs`, () => {
    const files = globSync('{functions,gitops,reconcile,manifests}/**/*.ts', { cwd: checkout });
    const importers = files.filter((file) =>
      importsOf(file).some((target) => target === name || target.startsWith(`${name}/`)),
    );
    assert.ok(importers.length > 0, `nobody imports ${name}`);
    for (const file of importers) assert.match(file, owner);
  });
}

test('decide, its rules, the builders and the pages read no clock, no environment and no network', () => {
  for (const file of globSync(pure, { cwd: checkout })) {
    const source = readFileSync(join(checkout, file), 'utf8');
    assert.doesNotMatch(
      source,
      /Date\.now\(|new Date\(\)|process\.env|fetch\(|Math\.random|node:(fs|net|http|https)/,
      file,
    );
  }
});

function importsOf(file: string): readonly string[] {
  const source = readFileSync(join(checkout, file), 'utf8');
  return [...source.matchAll(/(?:from|import)\s*\(?\s*'([^']+)'/g)].map(([, target]) => target ?? '');
}
