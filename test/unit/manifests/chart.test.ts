import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { parse } from 'yaml';
import { chartFiles } from '../../../manifests/helm/chart.ts';
import { compose } from '../../../manifests/helm/compose.ts';
import { type Condition, expression, isAlways, simplified, within } from '../../../manifests/helm/condition.ts';
import { templateOf } from '../../../manifests/helm/template.ts';

const names = ['a', 'b', 'c'] as const;
const terms = fc.dictionary(fc.constantFrom(...names), fc.boolean(), { maxKeys: 3 });
const conditions: fc.Arbitrary<Condition> = fc.array(terms, { minLength: 1, maxLength: 6 });

function holds(condition: Condition, state: Readonly<Record<string, boolean>>): boolean {
  return condition.some((term) => Object.entries(term).every(([name, on]) => state[name] === on));
}

const states = [0, 1, 2, 3, 4, 5, 6, 7].map((bits) =>
  Object.fromEntries(names.map((name, i) => [name, (bits & (1 << i)) !== 0])),
);

test('a condition that is simplified holds exactly where it held before', () => {
  fc.assert(
    fc.property(conditions, (condition) => {
      for (const state of states) assert.equal(holds(simplified(condition), state), holds(condition, state));
    }),
  );
});

test('within another condition, what is left to ask decides the same', () => {
  fc.assert(
    fc.property(conditions, conditions, (condition, given) => {
      const rest = within(condition, given);
      for (const state of states.filter((one) => holds(given, one))) {
        assert.equal(holds(rest, state), holds(condition, state));
      }
    }),
  );
});

test('a condition is written as an argument of if, and one that always holds is none', () => {
  const value = (name: string) => `.${name}`;
  assert.equal(expression([{ a: true }], value), '.a');
  assert.equal(expression([{ a: true, b: false }], value), 'and .a (not .b)');
  assert.equal(expression([{ a: true, b: true }, { c: false }], value), 'or (and .a .b) (not .c)');
  assert.ok(isAlways(simplified([{ a: true }, { a: false }])));
  assert.throws(() => expression([{}], value), /needs no guard/);
});

const object = 'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: x}\ndata: {a: "{{ .Values }}", b: c}\n';

function composed(kustomization: object) {
  const read = (file: string) => (file.endsWith('object.yaml') ? object : JSON.stringify(kustomization));
  return compose([{ directory: 'd', when: { on: true } }], { read });
}

for (const [what, kustomization, says] of [
  ['a transformer', { namePrefix: 'x-' }, /namePrefix is not understood/],
  ['a generator', { configMapGenerator: [] }, /configMapGenerator is not understood/],
  ['an image of its own', { images: [{}] }, /images are named by manifests\/image only/],
  ['a patch by merge', patch({ data: { a: 'b' } }), /only operations of RFC 6902 and deletions/],
  ['an operation that moves', patch([{ op: 'move', path: '/data/b', from: '/data/a' }]), /operation move/],
  ['a patch of what is not there', { ...patch([]), resources: [] }, /ConfigMap x is there 0 times/],
] as const) {
  test(`a kustomization with ${what} is not passed over`, () => {
    assert.throws(() => composed({ resources: ['object.yaml'], ...kustomization }), says);
  });
}

function patch(content: object) {
  return { patches: [{ target: { kind: 'ConfigMap', name: 'x' }, patch: JSON.stringify(content) }] };
}

function configured(configuration: object) {
  const files: Readonly<Record<string, string>> = {
    'd/kustomization.yaml': JSON.stringify({ resources: ['object.yaml'], configurations: ['fields.yaml'] }),
    'd/fields.yaml': JSON.stringify(configuration),
    'd/object.yaml':
      'kind: Selector\nmetadata: {name: x}\nspec: {example.com/where: etcd-ratchet, else: etcd-ratchet}\n',
  };
  return compose([{ directory: 'd', when: { on: true } }], { read: (file) => files[file] ?? assert.fail(file) });
}

test('a field that kustomize sets to the namespace is that of the release, and no other is', () => {
  const path = String.raw`spec/example.com\/where`;
  const [part = assert.fail()] = configured({ namespace: [{ path, kind: 'Selector' }] });
  assert.match(templateOf(part, []), /where: \{\{ \.Release\.Namespace \| quote \}\}\n +else: etcd-ratchet\n/);
  const [other = assert.fail()] = configured({ namespace: [{ path, kind: 'Other' }] });
  assert.doesNotMatch(templateOf(other, []), /Release/);
});

for (const [what, configuration] of [
  ['of another transformer', { namePrefix: [], namespace: [] }],
  ['that asks for more than a kind', { namespace: [{ path: 'spec/a', kind: 'Selector', create: true }] }],
] as const) {
  test(`a configuration ${what} is not passed over`, () => {
    assert.throws(() => configured(configuration), /is not understood by manifests\/helm/);
  });
}

for (const [what, operation, says] of [
  ['removes what is not there', { op: 'remove', path: '/data/z' }, /\/data\/z is not there to remove/],
  ['adds below nothing', { op: 'add', path: '/spec/z', value: 1 }, /\/spec is not there/],
  ['tests for something else', { op: 'test', path: '/data/b', value: 'd' }, /data\/b/],
] as const) {
  test(`a patch that ${what} is refused, as kustomize does`, () => {
    const [part = assert.fail()] = composed({ resources: ['object.yaml'], ...patch([operation]) });
    assert.throws(() => templateOf(part, []), says);
  });
}

test('braces in an object are text, and no action of the template', () => {
  const [part = assert.fail()] = composed({ resources: ['object.yaml'] });
  assert.match(templateOf(part, []), /a: "\{\{ "\{\{" \}\} \.Values \}\}"/);
});

test('the chart and what it installs have the version that it is made for', () => {
  const { version, appVersion } = parse(chartFiles('9.9.9')['Chart.yaml'] ?? '') as Record<string, string>;
  assert.deepEqual([version, appVersion], ['9.9.9', '9.9.9']);
});
