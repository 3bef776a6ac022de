import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { promisify } from 'node:util';
import { parseAllDocuments } from 'yaml';

const install = join(import.meta.dirname, '../../../manifests/install');

interface Manifest {
  readonly kind: string;
  readonly rules?: readonly Readonly<Record<string, readonly string[]>>[];
}

function manifests(file: string): Manifest[] {
  return parseAllDocuments(readFileSync(join(install, file), 'utf8')).map((document) => document.toJS() as Manifest);
}

test('the committed CRDs are what the definitions say', async () => {
  await promisify(execFile)(process.execPath, [join(install, 'generate.ts'), '--check']);
});

test('no role has a wildcard', () => {
  const files = ['workload', 'cluster', 'namespaced'].flatMap((directory) =>
    readdirSync(join(install, directory)).map((file) => `${directory}/${file}`),
  );
  const rules = files.flatMap((file) => manifests(file).flatMap((manifest) => manifest.rules ?? []));
  assert.ok(rules.length > 15);
  for (const rule of rules) assert.doesNotMatch(JSON.stringify(rule), /\*/);
});

for (const [whole, one] of [
  ['cluster/role.yaml', 'namespaced/role.yaml'],
  ['cluster/fleet-role.yaml', 'namespaced/fleet-role.yaml'],
] as const) {
  test(`${one} grants in one namespace what ${whole} grants in all`, () => {
    assert.ok(manifests(whole)[0]?.rules);
    assert.deepEqual(manifests(one)[0]?.rules, manifests(whole)[0]?.rules);
  });
}
