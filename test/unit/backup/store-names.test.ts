import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { networkStores, schemes } from '../../../manifests/stores/stores.ts';
import { openers } from '../../../reconcile/backup/stores/openers.ts';

const checkout = join(import.meta.dirname, '../../..');

/** `azure` is also the name of a forge; a PersistentVolumeClaim is `pvc` to people and to kubectl. */
const otherwise = /azure[- ]?devops|dev\.azure\.com|Metadata of clouds outside of the link.*/gi;
const vendors = Object.values(openers).flatMap(({ ownHosts }) => ownHosts({}).vendor.map(({ host }) => host));
const clients = ['client-s3', 'cloud/storage', 'storage-blob'];
const words = [...networkStores.flatMap(({ scheme, field }) => [scheme, field]), ...clients, ...vendors];
const names = new RegExp(`\\b(${words.join('|')})\\b|\\b(${schemes.join('|')})://|'(${schemes.join('|')})'`, 'gi');

test('no store is named outside of the two rooms of stores', () => {
  const files = globSync('{functions,gitops,reconcile,manifests,docs}/**/*.ts', {
    cwd: checkout,
    exclude: [
      '**/node_modules',
      'gitops/forges/azure-devops/**',
      'docs/.vitepress/**',
      'manifests/stores/**',
      'reconcile/backup/stores/**',
    ],
  });
  assert.ok(files.length > 500);
  const found = files.flatMap((file) => {
    const source = readFileSync(join(checkout, file), 'utf8').replaceAll(otherwise, '');
    return [...source.matchAll(names)].map(([name]) => `${file} names ${name}`);
  });
  assert.deepEqual(found, []);
});

test('the search for names finds them in both rooms', () => {
  for (const scheme of schemes) {
    const sources = globSync(`{manifests,reconcile/backup}/stores/**/*.ts`, { cwd: checkout });
    const text = sources.map((file) => readFileSync(join(checkout, file), 'utf8')).join('\n');
    assert.ok(
      [...text.matchAll(names)].some(([name]) => name.startsWith(scheme)),
      scheme,
    );
  }
});
