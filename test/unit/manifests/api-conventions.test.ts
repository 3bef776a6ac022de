import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { definitions } from '../../../manifests/api/kinds.ts';
import type { Structural } from '../../../manifests/api/schema.ts';

/** What docs/explanation/api-conventions.md says of every field, held against every field. */

interface Field {
  readonly path: string;
  readonly name: string;
  readonly part: 'spec' | 'status';
  readonly field: Structural;
}

const fields = Object.values(definitions).flatMap(({ kind, spec, status }) => [
  ...fieldsOf(spec, `${kind}.spec`, 'spec'),
  ...fieldsOf(status, `${kind}.status`, 'status'),
]);

function fieldsOf(schema: Structural, path: string, part: Field['part']): Field[] {
  const own = Object.entries(schema.properties ?? {}).flatMap(([name, field]) => [
    { path: `${path}.${name}`, name, part, field },
    ...fieldsOf(field, `${path}.${name}`, part),
  ]);
  const inner = schema.items ?? schema.additionalProperties;
  return inner ? [...own, ...fieldsOf(inner, `${path}[]`, part)] : own;
}

const page = readFileSync(join(import.meta.dirname, '../../../docs/explanation/api-conventions.md'), 'utf8');

/** The last word of each path, once: shared parts of the schema are in several kinds. */
function namesOf(found: readonly Field[]): readonly string[] {
  return [...new Set(found.map(({ name }) => name))].toSorted();
}

test('there are fields to look at', () => assert.ok(fields.length > 400, String(fields.length)));

test('names are camelCase, and all letters of an acronym have one case', () => {
  const wrong = fields.filter(
    ({ name }) => !/^[a-z][a-zA-Z0-9]*$/.test(name) || /(Url|Uri|Dns|Ip|Id|Uid|Api|Http|Tls|Ca)(?=[A-Z]|$)/.test(name),
  );
  assert.deepEqual(namesOf(wrong), []);
});

test('a boolean of a spec is one of those that the page gives a reason for', () => {
  const booleans = namesOf(fields.filter(({ part, field }) => part === 'spec' && field.type === 'boolean'));
  assert.deepEqual(booleans, ['prune', 'skipDrain', 'suspend']);
  for (const name of booleans) assert.ok(page.includes(`\`${name}\``), name);
});

test('words of an enum are CamelCase, but for those that the page gives a reason for', () => {
  const others = fields.filter(({ field }) => field.enum?.some((word) => !/^[A-Z][A-Za-z0-9]*$/.test(word)));
  assert.deepEqual(namesOf(others), ['annotation', 'state', 'volumeState']);
  for (const name of ['approvals[].annotation', 'checks[].state', 'volumeState'])
    assert.ok(page.includes(`\`${name}\``), name);
});

test('every list says how appliers share it, and conditions are a map by type', () => {
  const lists = fields.filter(({ field }) => field.items);
  assert.deepEqual(namesOf(lists.filter(({ field }) => field['x-kubernetes-list-type'] === undefined)), []);
  for (const { field, path } of lists.filter(({ name }) => name === 'conditions'))
    assert.deepEqual(field['x-kubernetes-list-map-keys'], ['type'], path);
});

test('a list of a spec has one owner: fields of a live object are told apart down to it', () => {
  const lists = fields.filter(({ part, field }) => part === 'spec' && field.items);
  const shared = lists.filter(({ field }) => field['x-kubernetes-list-type'] !== 'atomic');
  assert.deepEqual(namesOf(shared), []);
});

test('objects get only the defaults that the page names', () => {
  const kept = fields.filter(({ field }) => field.keepsDefault && typeof field.default !== 'object');
  assert.deepEqual(namesOf(kept), ['keepFor', 'mode', 'policy', 'suspend', 'whenDeleted', 'whenScaled']);
  assert.deepEqual(
    [...new Set(kept.filter(({ name }) => name === 'mode').map(({ path }) => path.replace(/.*\.(?=tls\.)/, '')))],
    ['tls.mode'],
  );
  for (const name of ['tls.mode', 'volumeRetention', 'suspend']) assert.ok(page.includes(`\`${name}\``), name);
});

test('a field whose description counts bytes says so in its name', () => {
  const bytes = fields.filter(
    ({ field }) => field.type === 'integer' && /\bbytes?\b|size of|as it is stored/i.test(field.description ?? ''),
  );
  assert.ok(bytes.length > 0);
  assert.deepEqual(namesOf(bytes.filter(({ name }) => !/bytes$/i.test(name))), []);
});

for (const { kind, columns } of Object.values(definitions)) {
  test(`the columns of ${kind} say Ready of the condition, and no phase`, () => {
    const paths = Object.fromEntries(columns.map(({ name, jsonPath }) => [name, jsonPath]));
    assert.equal(paths.Phase, undefined);
    const condition = (field: string) => `.status.conditions[?(@.type=="Ready")].${field}`;
    if (kind !== 'EtcdPeer') assert.equal(paths.Ready, condition('status'));
    if (paths.Reason !== undefined) assert.equal(paths.Reason, condition('reason'));
  });
}
