import assert from 'node:assert/strict';
import { test } from 'node:test';
import { definitions } from '../../../manifests/api/kinds.ts';
import type { Structural } from '../../../manifests/api/schema.ts';

function* fieldsOf(schema: Structural, path: string): Iterable<readonly [path: string, field: Structural]> {
  for (const [name, field] of Object.entries(schema.properties ?? {})) {
    yield [`${path}.${name}`, field];
    yield* fieldsOf(field, `${path}.${name}`);
  }
  if (schema.items) yield* fieldsOf(schema.items, `${path}[]`);
  if (schema.additionalProperties) yield* fieldsOf(schema.additionalProperties, `${path}{}`);
}

for (const { kind, spec, status } of Object.values(definitions)) {
  test(`kubectl explain says something of every field of ${kind}`, () => {
    const fields = [...fieldsOf(spec, 'spec'), ...fieldsOf(status, 'status')];
    assert.ok(fields.length > 10);
    const silent = fields.filter(([, { description = '' }]) => !/^\S.*[.>]$/s.test(description));
    assert.deepEqual(
      silent.map(([path, { description }]) => [path, description]),
      [],
    );
  });
}
