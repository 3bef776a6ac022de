import fc from 'fast-check';
import { stringify } from 'yaml';
import { desiredTree } from '../../../functions/read/desired-tree.ts';
import { GitError } from '../../../gitops/git/error.ts';
import type { Tree } from '../../../gitops/git/tree.ts';
import { fleet } from '../../unit/serve/installation.ts';
import { distorted, mutated } from '../mutate.ts';
import { target } from '../target.ts';

const spec = {
  apiVersion: 'etcd.ratchet.dev/v1alpha1',
  kind: 'EtcdCluster',
  metadata: { name: 'orders', namespace: 'payments', labels: { team: 'a' } },
  spec: {
    replicas: 3,
    version: '3.6.16',
    storage: { size: '8Gi', storageClassName: 'fast' },
    image: { repository: 'quay.io/coreos/etcd' },
    tls: { mode: 'Managed', dnsNames: ['a.example.com'], certificateLifetime: '2160h' },
    etcd: { quotaBackendBytes: '4Gi', autoCompaction: { mode: 'Periodic', retention: '1h' } },
    resources: { requests: { cpu: '100m' } },
    healing: { memberGracePeriod: '10m' },
  },
};

const words = [
  '&a ',
  '*a',
  '<<: *a',
  '---\n',
  '...\n',
  '!!binary ',
  '!!js/function ',
  '? ',
  '- ',
  '  ',
  '\t',
  '|\n',
  '>-\n',
  '{{ .x }}',
  '%YAML 1.1\n',
  '0x1F',
  '1e3',
  '~',
];

const asYaml = distorted(fc.constant(spec)).map((text) => stringify(JSON.parse(text)));
const inputs = fc.record({
  name: fc.constantFrom('a.yaml', 'a.yml', 'a.json'),
  files: fc.array(
    fc.oneof(
      distorted(fc.constant(spec)).map((text) => Buffer.from(text)),
      asYaml.map((text) => Buffer.from(text)),
      mutated(asYaml, words),
      mutated(
        fc.tuple(asYaml, asYaml).map((both) => both.join('---\n')),
        words,
      ),
    ),
    { minLength: 1, maxLength: 3 },
  ),
});

export const specTarget = target({
  name: 'specs',
  inputs,
  try: async ({ name, files }: { readonly name: string; readonly files: readonly Uint8Array[] }) => {
    const tree: Tree = {
      revision: { ref: 'main', sha: 'a'.repeat(40) },
      root: 'root',
      folder: async () => files.map((_, n) => ({ name: `${n}${name}`, kind: 'file', oid: String(n) })),
      need: async () => {},
      file: async (oid) => files[Number(oid)] ?? Buffer.alloc(0),
    };
    try {
      const { specs, problems } = await desiredTree(tree, fleet('production'), { signal: AbortSignal.timeout(10_000) });
      for (const one of specs)
        if (typeof one.name !== 'string' || one.line < 1) throw new Error('a spec without name or place');
      for (const { line, column, message, file } of problems)
        if (!(line >= 0 && column >= 0) || message === '' || file === '')
          throw new Error('a problem without place or words');
    } catch (error) {
      if (!(error instanceof GitError)) throw error;
    }
  },
});
