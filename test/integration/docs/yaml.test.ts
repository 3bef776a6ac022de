import assert from 'node:assert/strict';
import { mkdtempDisposable, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { parseAllDocuments } from 'yaml';
import { type Block, blocksOf } from '../../support/docs/blocks.ts';
import { known, readings, surroundings } from '../../support/docs/pages.ts';
import { callsOf } from '../../support/docs/typed.ts';
import { checkout, documents, read } from '../../unit/docs/pages.ts';
import { cluster, fleet, nodePolicy } from '../../unit/manifests/api-documents.ts';
import { shareApiServer } from '../shared-api-server.ts';

/** What the API server says to every object of ours, and of Kubernetes, that the documentation shows. */
const api = await shareApiServer();
after(() => api[Symbol.asyncDispose]());

interface Shown extends Readonly<Record<string, unknown>> {
  readonly apiVersion?: string;
  readonly kind: string;
  readonly metadata?: { readonly name?: string; readonly namespace?: string };
  readonly spec?: object;
}

/** What a page leaves out where it shows some fields of a spec. */
const bases: Readonly<Record<string, { readonly apiVersion: string; readonly spec: object }>> = {
  EtcdCluster: cluster,
  EtcdFleet: fleet,
  EtcdNodePolicy: nodePolicy,
};

/** Groups of other projects, which this API server does not serve. */
const foreign =
  /^(kustomize|monitoring|argoproj|source|helm|kyverno|serving|cert-manager|kamaji|hypershift|.*\.fluxcd)\./;

/** A Kustomization may leave its group out. */
function isForeign({ apiVersion = '', kind }: Shown): boolean {
  return foreign.test(apiVersion) || (apiVersion === '' && kind === 'Kustomization');
}

const written = await blocksWithYaml();
const objects = written.flatMap((block) =>
  parseAllDocuments(block.text)
    .map((document) => document.toJS() as Shown)
    .filter((one): one is Shown => one?.kind !== undefined && !isForeign(one))
    .map((object) => ({ block, object: whole(object) })),
);

test('the objects of the documentation are found', () => {
  assert.ok(kustomizations().length > 3);
  const kinds = new Set(objects.map(({ object }) => object.kind));
  for (const kind of ['EtcdCluster', 'EtcdFleet', 'EtcdBackup', 'EtcdBackupSchedule', 'EtcdRestore', 'EtcdNodePolicy'])
    assert.ok(kinds.has(kind), kind);
});

for (const { block, object } of objects)
  test(`the API server takes the ${object.kind} at ${block.page}:${block.line}`, async () => {
    const namespace = object.metadata?.namespace;
    if (namespace !== undefined) await madeNamespace(namespace);
    const said = await api.kubectl(['apply', '--server-side', '--dry-run=server', '--validate=strict', '-f', '-'], {
      stdin: JSON.stringify(object),
    });
    assert.match(said, /serverside-applied/);
  });

for (const { block, text } of kustomizations())
  test(`kustomize renders the kustomization at ${block.page}:${block.line}`, async () => {
    await using directory = await mkdtempDisposable(join(tmpdir(), 'kustomization-'));
    // As the reader has it: the repository beside a kustomization of one's own.
    await symlink(checkout, join(directory.path, 'etcd-ratchet'));
    await writeFile(join(directory.path, 'kustomization.yaml'), text.replaceAll('<this repository>', 'etcd-ratchet'));
    const rendered = parseAllDocuments(await api.kubectl(['kustomize', directory.path]));
    assert.ok(rendered.length > 5, `${rendered.length} objects`);
  });

test('an object with a mistake is refused', async () => {
  const stdin = JSON.stringify({ ...whole({ kind: 'EtcdCluster', spec: { replicsa: 3 } }) });
  await assert.rejects(
    api.kubectl(['apply', '--server-side', '--dry-run=server', '--validate=strict', '-f', '-'], { stdin }),
    /replicsa/,
  );
});

/** A kustomization that only patches stands beside what it patches. */
function kustomizations(): readonly { readonly block: Block; readonly text: string }[] {
  const base = 'etcd-ratchet/manifests/install';
  const patched = `\nresources: [${base}]\ncomponents: [${base}/components/prometheus-operator]\n`;
  return written.flatMap((block) => {
    const { kind, apiVersion = '', resources } = (parseAllDocuments(block.text)[0]?.toJS() ?? {}) as Shown;
    if (kind !== 'Kustomization' || apiVersion !== '') return [];
    return [{ block, text: resources === undefined ? `${block.text}${patched}` : block.text }];
  });
}

function whole(object: Shown): Shown {
  const base = bases[object.kind];
  if (object.apiVersion !== undefined || base === undefined) return object;
  const metadata = { name: 'shown', namespace: 'default', ...object.metadata };
  return { ...object, apiVersion: base.apiVersion, metadata, spec: { ...base.spec, ...object.spec } };
}

/** Of fences, and of the documents that commands hand to `kubectl -f -`. */
async function blocksWithYaml(): Promise<readonly Block[]> {
  const fences = documents.flatMap((page) => blocksOf(page, read(page))).filter(({ kind }) => kind === 'yaml');
  const typed = await Promise.all([...readings.values()].map((blocks) => callsOf(blocks, known, surroundings)));
  const handed = typed
    .flat()
    .flatMap(({ block, input }) => (input === undefined || isAsked(block) ? [] : [{ ...block, text: input }]));
  return [...fences, ...handed];
}

/** Its document has what a cluster answers, and here there is none: the page's story types it against one. */
function isAsked({ text }: Block): boolean {
  return /<<[\s\S]*\$\(/.test(text);
}

/** With the service account that a controller would make: without it, no pod is admitted. */
async function madeNamespace(name: string): Promise<void> {
  for (const made of [
    ['namespace', name],
    ['serviceaccount', 'default', '-n', name],
  ])
    await api
      .kubectl(['create', ...made])
      .catch((error: Error) => assert.match(error.message, /AlreadyExists|already exists/));
}
