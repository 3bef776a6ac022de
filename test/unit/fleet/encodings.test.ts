import assert from 'node:assert/strict';
import { test } from 'node:test';
import { gzipSync } from 'node:zlib';
import fc from 'fast-check';
import { stringify } from 'yaml';
import { desiredTree } from '../../../functions/read/desired-tree.ts';
import type { Tree, TreeEntry } from '../../../gitops/git/tree.ts';
import { planFleet } from '../../../reconcile/fleet/plan.ts';
import { specText } from '../gitops/specs.ts';
import { clusterOf, entryOf, fleetWith, revision } from './objects.ts';

/** A document that moved, in whatever form, never reads as one that was deleted (I8). */

const orders = {
  apiVersion: 'etcd.ratchet.dev/v1alpha1',
  kind: 'EtcdCluster',
  metadata: { name: 'orders', namespace: 'payments' },
  spec: { replicas: 3, version: '3.6.16', storage: { size: '8Gi' }, tls: { mode: 'Disabled' } },
};
const ourVersion = orders.apiVersion;
const fleet = fleetWith({ inventory: [entryOf('orders'), entryOf('users')] }, { prune: true });
const clusters = [clusterOf('orders'), clusterOf('users')];

type Content = Buffer | { readonly link: string } | { readonly submodule: true };

function treeWith(files: Readonly<Record<string, Content>>): Tree {
  const entries: TreeEntry[] = Object.entries(files).map(([name, content]) => ({
    name,
    kind: Buffer.isBuffer(content) ? 'file' : 'link' in content ? 'symlink' : 'submodule',
    oid: name,
  }));
  return {
    revision: { ref: 'main', sha: 'a'.repeat(40) },
    root: 'root',
    folder: async () => entries,
    need: async () => {},
    file: async (oid) => {
      const content = files[oid];
      if (content && !Buffer.isBuffer(content) && 'link' in content) return Buffer.from(content.link);
      return Buffer.isBuffer(content) ? content : Buffer.alloc(0);
    },
  };
}

/** What becomes of `orders` where the tree has `users` and this beside it. */
async function fateOf(files: Readonly<Record<string, Content>>) {
  const all = { 'users.yaml': Buffer.from(specText('users')), ...files };
  const tree = await desiredTree(treeWith(all), fleet, { signal: AbortSignal.timeout(20_000) });
  const plan = planFleet({ fleet, fleets: [fleet], clusters, revision, tree });
  const isApplied = tree.specs.some(({ name }) => name === 'orders');
  return { isApplied, isNamed: tree.problems.length > 0, isPruned: plan.prune.length > 0, tree };
}

type Wrap = (value: unknown) => unknown;

/** Values that hold another. */
const wraps: Readonly<Record<string, Wrap>> = {
  'a list': (value) => [value],
  'a List': (value) => ({ apiVersion: 'v1', kind: 'List', items: [value] }),
  'a Template': (value) => ({ apiVersion: 'template.openshift.io/v1', kind: 'Template', objects: [value] }),
  'a map': (value) => ({ cluster: value }),
  'a ConfigMap': (value) => ({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'x' }, data: { x: value } }),
  'a text of YAML': (value) => stringify(value),
  'a text of JSON': (value) => JSON.stringify(value),
  'a text of JSON with escapes': (value) => escapedJson(value, (code) => `\\u${hex(code, 4)}`),
  'a List among others': (value) => ({ apiVersion: 'v1', kind: 'List', items: [{ kind: 'Secret' }, value, 1, null] }),
};

function escapedJson(value: unknown, how: (code: number) => string): string {
  return JSON.stringify(value).replace(/"(?:[^"\\]|\\.)*"/g, (text) => `"${escaped(JSON.parse(text), how)}"`);
}

const escaped = (text: string, how: (code: number) => string) =>
  [...text].map((one) => how(one.charCodeAt(0))).join('');
const hex = (code: number, digits: number) => code.toString(16).padStart(digits, '0');

/** Texts of one value. */
const texts: Readonly<Record<string, (value: unknown) => string>> = {
  YAML: (value) => stringify(value),
  'YAML of version 1.1': (value) => `%YAML 1.1\n---\n${stringify(value)}`,
  JSON: (value) => JSON.stringify(value),
  'JSON with escapes': (value) => escapedJson(value, (code) => `\\u${hex(code, 4)}`),
  'YAML with escapes': (value) => escapedJson(value, (code) => `\\x${hex(code, 2)}`),
  'YAML with an anchor': (value) => `first: &first ${JSON.stringify(value)}\nsecond: *first\n`,
  'YAML with a merge': (value) => `<<: ${JSON.stringify({ first: value })}\n`,
  'a complex key': (value) => `? ${JSON.stringify(value)}\n: 1\n`,
  'an ordered map': (value) => `%YAML 1.1\n---\n!!omap\n- cluster: ${JSON.stringify(value)}\n`,
  'a set': (value) => `%YAML 1.1\n---\n!!set\n? ${JSON.stringify(value)}\n`,
  'a second document': (value) => `kind: ConfigMap\n---\n${stringify(value)}`,
  'YAML with CRLF': (value) => stringify(value).replaceAll('\n', '\r\n'),
  'YAML with a comment before it': (value) => `# a comment\n\n---\n${stringify(value)}`,
};

const key = Buffer.from('age-encryption.org/v1\n-> X25519 x\n');

/** Bytes of one text. */
const bytes: Readonly<Record<string, (text: string) => Buffer>> = {
  'UTF-8': (text) => Buffer.from(text),
  'UTF-8 with its mark': (text) => Buffer.from(`\ufeff${text}`),
  'UTF-16': (text) => Buffer.from(text, 'utf16le'),
  'UTF-16 with its mark': (text) => Buffer.from(`\ufeff${text}`, 'utf16le'),
  'UTF-16 of the other order': (text) => Buffer.from(`\ufeff${text}`, 'utf16le').swap16(),
  gzip: (text) => gzipSync(text),
  'git-crypt': (text) => Buffer.concat([Buffer.from('\0GITCRYPT\0'), gzipSync(text)]),
  age: (text) => Buffer.concat([key, gzipSync(text)]),
  'age in letters': () => Buffer.from(`-----BEGIN AGE ENCRYPTED FILE-----\n${key.toString('base64')}\n-----END AGE…\n`),
  'Ansible Vault': () => Buffer.from('$ANSIBLE_VAULT;1.1;AES256\n6162636465666768\n6162\n'),
  'a pointer of Git LFS': () =>
    Buffer.from(`version https://git-lfs.github.com/spec/v1\noid sha256:${'4d7a'.repeat(16)}\nsize 123\n`),
  'a pointer of git-annex': () => Buffer.from('/annex/objects/SHA256E-s123--4d7a.yaml\n'),
  'SOPS of a whole file': () => Buffer.from(JSON.stringify({ data: 'ENC[AES256_GCM,data:x,type:str]', sops: {} })),
  'SOPS of each value': () =>
    Buffer.from('apiVersion: ENC[AES256_GCM,data:x]\nkind: ENC[AES256_GCM,data:y]\nsops:\n  version: 3.9.0\n'),
  'a megabyte of comments': (text) => Buffer.from(`${text}\n${`# ${'x'.repeat(98)}\n`.repeat(11_000)}`),
};

const nameOf = fc.constantFrom('moved.yaml', 'moved.yml', 'moved.json', 'MOVED.YAML');
const one = <T>(table: Readonly<Record<string, T>>) => fc.constantFrom(...Object.entries(table));
const row = <T>(table: Readonly<Record<string, T>>, what: string): [string, T] => [
  what,
  table[what] ?? assert.fail(what),
];

test('from any tree that names an object it is applied, or named, or pruning is off', async () => {
  const encoding = fc.record({
    name: nameOf,
    wrapped: fc.array(one(wraps), { maxLength: 4 }),
    text: one(texts),
    bytes: one(bytes),
  });
  const plain = { name: 'moved.yaml', wrapped: [], text: row(texts, 'YAML'), bytes: row(bytes, 'UTF-8') };
  const sealed = { ...plain, bytes: row(bytes, 'git-crypt') };
  const seen = new Set<string>();
  await fc.assert(
    fc.asyncProperty(encoding, async ({ name, wrapped, text, bytes }) => {
      const value = wrapped.reduce<unknown>((inner, [, wrap]) => wrap(inner), orders);
      const content = bytes[1](text[1](value));
      const { isApplied, isNamed, isPruned } = await fateOf({ [name]: content });
      const words = `${wrapped.map(([what]) => what).join(' in ')} as ${text[0]} in ${bytes[0]}:\n${content.toString()}`;
      assert.ok(!isPruned, `pruned: ${words}`);
      const fate = isApplied ? 'applied' : isNamed ? 'named' : 'off';
      seen.add(fate);
    }),
    { numRuns: 500, examples: [plain, { ...plain, wrapped: [row(wraps, 'a ConfigMap')] }, sealed].map((one) => [one]) },
  );
  for (const fate of ['applied', 'named', 'off']) assert.ok(seen.has(fate), `${fate}: ${[...seen.keys()]}`);
});

test('a document with any part of its text cut off is never taken for one that was deleted', async () => {
  const encoding = fc.record({ text: one(texts), keep: fc.double({ min: 0.5, max: 1, noNaN: true }) });
  await fc.assert(
    fc.asyncProperty(encoding, async ({ text: [what, write], keep }) => {
      const text = write(orders);
      const content = Buffer.from(text.slice(0, Math.floor(text.length * keep)));
      assert.ok(!(await fateOf({ 'moved.yaml': content })).isPruned, `${what}:\n${content}`);
    }),
    { numRuns: 500 },
  );
});

for (const [what, words] of [
  ['escapes that YAML breaks into lines', JSON.stringify(escapedJson(ourVersion, (code) => `\\u${hex(code, 4)}`))],
  ['a name that YAML broke into lines, in a text', '"\\"etcd\\\\\\n  .ratchet.dev/v1alpha1\\""'],
  ['an escape of thirty-two bits, in a text', '"\\"\\\\U00000065tcd.ratchet.dev/v1alpha1\\""'],
  ['a name that an escaped tab continues, in a text', '"\\"etcd\\\\\\n  \\\\t.ratchet.dev/v1alpha1\\""'],
  ['a name that an escaped end of line breaks', '"\\"etcd\\\\\\u000a  .ratchet.dev/v1alpha1\\""'],
  ['an escape of an escape', '"\\\\u005cu0065tcd.ratchet.dev/v1alpha1"'],
  ['escapes without end', `"\\\\u005c${'u005c'.repeat(12)}u0065tcd.ratchet.dev/v1alpha1"`],
] as const) {
  test(`nothing is pruned beside our apiVersion in ${what}`, async () => {
    assert.ok(!(await fateOf({ 'moved.yaml': Buffer.from(`? [${words}]\n: 1\n`) })).isPruned);
    assert.ok(!(await fateOf({ 'moved.yaml': Buffer.from(`text: ${words}\n`) })).isPruned);
  });
}

for (const [what, files] of [
  ['a link to what is not read', { 'moved.yaml': { link: 'orders.tmpl' }, 'orders.tmpl': Buffer.from('x') }],
  ['a link to nothing', { 'moved.yaml': { link: 'gone.yaml' } }],
  ['a link to another link', { 'moved.yaml': { link: 'other.yaml' }, 'other.yaml': { link: '../out.yaml' } }],
  ['a submodule', { moved: { submodule: true } }],
] as const) {
  test(`nothing is pruned beside ${what}`, async () => {
    const { isPruned, tree } = await fateOf(files);
    assert.ok(!isPruned);
    assert.ok(tree.notes.length > 0, 'and it is said why');
  });
}

for (const [what, files] of [
  ['its file is gone', {}],
  ['its document is a comment now', { 'old.yaml': Buffer.from(specText('orders').replaceAll(/^/gm, '# ')) }],
  ['beside definitions and rights of our kinds', { 'crd.yaml': Buffer.from(definitions()) }],
  ['beside a link to a file that is read', { 'link.yaml': { link: 'users.yaml' } }],
  ['beside a Secret that SOPS encrypted', { 'secret.yaml': Buffer.from(secret()) }],
  ['beside a list of words', { 'words.json': Buffer.from('["etcd", "ratchet", 1]') }],
  ['beside an empty file', { 'empty.yaml': Buffer.from('\n# nothing\n---\n') }],
  ['beside megabytes of other objects', { 'big.yaml': Buffer.from(`kind: ConfigMap\n${'a: b\n'.repeat(300_000)}`) }],
  [
    'beside a broken template of something else',
    { 'chart.yaml': Buffer.from('{{- if .Values.etcd }}\n  - x: {{ y }}\n') },
  ],
] as const) {
  test(`an object that Git no longer lists is pruned where ${what}`, async () => {
    const { isPruned, tree } = await fateOf(files);
    assert.ok(isPruned, `${tree.notes} ${tree.problems.map(({ message }) => message)}`);
  });
}

function definitions(): string {
  return `apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: etcdclusters.etcd.ratchet.dev}
spec: {group: etcd.ratchet.dev, names: {kind: EtcdCluster}, versions: [{name: v1alpha1}]}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: Role
metadata: {name: x, labels: {etcd.ratchet.dev/cluster: orders}}
rules: [{apiGroups: [etcd.ratchet.dev], resources: [etcdclusters], verbs: [get]}]
`;
}

function secret(): string {
  return `apiVersion: v1
kind: Secret
metadata: {name: etcd-ratchet-git}
data: {token: "ENC[AES256_GCM,data:x,type:str]"}
sops: {version: 3.9.0}
`;
}
