import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { parseAllDocuments } from 'yaml';
import { type Block, blocksOf } from '../../support/docs/blocks.ts';
import { known, readings, surroundings } from '../../support/docs/pages.ts';
import { callsOf } from '../../support/docs/typed.ts';
import { documents, read } from '../../unit/docs/pages.ts';
import { cluster, fleet, nodePolicy } from '../../unit/manifests/api-documents.ts';
import { startApiServer } from '../manifests/api-server.ts';

/** What the API server says to every object of ours, and of Kubernetes, that the documentation shows. */
const api = await startApiServer();
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
  /^(kustomize\.|monitoring\.|argoproj\.io|source\.|helm\.|kyverno\.|serving\.|cert-manager\.|.*\.fluxcd\.io)/;

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

test('an object with a mistake is refused', async () => {
  const stdin = JSON.stringify({ ...whole({ kind: 'EtcdCluster', spec: { replicsa: 3 } }) });
  await assert.rejects(
    api.kubectl(['apply', '--server-side', '--dry-run=server', '--validate=strict', '-f', '-'], { stdin }),
    /replicsa/,
  );
});

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

async function madeNamespace(name: string): Promise<void> {
  await api
    .kubectl(['create', 'namespace', name])
    .catch((error: Error) => assert.match(error.message, /AlreadyExists/));
}
