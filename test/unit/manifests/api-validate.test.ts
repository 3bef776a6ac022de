import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { mostProblems } from '../../../manifests/api/problem.ts';
import { validateDocument } from '../../../manifests/api/validate.ts';
import {
  badDocuments,
  changed,
  cluster,
  fleet,
  fullCluster,
  fullFleet,
  fullNodePolicy,
  namedCluster,
  nodePolicy,
  peer,
} from './api-documents.ts';
import { refusedSources, takenSources } from './network-sources.ts';

for (const [name, document] of Object.entries({
  cluster,
  fullCluster,
  namedCluster,
  fleet,
  fullFleet,
  peer,
  nodePolicy,
  fullNodePolicy,
})) {
  test(`the good ${name} has nothing to complain about`, () => {
    assert.deepEqual(validateDocument(document), []);
  });
}

for (const { title, document, says } of badDocuments) {
  test(`${title} is refused`, () => {
    const messages = validateDocument(document).map(({ message }) => message);
    assert.ok(
      messages.some((message) => message.includes(says)),
      `nothing said ${JSON.stringify(says)}, but ${JSON.stringify(messages)}`,
    );
  });
}

for (const [title, document, says] of [
  ['null', null, 'the document must be an object'],
  ['a string', 'replicas: 3', 'the document must be an object'],
  ['a list of documents', [cluster], 'the document must be an object'],
  ['another group', changed(cluster, 'apiVersion', 'v1'), 'apiVersion must be etcd.ratchet.dev/v1alpha1, is "v1"'],
  ['another version', changed(cluster, 'apiVersion', 'etcd.ratchet.dev/v1'), 'which is not served'],
  ['no kind', changed(cluster, 'kind', undefined), 'kind must be one of'],
  ['a slip in the kind', changed(cluster, 'kind', 'EtcdClutser'), 'did you mean EtcdCluster?'],
  ['no metadata', changed(cluster, 'metadata', undefined), 'metadata is required'],
  ['no name', changed(cluster, 'metadata/name', undefined), 'metadata.name is required'],
  ['a name that is a number', changed(cluster, 'metadata/name', 7), 'metadata.name must be a string, is 7'],
  ['no namespace', changed(cluster, 'metadata/namespace', undefined), 'metadata.namespace is required'],
  ['a namespace of what has none', changed(nodePolicy, 'metadata/namespace', 'x'), 'does not belong here'],
  ['a long namespace', changed(cluster, 'metadata/namespace', 'n'.repeat(64)), 'must have at most 63 characters'],
  ['an owner label', changed(cluster, 'metadata/labels', { 'etcd.ratchet.dev/fleet': 'x' }), 'belongs to etcd-ratchet'],
  [
    'a word for pruning that is none',
    changed(cluster, 'metadata/annotations', { 'etcd.ratchet.dev/prune': 'Disabled' }),
    'must be disabled or confirm, is "Disabled"',
  ],
  [
    'a truth for pruning',
    changed(cluster, 'metadata/annotations', { 'etcd.ratchet.dev/prune': false }),
    'must be disabled or confirm, is false',
  ],
  [
    'nothing for pruning',
    changed(cluster, 'metadata/annotations', { 'etcd.ratchet.dev/prune': null }),
    'must be disabled or confirm, is empty',
  ],
  [
    'a label for pruning',
    changed(cluster, 'metadata/labels', { 'etcd.ratchet.dev/prune': 'disabled' }),
    'belongs to etcd-ratchet',
  ],
  ['an exported object', changed(cluster, 'metadata/uid', 'x'), 'metadata.uid is set by the API server'],
  ['a finalizer', changed(cluster, 'metadata/finalizers', ['x']), 'does not belong in a document'],
  ['a label that is no string', changed(cluster, 'metadata/labels', { a: true }), 'metadata.labels.a must be a string'],
] as const) {
  test(`${title} is refused in a document`, () => {
    assert.match(validateDocument(document)[0]?.message ?? 'nothing', new RegExp(escaped(says)));
  });
}

test('every problem says where it is', () => {
  const bad = changed(changed(cluster, 'spec/replicas', 'three'), 'spec/image/pullSecrets', [{ nmae: 'a' }]);
  assert.deepEqual(
    validateDocument(bad).map(({ path }) => path),
    [
      ['spec', 'replicas'],
      ['spec', 'image', 'pullSecrets', 0, 'nmae'],
    ],
  );
});

test('sources of a network policy are refused where the API server would refuse the policy', () => {
  for (const source of takenSources)
    assert.deepEqual(validateDocument(changed(cluster, 'spec/networkPolicy/clients', [source])), []);
  for (const [source, says, below] of refusedSources) {
    const found = validateDocument(changed(cluster, 'spec/networkPolicy/monitoring', [{ podSelector: {} }, source]));
    const what = JSON.stringify({ source, found });
    assert.deepEqual(found[0]?.path, ['spec', 'networkPolicy', 'monitoring', 1, ...below], what);
    assert.ok(found.length === 1 && found[0].message.includes(says), what);
  }
});

test('what is wrong in a network policy is named: the key, or the block', () => {
  const said = (source: object) =>
    validateDocument(changed(cluster, 'spec/networkPolicy/clients', [source]))[0]?.message ?? 'nothing';
  assert.match(said({ podSelector: { matchLabels: { good: 'x', 'a b': 'x' } } }), /\("a b"\)$/);
  assert.match(
    said({ ipBlock: { cidr: '10.0.0.0/8', except: ['10.1.0.0/16', '11.0.0.0/16'] } }),
    /\(11\.0\.0\.0\/16\)$/,
  );
});

test('a misspelt field is said once, as what it was meant to be, and not missed as well', () => {
  const { replicas, ...others } = cluster.spec;
  assert.deepEqual(validateDocument({ ...cluster, spec: { replicsa: replicas, ...others } }), [
    { path: ['spec', 'replicsa'], message: 'spec.replicsa is not a known field; did you mean replicas?' },
  ]);
});

test('what is missing is missed also beside an unknown field that is not like it', () => {
  const { replicas: _, ...others } = cluster.spec;
  assert.deepEqual(
    validateDocument({ ...cluster, spec: { colour: 'blue', ...others } }).map(({ path }) => path),
    [
      ['spec', 'colour'],
      ['spec', 'replicas'],
    ],
  );
});

test('what might be a credential is not repeated', () => {
  for (const [path, value] of [
    ['spec/git/url', 'https://user:hunter2@git.example.com/a.git'],
    ['spec/git/url', 'hunter2@example.com:a.git'],
    ['spec/git/secretName', 'hunter2_token'],
    ['spec/git/password', 'hunter2'],
  ] as const) {
    const said = JSON.stringify(validateDocument(changed(fleet, path, value)));
    assert.ok(said.length > 2 && !said.includes('hunter2'), said);
  }
});

test('a null where a field is optional is as good as nothing', () => {
  assert.deepEqual(validateDocument(changed(cluster, 'spec/image', null)), []);
});

for (const [title, value] of [
  ['a deep document', nested(10_000)],
  ['a cyclic document', cyclic()],
  ['a wide document', changed(cluster, 'spec/etcd/extraArgs', Object.fromEntries(wide(100_000)))],
  ['a huge text', changed(cluster, 'spec/version', '3'.repeat(5_000_000))],
  ['a list of garbage', changed(cluster, 'spec/image/pullSecrets', Array(10_000).fill(1))],
  ['a Map', changed(cluster, 'spec/podTemplate/spec', { x: new Map() })],
] as const) {
  test(`${title} is refused quickly and briefly`, () => {
    const before = process.cpuUsage();
    const problems = validateDocument(value);
    assert.ok(problems.length > 0 && problems.length <= mostProblems);
    assert.ok(problems.every(({ message }) => message.length <= 1001));
    const { user, system } = process.cpuUsage(before);
    assert.ok(user + system < 1_000_000, `it took ${(user + system) / 1000} ms of processor time`);
  });
}

test('whatever it is given, it answers', () => {
  const anything = fc.anything({ withBigInt: true, withDate: true, withMap: true, withNullPrototype: true });
  fc.assert(fc.property(anything, (value) => Array.isArray(validateDocument(value))));
});

// Found by the test below, seed -30323380: such a name can't be made into a text.
test('the name of a variable that is a list of objects is refused for what it is', () => {
  const path = 'spec/podTemplate/spec/containers/0/env/0/name';
  const problems = validateDocument(changed(fullCluster, path, [{ toString: '' }]));
  assert.match(problems.map(({ message }) => message).join(), /name must be/);
});

test('whatever stands in a field, it answers, and briefly', () => {
  const paths = [...pathsOf(fullCluster).map((path) => ({ document: fullCluster, path }))];
  // JSON can say it, and it is no text: `String` throws.
  const textless = fc.constant({ toString: null, valueOf: 'x' });
  fc.assert(
    fc.property(fc.constantFrom(...paths), fc.oneof(fc.jsonValue(), textless), ({ document, path }, value) => {
      const problems = validateDocument(changed(document, path, value));
      assert.ok(problems.length <= mostProblems);
      for (const { message } of problems) assert.ok(message.length > 0);
    }),
    { numRuns: 2000 },
  );
});

/** Every path of an object that `changed` can walk. */
function pathsOf(value: unknown, prefix = ''): string[] {
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([key, inner]) => [`${prefix}${key}`, ...pathsOf(inner, `${prefix}${key}/`)]);
}

function nested(depth: number): object {
  let value: object = {};
  for (let i = 0; i < depth; i++) value = { a: value };
  return value;
}

function cyclic(): object {
  const spec: Record<string, unknown> = {};
  spec.itself = spec;
  return { ...cluster, spec };
}

function wide(count: number): [string, string][] {
  return Array.from({ length: count }, (_, index) => [`a${index}`, 'x']);
}

function escaped(text: string): string {
  return text.replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&');
}
