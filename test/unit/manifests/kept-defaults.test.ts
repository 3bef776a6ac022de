import assert from 'node:assert/strict';
import { test } from 'node:test';
import { fleetKinds, isFleetKind } from '../../../manifests/api/fleet-kinds.ts';
import { keptDefaults } from '../../../manifests/api/kept-defaults.ts';
import { definitions } from '../../../manifests/api/kinds.ts';
import type { Structural } from '../../../manifests/api/schema.ts';

test('the defaults that are known without a schema are those of the schemas', () => {
  const kinds = Object.values(definitions).filter(({ kind }) => isFleetKind(kind));
  assert.equal(kinds.length, Object.keys(fleetKinds).length);
  for (const { kind, spec } of kinds) assert.deepEqual(kept(spec), isFleetKind(kind) && keptDefaults[kind], kind);
});

function kept(schema: Structural): unknown {
  const inner = Object.entries(schema.properties ?? {}).flatMap(([name, field]) => {
    const value = field.properties ? kept(field) : field.keepsDefault ? field.default : undefined;
    const isEmpty = value === undefined || (typeof value === 'object' && Object.keys(value ?? {}).length === 0);
    return isEmpty ? [] : [[name, value] as const];
  });
  return Object.fromEntries(inner);
}
