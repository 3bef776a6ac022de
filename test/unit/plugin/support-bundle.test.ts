import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import fc from 'fast-check';
import { parseAllDocuments } from 'yaml';
import { type ReadLog, supportBundle, withoutSecrets } from '../../../functions/plugin/support-bundle.ts';
import { KubeError, type KubeObject, resources } from '../../../reconcile/interfaces/kube.ts';
import { createFakeKube, type FakeKube } from '../../support/fakes/kube.ts';
import { noKubectl, unreachable } from '../../support/plugin/said.ts';

const directory = mkdtempSync(join(tmpdir(), 'support-bundle-'));
after(() => rmSync(directory, { recursive: true }));
let files = 0;
function anotherFile(): string {
  files += 1;
  return join(directory, `${files}.yaml`);
}

const pod = {
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: {
    namespace: 'payments',
    name: 'orders-0-0',
    annotations: { 'kubectl.kubernetes.io/last-applied-configuration': '{"password":"hunter2"}', kept: 'yes' },
  },
  spec: {
    containers: [
      {
        name: 'app',
        env: [
          { name: 'PASSWORD', value: 'hunter2' },
          { name: 'POD', valueFrom: {} },
        ],
      },
    ],
  },
};
const secret = {
  apiVersion: 'v1',
  kind: 'Secret',
  metadata: { namespace: 'payments', name: 'orders-client-tls' },
  data: { 'tls.key': 'aHVudGVyMg==' },
};

function world(options: Parameters<typeof createFakeKube>[0] = {}): FakeKube {
  const kube = createFakeKube(options);
  kube.seed(resources.pods, pod);
  kube.seed<KubeObject>(resources.secrets, secret);
  return kube;
}

async function bundled(kube: FakeKube, readLog: ReadLog, file = anotherFile()) {
  let out = '';
  const say = (text: string) => {
    out += text;
  };
  const terminal = {
    out: say,
    err: () => {},
    colours: false,
    now: () => new Date(0),
    stop: new AbortController().signal,
  };
  await supportBundle(
    { ...terminal, kube, kubectl: noKubectl, reach: unreachable, namespace: 'payments', output: 'text' },
    { file },
    readLog,
  );
  const text = readFileSync(file, 'utf8');
  return { out, file, text, documents: parseAllDocuments(text).map((one) => one.toJS()) };
}

test('it has objects and logs, and neither Secrets nor what people write into variables', async () => {
  const kube = world();
  const { text, file, documents } = await bundled(kube, async (name) => `${name} says: a line\n--- and another`);
  assert.doesNotMatch(text, /hunter2|aHVudGVyMg/);
  assert.equal(statSync(file).mode & 0o777, 0o600);
  assert.ok(kube.journal().every(({ resource }) => resource.plural !== 'secrets'));
  assert.deepEqual(
    documents.map(({ kind }) => kind),
    ['SupportBundle', 'Pod', 'Log', 'Missing'],
  );
  assert.equal(documents[2].text, 'orders-0-0 says: a line\n--- and another');
  assert.deepEqual(documents[1].metadata.annotations, { kept: 'yes' });
  assert.deepEqual(documents[1].spec.containers[0].env, [
    { name: 'PASSWORD', value: '(left out)' },
    { name: 'POD', valueFrom: {} },
  ]);
});

test('what may not be read is named, and the rest is there', async () => {
  const kube = world({ authorize: ({ key }) => key !== 'LIST events' });
  const { out, documents } = await bundled(kube, async () => {
    throw new Error('container is waiting\nand more');
  });
  assert.match(out, /it lacks: the log of pod orders-0-0 \(container is waiting\); events \(Forbidden\)/);
  assert.deepEqual(documents.at(-1).missing, [
    'the log of pod orders-0-0 (container is waiting)',
    'events (Forbidden)',
  ]);
});

test('an API server that is gone ends it, and a file that is there is left alone', async () => {
  const gone = world({
    before: () => {
      throw new KubeError('no answer', { class: 'retryable', reason: 'Unreachable' });
    },
  });
  await assert.rejects(
    bundled(gone, async () => ''),
    /no answer/,
  );
  const { file, text } = await bundled(world(), async () => '');
  await assert.rejects(
    bundled(world(), async () => '', file),
    /can't be made \(EEXIST\): name another file by --file/,
  );
  assert.equal(readFileSync(file, 'utf8'), text);
});

test('no value of a variable is in it, wherever the variable stands, and all else is as it was', () => {
  const name = fc.stringMatching(/^[a-z]{1,8}$/).filter((word) => word !== 'env' && word !== 'value');
  const others = fc.jsonValue().filter((value) => !JSON.stringify(value).includes('"env"'));
  const variables = fc.array(fc.record({ name, value: fc.constant('hunter2') }), { minLength: 1 });
  fc.assert(
    fc.property(fc.array(name, { maxLength: 5 }), variables, others, (path, env, other) => {
      const spec = path.reduceRight<object>((inner, key) => ({ [key]: [inner], other }), { env });
      const shown = withoutSecrets({ apiVersion: 'v1', kind: 'Pod', metadata: { name: 'x' }, spec } as KubeObject);
      const text = JSON.stringify(shown);
      assert.ok(!text.includes('hunter2'));
      assert.equal(
        text.replaceAll('(left out)', 'hunter2'),
        JSON.stringify({ apiVersion: 'v1', kind: 'Pod', metadata: { name: 'x' }, spec }),
      );
    }),
  );
});
