import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Kustomization as FluxKustomization } from '@kubernetes-models/flux-cd/kustomize.toolkit.fluxcd.io/v1';
import { PodMonitor } from '@kubernetes-models/prometheus-operator/monitoring.coreos.com/v1';
import { LineCounter, parseDocument } from 'yaml';
import { validateDocument } from '../../../manifests/api/validate.ts';
import { consumerOf, problemsOf } from '../../consumers/settings/known.ts';
import { type Block, blocksOf } from '../../support/docs/blocks.ts';
import { cluster, fleet, nodePolicy } from '../manifests/api-documents.ts';
import { documents, read } from './pages.ts';

/** What a page leaves out where it shows some fields of a spec: `kind` and `spec` alone. */
const bases: Readonly<Record<string, object>> = { EtcdCluster: cluster, EtcdFleet: fleet, EtcdNodePolicy: nodePolicy };

/** Kinds of other projects that pages show, by their own schemas. */
const schemas: Readonly<Record<string, (object: object) => void>> = {
  'monitoring.coreos.com/v1 PodMonitor': (object) => new PodMonitor(object as never).validate(),
  'kustomize.toolkit.fluxcd.io/v1 Kustomization': (object) => new FluxKustomization(object as never).validate(),
};

/** Held elsewhere: the API server takes each ConfigMap and role, kustomize and kube-state-metrics read the others. */
const roles = ['Role', 'ClusterRole', 'ClusterRoleBinding'];
const foreign: readonly unknown[] = ['ConfigMap', 'CustomResourceStateMetrics', 'Kustomization', ...roles];

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

test('a mistake in an object of another project is told by that project’s schema', () => {
  const flux =
    '```yaml\napiVersion: kustomize.toolkit.fluxcd.io/v1\nkind: Kustomization\nmetadata: {name: a}\nspec: {prune: true}\n```\n';
  const monitor = '```yaml\napiVersion: monitoring.coreos.com/v1\nkind: PodMonitor\nspec: {selector: often}\n```\n';
  for (const [text, told] of [
    [flux, /interval/],
    [monitor, /selector/],
  ] as const)
    assert.match(blocksIn('docs/a.md', text).flatMap(problemsIn).join(), told);
  const shown = written.flatMap((document) => blocksIn(document, read(document)));
  for (const kind of Object.keys(schemas))
    assert.ok(
      shown.some((block) => calledOf(parseDocument(block.text).toJS()) === kind),
      `a page shows a ${kind}`,
    );
});

function calledOf({ apiVersion, kind }: Readonly<Record<string, unknown>>): string {
  return `${apiVersion} ${kind}`;
}

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
  const consumer = consumerOf(text);
  if (consumer) return problemsOf(consumer, object).map((problem) => `${at(0)}: ${problem}`);
  if (typeof object.kind !== 'string') return [`${at(0)}: a block says its kind`];
  const schema = schemas[calledOf(object)];
  if (schema) return problemsBy(schema, object, at(0));
  if (foreign.includes(object.kind)) return [];
  return validateDocument(whole(object)).map(({ path, message }) => {
    const node = parsed.getIn([...path], true) as { range?: [number, number, number] } | undefined;
    return `${at(node?.range?.[0] ?? 0)}: ${message}`;
  });
}

function problemsBy(schema: (object: object) => void, object: object, place: string): string[] {
  try {
    schema(object);
    return [];
  } catch (error) {
    return [`${place}: ${error instanceof Error ? error.message : String(error)}`];
  }
}

function whole(object: Record<string, unknown>): unknown {
  const base = bases[String(object.kind)] as { spec: object } | undefined;
  if (object.apiVersion !== undefined || base === undefined) return object;
  return { ...base, ...object, spec: { ...base.spec, ...(object.spec as object) } };
}
