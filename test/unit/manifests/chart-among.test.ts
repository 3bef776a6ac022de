import assert from 'node:assert/strict';
import { test } from 'node:test';
import { chartFiles } from '../../../manifests/helm/chart.ts';
import { compose } from '../../../manifests/helm/compose.ts';
import { helpers } from '../../../manifests/helm/helpers.ts';
import { templateOf } from '../../../manifests/helm/template.ts';
import type { Value } from '../../../manifests/helm/values/value.ts';

const object = 'kind: Pod\nmetadata: {name: x, labels: {a: b}}\nspec: {env: [{name: ONE, value: "1"}]}\n';

function partsWith(...patch: readonly object[]) {
  const patches = [{ target: { kind: 'Pod', name: 'x' }, patch: JSON.stringify(patch) }];
  const read = (file: string) =>
    file.endsWith('object.yaml') ? object : JSON.stringify({ resources: ['object.yaml'], patches });
  return compose([{ directory: 'd', when: { on: true } }], { read });
}

function valueAt(path: string, at: string, schema: object = { type: 'object' }): Value {
  return { path, about: '', schema, default: {}, places: [{ kind: '*', name: '*', at, as: 'among' }] };
}

test('entries are added to the map or list that is there, and else make one', () => {
  const [part = assert.fail()] = partsWith();
  const text = templateOf(part, [
    valueAt('one', '/metadata/labels'),
    valueAt('two', '/metadata/annotations'),
    valueAt('three', '/spec/env', { type: 'array' }),
  ]);
  assert.match(
    text,
    / {4}a: b\n\{\{- with \.Values\.one \}\}\n {4}\{\{- toYaml \. \| nindent 4 \}\}\n\{\{- end \}\}\n/,
  );
  assert.match(text, /\{\{- with \.Values\.two \}\}\n {2}annotations:\n {4}\{\{- toYaml \. \| nindent 4 \}\}\n/);
  assert.match(text, /value: "1"\n\{\{- with \.Values\.three \}\}\n {4}\{\{- toYaml \. \| nindent 4 \}\}\n/);
});

test('of two values at one place, the later in the table counts where both have a key', () => {
  const [part = assert.fail()] = partsWith();
  const text = templateOf(part, [valueAt('wide', '/metadata/labels'), valueAt('narrow', '/metadata/labels')]);
  assert.match(text, /with merge \(dict\) \.Values\.narrow \.Values\.wide \}\}/);
});

test('a map that a patch adds and a value would add a second time is refused', () => {
  const [part = assert.fail()] = partsWith({ op: 'add', path: '/metadata/annotations', value: {} });
  assert.throws(
    () => templateOf(part, [valueAt('two', '/metadata/annotations')]),
    /a patch adds \/metadata\/annotations/,
  );
});

test('what stands there, and what a component adds, is taken: the check names it', () => {
  const parts = partsWith(
    { op: 'add', path: '/metadata/labels/later', value: 'x' },
    { op: 'add', path: '/spec/env/-', value: { name: 'TWO' } },
  );
  const reserved = [{ prefix: 'OWN_', instead: 'leave it' }];
  const values = [
    { ...valueAt('one', '/metadata/labels'), reserved },
    { ...valueAt('three', '/spec/env', { type: 'array' }), reserved },
  ];
  const text = helpers('', values, parts);
  assert.match(text, /if has \$key \(list "a" "later"\)/);
  assert.match(text, /\{\{- \$key := \$one\.name -\}\}\n\{\{- if has \$key \(list "ONE" "TWO"\)/);
  assert.match(text, /hasPrefix "OWN_" \$key/);
});

test('every object of the chart gets the common labels, also those that no kustomization has', () => {
  for (const [name, text] of Object.entries(chartFiles('1.0.0'))) {
    if (!name.startsWith('templates/') || !name.endsWith('.yaml')) continue;
    const objects = text.match(/^kind: /gm) ?? [];
    const labelled = text.match(/\.Values\.commonLabels/g) ?? [];
    assert.equal(labelled.length, objects.length, name);
  }
});
