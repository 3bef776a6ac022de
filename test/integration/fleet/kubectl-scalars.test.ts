import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import fc from 'fast-check';
import { parseFile } from '../../../gitops/specs/parse.ts';
import { validateDocument } from '../../../manifests/api/validate.ts';
import { startApiServer } from './api-server.ts';

/** One text, read by kubectl and by us. */

const api = await startApiServer({ withCrds: true });
after(() => api[Symbol.asyncDispose]());
const { kubectl } = api;

/** Words that one of YAML 1.1, YAML 1.2 and Go takes for something else than text, and what is near them. */
const edges = [
  ...[
    '0440',
    '0',
    '00',
    '08',
    '09',
    '0o17',
    '0O17',
    '0o8',
    '0x1F',
    '0X1f',
    '0x',
    '0b11',
    '0B11',
    '-0b11',
    '0b-11',
    '0b+1',
  ],
  ...[
    '1_000',
    '_1',
    '1_',
    '0_7',
    '0x_1',
    '-010',
    '+010',
    '1e3',
    '1E3',
    '.5',
    '5.',
    '.e3',
    '1.e3',
    '-.5',
    '1e+',
    '1_e3',
  ],
  ...['1e400', '.1e400', '9223372036854775808', '18446744073709551616', '-9223372036854775809', '0xFFFFFFFFFFFFFFFF'],
  ...[
    '-0',
    '-0.0',
    '+0',
    '2020-01-01',
    '1:20',
    '12:30:45',
    '1.2.3',
    '1_0.5',
    '1e21',
    '1e-7',
    '0x1.8p1',
    'Infinity',
    'NaN',
  ],
  ...[
    'y',
    'Y',
    'yes',
    'YES',
    'yEs',
    'on',
    'Off',
    'n',
    'No',
    '~',
    'null',
    'Null',
    'nULL',
    'true',
    'TRUE',
    'tRUE',
    '3.6.16',
  ],
];
const letters = fc.string({
  unit: fc.constantFrom(...'0123456789abxoOBeE_.+-yYnNsfTrul~'),
  minLength: 1,
  maxLength: 7,
});
/** An indicator of structure, or a number that JSON can't hold. */
const noWord = /^-$|^---|^\.\.\.$|^[-+]?\.(?:inf|nan)$/i;
const word = fc.oneof(fc.constantFrom(...edges), letters).filter((text) => !noWord.test(text));

test('kubectl and we read the same from any unquoted words, and from words that are keys', async () => {
  await fc.assert(
    fc.asyncProperty(fc.uniqueArray(word, { minLength: 150, maxLength: 250 }), async (words) => {
      // Keys that are read as one are refused.
      const keys = words.filter((text) => !noKey.test(text)).map((text) => `- ${text}: 1\n`);
      const text = `apiVersion: v1\nkind: Etcd\nmetadata: {name: a}\nwords:\n${words.map((one) => `- ${one}\n`).join('')}keys:\n${keys.join('')}`;
      const theirs = JSON.parse(
        await kubectl(['annotate', '--local', '-o', 'json', '-f', '-', 'a=b'], { stdin: text }),
      );
      const [ours] = (await parseFile('a.yaml', Buffer.from(text))).documents;
      const object = JSON.parse(JSON.stringify(ours?.object));
      assert.deepEqual([object.words, object.keys], [theirs.words, theirs.keys]);
    }),
    { numRuns: 15 },
  );
});

/** Null is no key there, and floats are written otherwise. */
const noKey = /^(?:~|null)$|[.eE]|^[-+]?\d{16}|^0x/i;

function clusterText(mode: string): string {
  return `apiVersion: etcd.ratchet.dev/v1alpha1
kind: EtcdCluster
metadata: {name: orders, namespace: default}
spec:
  replicas: 3
  version: 3.6.16
  storage: {size: 8Gi}
  podTemplate: {spec: {volumes: [{name: extra, configMap: {name: s, defaultMode: ${mode}}}]}}
`;
}

test('a mode that we take is the same number in the API server, written by kubectl', async () => {
  const modes = ['0400', '0440', '0o440', '288', '440', '0x120', '1_0', '08', '1e2', '0b100100000'];
  for (const mode of modes) {
    const text = clusterText(mode);
    const field = 'jsonpath={.spec.podTemplate.spec.volumes[0].configMap.defaultMode}';
    const theirs = await kubectl(['create', '--dry-run=server', '-o', field, '-f', '-'], { stdin: text });
    const [document] = (await parseFile('a.yaml', Buffer.from(text))).documents;
    assert.deepEqual(validateDocument(document?.object), [], mode);
    const object = document?.object as unknown as Cluster;
    assert.equal(String(object.spec.podTemplate.spec.volumes[0].configMap.defaultMode), theirs, mode);
  }
});

test('of words that are no numbers we take none as a mode', async () => {
  for (const mode of ['yes', '"0440"', '0o8']) {
    const [document] = (await parseFile('a.yaml', Buffer.from(clusterText(mode)))).documents;
    assert.notDeepEqual(validateDocument(document?.object), [], mode);
  }
});

interface Cluster {
  readonly spec: {
    readonly podTemplate: {
      readonly spec: { readonly volumes: [{ readonly configMap: { readonly defaultMode: unknown } }] };
    };
  };
}
