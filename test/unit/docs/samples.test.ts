import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { parseFile } from '../../../gitops/specs/parse.ts';
import type { EtcdCluster } from '../../../manifests/api/etcd-cluster.ts';
import { type EtcdFleet, forgeTypes } from '../../../manifests/api/etcd-fleet.ts';
import { validateDocument } from '../../../manifests/api/validate.ts';
import { warningsFor } from '../../../manifests/api/warnings.ts';
import { sampleDirectory, samples } from './samples.ts';

const fleets = [...samples.values()] as readonly { readonly spec: { readonly forge?: { readonly type: string } } }[];

test('there is a sample for each forge', () => {
  const shown = fleets.flatMap(({ spec: { forge } }) => forge?.type ?? []);
  assert.deepEqual(shown.toSorted(), [...forgeTypes].toSorted());
});

test('the index of the samples names each of them, and no other', () => {
  const index = readFileSync(join(sampleDirectory, 'README.md'), 'utf8');
  const named = [...index.matchAll(/\]\(([^)]+\.yaml)\)/g)].map(([, file = '']) => file);
  assert.deepEqual(named.toSorted(), [...samples.keys()].toSorted());
});

for (const file of samples.keys()) {
  test(`a pull request that adds ${file} has neither a problem nor a warning`, async () => {
    const { problems, ignored } = await parseFile(file, readFileSync(join(sampleDirectory, file)));
    assert.deepEqual([problems, ignored], [[], false]);
    const sample = samples.get(file);
    assert.deepEqual(validateDocument(sample), []);
    assert.deepEqual(warningsFor(sample as EtcdCluster | EtcdFleet), []);
  });
}
