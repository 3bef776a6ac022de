import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseFile } from '../../../gitops/specs/parse.ts';
import { formatProblem, type Problem } from '../../../gitops/specs/problem.ts';
import { findSpecs, type SpecOptions, type Specs } from '../../../gitops/specs/specs.ts';
import { validateDocument } from '../../../manifests/api/validate.ts';
import { specText } from './specs.ts';

/** As after reading these files. */
async function find(
  files: Readonly<Record<string, string | Buffer>>,
  options: Partial<SpecOptions> = {},
): Promise<Specs> {
  const parsed = await Promise.all(
    Object.entries(files).map(([file, content]) => parseFile(file, Buffer.from(content as string))),
  );
  const problems = parsed.flatMap((file) => file.problems);
  const readWhole = problems.length === 0 && parsed.every(({ hidden }) => hidden === undefined);
  const read = { documents: parsed.flatMap((file) => file.documents), problems, readWhole };
  return findSpecs(read, { validate: validateDocument, ...options });
}

async function problemsOf(files: Readonly<Record<string, string | Buffer>>): Promise<string[]> {
  return (await find(files)).problems.map(formatProblem);
}

test('a good document is a spec with its place', async () => {
  const { specs, problems, complete } = await find({ 'a.yaml': `# ours\n---\n${specText('orders')}` });
  assert.deepEqual(problems, []);
  assert.ok(complete);
  assert.partialDeepStrictEqual(specs, [
    { kind: 'EtcdCluster', namespace: 'payments', name: 'orders', file: 'a.yaml', line: 3, column: 1 },
  ]);
});

test('specs come in the order of their names, however the files are called', async () => {
  const { specs } = await find({
    'a.yaml': specText('z'),
    'b.yaml': specText('a'),
    'c.yaml': specText('m', { namespace: 'apps' }),
  });
  assert.deepEqual(
    specs.map(({ namespace, name }) => `${namespace}/${name}`),
    ['apps/m', 'payments/a', 'payments/z'],
  );
});

test('JSON is read too, tabs and all', async () => {
  const object = {
    apiVersion: 'etcd.ratchet.dev/v1alpha1',
    kind: 'EtcdCluster',
    metadata: { name: 'j', namespace: 'n' },
    spec: { replicas: 1, version: '3.6.16', storage: { size: '1Gi' }, tls: { mode: 'Disabled' } },
  };
  assert.deepEqual(
    (await find({ 'a.json': JSON.stringify(object, null, '\t') })).specs.map(({ name }) => name),
    ['j'],
  );
});

for (const [name, text] of [
  ['a byte order mark', `\ufeff${specText('orders')}`],
  ['CRLF', specText('orders').replaceAll('\n', '\r\n')],
  ['anchors and merge keys', specText('orders').replace('spec:\n', 'spec:\n  <<: &base {suspend: false}\n')],
  ['comments only around it', `---\n# nothing\n---\n${specText('orders')}...\n`],
] as const) {
  test(`a document with ${name} is read`, async () => {
    const { specs, problems } = await find({ 'a.yaml': text });
    assert.deepEqual(problems, []);
    assert.equal(specs.length, 1);
  });
}

test('documents of files that were put together, each with a byte order mark, are read', async () => {
  const marked = (name: string) => `\ufeff${specText(name)}`;
  for (const text of [`${marked('a')}---\n${marked('b')}`, `${marked('a')}\ufeff---\r\n${marked('b')}`]) {
    const { specs, problems } = await find({ 'a.yaml': text });
    assert.deepEqual(problems, []);
    assert.equal(specs.length, 2);
  }
});

for (const [name, text, expected] of [
  [
    'an unknown field at its name',
    specText('a', { extra: '  replica: 3\n' }),
    /^a\.yaml:9:3: spec\.replica is not a known field/,
  ],
  [
    'a wrong value at the value',
    specText('a').replace('replicas: 3', 'replicas: three'),
    /^a\.yaml:5:13: spec\.replicas must be an integer/,
  ],
  [
    'a missing field at its parent',
    specText('a').replace(/ {2}version.*\n/, ''),
    /^a\.yaml:4:1: spec\.version is required/,
  ],
  ['a missing spec at the document', specText('a').replace(/spec:[\s\S]*/, ''), /^a\.yaml:1:1: spec is required/],
  [
    'a missing namespace',
    specText('a').replace(', namespace: payments', ''),
    /^a\.yaml:3:1: metadata\.namespace is required/,
  ],
  ['a status', specText('a', { extra: 'status: {}\n' }), /^a\.yaml:9:1: status is written by etcd-ratchet/],
  [
    'what the server owns',
    specText('a').replace('{name: a', '{uid: x, name: a'),
    /^a\.yaml:3:12: metadata\.uid is set by the API server/,
  ],
  ['a tab', specText('a').replace('  replicas', '\treplicas'), /^a\.yaml:5:1: not valid YAML: Tabs/],
  [
    'a key twice',
    specText('a', { extra: 'kind: EtcdCluster\n' }),
    /^a\.yaml:9:1: not valid YAML: the key "kind" is there twice/,
  ],
  [
    'an unknown tag',
    specText('a').replace('3.6.16', '!version 3.6.16'),
    /^a\.yaml:6:12: not valid YAML: Unresolved tag/,
  ],
  [
    'a misspelt kind',
    specText('a').replace('EtcdCluster', 'EtcdClutser'),
    /^a\.yaml:2:7: kind "EtcdClutser" is not known: did you mean EtcdCluster\?/,
  ],
  ['a missing kind', specText('a').replace('kind: EtcdCluster\n', ''), /^a\.yaml:1:1: kind is missing/],
  [
    'another version',
    specText('a').replace('v1alpha1', 'v1'),
    /^a\.yaml:1:13: .*did you mean etcd\.ratchet\.dev\/v1alpha1\?/,
  ],
  [
    'a misspelt group',
    specText('a').replace('ratchet', 'rachet'),
    /^a\.yaml:1:13: .*did you mean etcd\.ratchet\.dev\/v1alpha1\?/,
  ],
  ['a slash for a dot', specText('a').replace('etcd.ratchet', 'etcd/ratchet'), /^a\.yaml:1:13: .*did you mean/],
  ['a missing apiVersion', specText('a').replace(/apiVersion.*\n/, ''), /^a\.yaml:1:1: apiVersion is missing/],
  ['an EtcdPeer', specText('a').replace('EtcdCluster', 'EtcdPeer'), /^a\.yaml:2:7: EtcdPeer does not belong in Git/],
  [
    'an EtcdFleet',
    specText('a').replace('EtcdCluster', 'EtcdFleet'),
    /^a\.yaml:2:7: EtcdFleet does not belong in Git: apply it with kubectl/,
  ],
  [
    'a List around it',
    `apiVersion: v1\nkind: List\nitems:\n- ${specText('a').replaceAll('\n', '\n  ')}`,
    /^a\.yaml:4:3: this resource stands inside a list/,
  ],
  ['UTF-16', Buffer.from(specText('a'), 'utf16le'), /^a\.yaml: the file is not UTF-8/],
  [
    'absurd nesting',
    specText('a', { extra: `  x: ${'['.repeat(20_000)}` }),
    /^a\.yaml:9:\d+: not valid YAML: nested too deeply/,
  ],
  ['an alias bomb', specText('a', { extra: bomb() }), /^a\.yaml:\d+:\d+: not valid YAML: .*aliases/],
  ['a template', specText('a', { extra: '{{- if .Values.debug }}\n' }), /templates are not rendered/],
  [
    'our labels',
    specText('a').replace('{name: a', '{labels: {etcd.ratchet.dev/fleet: x}, name: a'),
    /^a\.yaml:3:21: .*belongs to etcd-ratchet/,
  ],
] as const) {
  test(`a document with ${name} is refused with its place`, async () => {
    const { specs, problems } = await find({ 'a.yaml': text, 'b.yaml': specText('b') });
    assert.match(problems.map(formatProblem).join('\n'), expected);
    assert.deepEqual(
      specs.map((spec) => spec.name),
      ['b'],
      'the other cluster is not disturbed',
    );
  });
}

function bomb(): string {
  const levels = Array.from(
    { length: 12 },
    (_, level) => `  l${level + 1}: &l${level + 1} [${Array(9).fill(`*l${level}`).join(', ')}]\n`,
  );
  return `  l0: &l0 x\n${levels.join('')}`;
}

for (const [name, text] of [
  ['another operator', 'apiVersion: etcd.database.coreos.com/v1beta2\nkind: EtcdCluster\nmetadata: {name: x}\n'],
  ['a Deployment', 'apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: etcd}\n'],
  ['a list of words', '- etcd\n- ratchets\n'],
  ['a broken template of something else', '{{- if .Values.etcd }}\n  - name: {{ x }}\n{{ end }}'],
  ['broken YAML of something else', 'a: [b\n\tc'],
  ['CloudFormation tags', 'Resources: !Sub etcd\n'],
  [
    'a CRD that defines our kinds',
    'apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nspec: {group: etcd.ratchet.dev}\n',
  ],
] as const) {
  test(`${name} is none of our business`, async () => {
    const { specs, problems, complete } = await find({ 'a.yaml': text });
    assert.deepEqual([specs, problems, complete], [[], [], true]);
  });
}

for (const [name, text] of [
  ['bytes that are no text', Buffer.from([0xff, 0xd8, 0xff, 0xe0])],
  ['a pointer of Git LFS', 'version https://git-lfs.github.com/spec/v1\noid sha256:4d7a\nsize 123\n'],
  [
    'a text that names us',
    `apiVersion: v1\nkind: ConfigMap\ndata:\n  a: |\n${specText('a').replaceAll(/^/gm, '    ')}`,
  ],
  ['a kind that is encrypted', 'apiVersion: ENC[AES256_GCM,data:x]\nkind: ENC[AES256_GCM,data:y]\nsops: {}\n'],
] as const) {
  test(`${name} is no problem, and leaves the listing incomplete`, async () => {
    const { specs, problems, complete } = await find({ 'a.yaml': text });
    assert.deepEqual([specs, problems, complete], [[], [], false]);
  });
}

for (const [name, text, expected] of [
  [
    'in a list',
    `- ${specText('orders').replaceAll('\n', '\n  ').trimEnd()}\n`,
    'a.yaml:1:3: this resource stands inside a list',
  ],
  [
    'in a map',
    `cluster:\n${specText('orders').replaceAll(/^/gm, '  ')}`,
    'a.yaml:1:1: this resource stands inside something else',
  ],
  ['in quotes', JSON.stringify(specText('orders')), 'a.yaml:1:1: this is a text, and no document'],
] as const) {
  test(`a document ${name} is told at its place`, async () => {
    const { problems, complete } = await find({ 'a.yaml': text });
    assert.ok(!complete);
    assert.ok(formatProblem(problems[0] as Problem).startsWith(expected), problems.map(formatProblem).join());
  });
}

test('a document inside another says whose it is', async () => {
  const { problems } = await find({ 'a.yaml': `cluster:\n${specText('orders').replaceAll(/^/gm, '  ')}` });
  assert.partialDeepStrictEqual(problems, [{ kind: 'EtcdCluster', namespace: 'payments', name: 'orders' }]);
});

test('two documents for one cluster: both refused, both places named', async () => {
  const files = { 'a.yaml': specText('orders'), 'b.yaml': `${specText('other')}---\n${specText('orders')}` };
  assert.deepEqual(await problemsOf(files), [
    'a.yaml:1:1: EtcdCluster payments/orders is also at b.yaml:10:1: none of them is used until one is left',
    'b.yaml:10:1: EtcdCluster payments/orders is also at a.yaml:1:1: none of them is used until one is left',
  ]);
  assert.deepEqual(
    (await find(files)).specs.map(({ name }) => name),
    ['other'],
  );
});

test('an invalid duplicate does not make the other one valid', async () => {
  const { specs } = await find({
    'a.yaml': specText('orders'),
    'b.yaml': specText('orders').replace('replicas: 3', 'replicas: x'),
  });
  assert.deepEqual(specs, []);
});

test('the default namespace fills in, and can clash', async () => {
  const bare = specText('orders').replace(', namespace: payments', '');
  const { specs } = await find({ 'a.yaml': bare }, { defaultNamespace: 'payments' });
  assert.partialDeepStrictEqual(specs, [
    { namespace: 'payments', object: { metadata: { name: 'orders', namespace: 'payments' } } },
  ]);
  assert.equal(
    (await find({ 'a.yaml': bare, 'b.yaml': specText('orders') }, { defaultNamespace: 'payments' })).specs.length,
    0,
  );
});

test('an invalid spec leaves the listing complete, since its cluster is known', async () => {
  const { complete, problems } = await find({ 'a.yaml': specText('orders').replace('replicas: 3', 'replicas: x') });
  assert.ok(complete);
  assert.partialDeepStrictEqual(problems, [{ kind: 'EtcdCluster', namespace: 'payments', name: 'orders' }]);
});

for (const [name, text] of [
  ['a misspelt kind', specText('a').replace('EtcdCluster', 'EtcdClutser')],
  ['a misspelt group', specText('a').replace('ratchet', 'rachet')],
  ['a syntax error', specText('a', { extra: '  ]' })],
  [
    'a syntax error and a misspelt group and kind',
    specText('a', { extra: '  ]' }).replace('ratchet', 'rachet').replace('EtcdCluster', 'EtcdClutser'),
  ],
  ['no name', specText('a').replace('name: a, ', '')],
] as const) {
  test(`a document with ${name} leaves the listing incomplete, so that nothing is pruned`, async () => {
    assert.ok(!(await find({ 'a.yaml': text })).complete);
  });
}

test('a broken document still says whose it is, as far as it can be read', async () => {
  const { problems } = await find({ 'a.yaml': specText('orders', { extra: '  ]' }) });
  assert.partialDeepStrictEqual(problems, [{ namespace: 'payments', name: 'orders' }]);
});

const backupText = `apiVersion: etcd.ratchet.dev/v1alpha1
kind: EtcdBackup
metadata: { name: orders, namespace: payments }
spec: { clusterName: orders, to: { object: "gs://bucket/{{timestamp}}.db" } }
`;

test('a cluster and a backup may have one name, and two backups may not', async () => {
  const both = await find({ 'a.yaml': specText('orders'), 'b.yaml': backupText });
  assert.deepEqual(
    both.specs.map(({ kind, name }) => `${kind} ${name}`),
    ['EtcdBackup orders', 'EtcdCluster orders'],
  );
  const twice = await find({ 'a.yaml': backupText, 'b.yaml': backupText });
  assert.deepEqual(twice.specs, []);
  assert.match(twice.problems.map(formatProblem).join(), /EtcdBackup payments\/orders is also at b\.yaml:1:1/);
});

test('a wrong backup is told where it is wrong, and a mistyped kind is not passed over', async () => {
  const wrong = backupText.replace('gs://bucket/', 'gs:/bucket/');
  assert.match((await problemsOf({ 'a.yaml': wrong })).join(), /^a\.yaml:4:44: .*is no object's name/);
  const { problems, complete } = await find({ 'a.yaml': backupText.replace('EtcdBackup', 'EtcdBackupp') });
  assert.match(problems.map(formatProblem).join(), /did you mean EtcdBackup\?/);
  assert.ok(!complete, 'nothing may be pruned');
});

test('a protection from pruning with another word is refused at its place', async () => {
  const withWord = (word: string) =>
    specText('orders').replace('metadata: {', `metadata: {annotations: {etcd.ratchet.dev/prune: ${word}}, `);
  assert.deepEqual(await problemsOf({ 'a.yaml': withWord('disabled') }), []);
  const [said = '', ...more] = await problemsOf({ 'a.yaml': withWord('Never') });
  assert.match(
    said,
    /^a\.yaml:3:50: metadata\.annotations\["etcd\.ratchet\.dev\/prune"\] must be disabled or confirm, is "Never"/,
  );
  assert.deepEqual(more, []);
});
