import assert from 'node:assert/strict';
import { test } from 'node:test';
import { LineCounter, parseDocument } from 'yaml';
import { validateDocument } from '../../../manifests/api/validate.ts';
import { type Block, blocksOf } from '../../support/docs/blocks.ts';
import { cluster, fleet, nodePolicy } from '../manifests/api-documents.ts';
import { documents, read } from './pages.ts';

/** What a page leaves out where it shows some fields of a spec: `kind` and `spec` alone. */
const bases: Readonly<Record<string, object>> = { EtcdCluster: cluster, EtcdFleet: fleet, EtcdNodePolicy: nodePolicy };

/** Kinds of other projects that pages show. */
const foreign: readonly unknown[] = ['ConfigMap', 'CustomResourceStateMetrics', 'Kustomization', 'PodMonitor'];

const written = documents.filter((document) => document.startsWith('docs/') || !document.includes('/'));

test('every YAML block in the documents is one that the API server would take', () => {
  const blocks = written.flatMap((document) => blocksIn(document, read(document)));
  assert.ok(blocks.length >= 12, 'the blocks are found');
  assert.deepEqual(blocks.flatMap(problemsIn), []);
});

test('a mistake in a block is told with its file and line', () => {
  const page = '# A page\n\n  ```yaml\n  kind: EtcdFleet\n  spec:\n    gti: {url: x}\n  ```\n\n```yaml\na: [\n```\n';
  const [misspelt, broken] = blocksIn('docs/a.md', page).map(problemsIn);
  assert.match(misspelt?.[0] ?? '', /^docs\/a\.md:6: spec\.gti is not a known field/);
  assert.match(broken?.[0] ?? '', /^docs\/a\.md:\d+: /);
  const bare = blocksIn('docs/a.md', '```yaml\nspec: {}\n```\n').flatMap(problemsIn);
  assert.deepEqual(bare, ['docs/a.md:2: a block says its kind']);
});

function blocksIn(page: string, text: string): Block[] {
  return blocksOf(page, text).filter(({ kind }) => kind === 'yaml');
}

function problemsIn({ page, line, text }: Block): string[] {
  const lines = new LineCounter();
  const parsed = parseDocument(text, { lineCounter: lines, prettyErrors: false });
  const at = (offset: number) => `${page}:${line + Math.max(lines.linePos(offset).line, 1) - 1}`;
  const [error] = parsed.errors;
  if (error) return [`${at(error.pos[0])}: ${error.message}`];

  const object = parsed.toJS() as Record<string, unknown>;
  if (typeof object.kind !== 'string') return [`${at(0)}: a block says its kind`];
  if (foreign.includes(object.kind)) return [];
  return validateDocument(whole(object)).map(({ path, message }) => {
    const node = parsed.getIn([...path], true) as { range?: [number, number, number] } | undefined;
    return `${at(node?.range?.[0] ?? 0)}: ${message}`;
  });
}

function whole(object: Record<string, unknown>): unknown {
  const base = bases[String(object.kind)] as { spec: object } | undefined;
  if (object.apiVersion !== undefined || base === undefined) return object;
  return { ...base, ...object, spec: { ...base.spec, ...(object.spec as object) } };
}
