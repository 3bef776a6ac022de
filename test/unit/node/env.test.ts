import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { ConfigError, type EnvSources, expand, resolveEnv } from '../../support/cluster/node/env.ts';

const defined = new Map([
  ['A', 'a'],
  ['B', '$(A)'],
  ['EMPTY', ''],
]);

const expansions = [
  { says: 'a reference becomes the value', text: '$(A)-$(A)', gives: 'a-a' },
  { says: 'a value is not expanded again', text: '$(B)', gives: '$(A)' },
  { says: 'an empty value is a value', text: '<$(EMPTY)>', gives: '<>' },
  { says: 'an unknown reference stays', text: '$(C)', gives: '$(C)' },
  { says: 'two dollars are one', text: '$$(A) $$$$', gives: '$(A) $$' },
  { says: 'an escaped dollar before a reference', text: '$$$(A)', gives: '$a' },
  { says: 'a lone dollar stays', text: '5$ $A $', gives: '5$ $A $' },
  { says: 'an open reference stays', text: '$(A', gives: '$(A' },
];

for (const { says, text, gives } of expansions) {
  test(`expanding: ${says}`, () => assert.equal(expand(text, defined), gives));
}

test('text without a dollar is never changed', () => {
  fc.assert(
    fc.property(
      fc.string().filter((text) => !text.includes('$')),
      (text) => expand(text, defined) === text,
    ),
  );
});

const sources: EnvSources = {
  configMap: async (name, optional) => {
    if (name === 'there') return new Map([['key', 'from config']]);
    if (optional) return undefined;
    throw new ConfigError(`configmap "${name}" not found`);
  },
  secret: async () => new Map([['key', 'from secret']]),
  field: (path) => `field ${path}`,
  resource: (name) => `resource ${name}`,
};

test('the later of two definitions wins: base, envFrom, env', async () => {
  const base = new Map([
    ['P_key', 'base'],
    ['ONLY', 'base'],
  ]);
  const env = await resolveEnv(
    base,
    { envFrom: [{ prefix: 'P_', configMapRef: { name: 'there' } }], env: [{ name: 'X', value: '$(P_key) $(ONLY)' }] },
    sources,
  );
  assert.deepEqual(Object.fromEntries(env), { P_key: 'from config', ONLY: 'base', X: 'from config base' });
});

test('every source gives its value', async () => {
  const env = await resolveEnv(
    new Map(),
    {
      env: [
        { name: 'C', valueFrom: { configMapKeyRef: { name: 'there', key: 'key' } } },
        { name: 'S', valueFrom: { secretKeyRef: { name: 'there', key: 'key' } } },
        { name: 'F', valueFrom: { fieldRef: { fieldPath: 'metadata.name' } } },
        { name: 'R', valueFrom: { resourceFieldRef: { resource: 'limits.cpu' } } },
        { name: 'GONE', valueFrom: { configMapKeyRef: { name: 'missing', key: 'key', optional: true } } },
      ],
    },
    sources,
  );
  assert.deepEqual(Object.fromEntries(env), {
    C: 'from config',
    S: 'from secret',
    F: 'field metadata.name',
    R: 'resource limits.cpu',
  });
});

test('a missing ConfigMap and a missing key are named', async () => {
  const from = (name: string, key: string) =>
    resolveEnv(new Map(), { env: [{ name: 'X', valueFrom: { configMapKeyRef: { name, key } } }] }, sources);
  await assert.rejects(from('missing', 'key'), { name: 'ConfigError', message: 'configmap "missing" not found' });
  await assert.rejects(from('there', 'other'), {
    name: 'ConfigError',
    message: "couldn't find key other in configmap there",
  });
});
