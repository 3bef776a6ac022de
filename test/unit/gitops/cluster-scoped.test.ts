import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseFile } from '../../../gitops/specs/parse.ts';
import { formatProblem } from '../../../gitops/specs/problem.ts';
import { findSpecs, type Specs } from '../../../gitops/specs/specs.ts';
import { validateDocument } from '../../../manifests/api/validate.ts';

/** Documents of a kind that belongs to no namespace. */

const policy = (metadata: string, spec = '{ nodeSelector: {} }') =>
  `apiVersion: etcd.ratchet.dev/v1alpha1\nkind: EtcdNodePolicy\nmetadata: ${metadata}\nspec: ${spec}\n`;

async function find(files: Readonly<Record<string, string>>): Promise<Specs> {
  const parsed = await Promise.all(
    Object.entries(files).map(([file, content]) => parseFile(file, Buffer.from(content))),
  );
  const problems = parsed.flatMap((file) => file.problems);
  const read = { documents: parsed.flatMap((file) => file.documents), problems, readWhole: problems.length === 0 };
  return findSpecs(read, { validate: validateDocument, defaultNamespace: 'platform' });
}

test('a node policy has no namespace, also where the fleet has one', async () => {
  const { specs, problems, complete } = await find({ 'n.yaml': policy('{ name: workers }') });
  assert.deepEqual([problems, complete], [[], true]);
  assert.partialDeepStrictEqual(specs, [{ kind: 'EtcdNodePolicy', namespace: '', name: 'workers' }]);
});

for (const [what, text, problem] of [
  [
    'a namespace',
    policy('{ name: workers, namespace: kube-system }'),
    /^n\.yaml:3:.* belongs to no namespace: remove it/,
  ],
  ['no name', policy('{}'), /^n\.yaml:3:\d+: metadata\.name/],
  ['a name that is a path', policy('{ name: ../../x }'), /^n\.yaml:3:\d+: .*metadata\.name/],
  ['a status', `${policy('{ name: workers }')}status: { observedGeneration: 1, grants: [] }\n`, /status is written by/],
  [
    'a command of method Signal',
    policy('{ name: w }', '{ nodeSelector: {}, reboot: { method: Signal, command: [sh] } }'),
    /command belongs to method Command/,
  ],
  [
    'a window that is never due',
    policy('{ name: w }', '{ nodeSelector: {}, windows: [{ start: "0 0 30 2 *", duration: 1h }] }'),
    /never due/,
  ],
  [
    'a kind with a typing error',
    policy('{ name: w }').replace('NodePolicy', 'NodePolcy'),
    /did you mean EtcdNodePolicy/,
  ],
] as const) {
  test(`a node policy with ${what} is a problem with its place`, async () => {
    const { specs, problems } = await find({ 'n.yaml': text });
    assert.deepEqual(specs, []);
    assert.match(problems.map(formatProblem).join('\n'), problem);
  });
}

test('two node policies of one name are a problem of both, whatever namespaces they claim', async () => {
  const { specs, problems } = await find({
    'a.yaml': policy('{ name: workers }'),
    'b.yaml': policy('{ name: workers }'),
  });
  assert.deepEqual(specs, []);
  assert.match(problems.map(formatProblem).join('\n'), /a\.yaml:1:1: EtcdNodePolicy workers is also at b\.yaml:1:1/);
});
