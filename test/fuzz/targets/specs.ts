import fc from 'fast-check';
import { stringify } from 'yaml';
import { desiredTree } from '../../../functions/read/desired-tree.ts';
import { GitError } from '../../../gitops/git/error.ts';
import type { Tree } from '../../../gitops/git/tree.ts';
import type { Windows } from '../../../manifests/api/windows.ts';
import { openingOf } from '../../../reconcile/time/due.ts';
import { fleet } from '../../unit/serve/installation.ts';
import { distorted, mutated } from '../mutate.ts';
import { target } from '../target.ts';

const windows = [{ start: '0 22 * * MON-FRI', duration: '4h', timeZone: 'Europe/Berlin' }];
const cluster = {
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
    maintenance: { windows },
  },
};
const to = { object: 's3://backups/{{namespace}}/{{timestamp}}.db', s3: { endpoint: 'https://s3.example.com' } };
const kind = (name: string, spec: object) => ({ ...cluster, kind: name, spec });
/** One of each kind that may live in a repository. */
export const documents = [
  cluster,
  kind('EtcdBackup', { source: { endpoints: ['https://10.0.0.1:2379'] }, to, verify: 'Trailer', deadline: '1h' }),
  kind('EtcdBackupSchedule', {
    schedule: '30 2 * * *',
    timeZone: 'UTC',
    template: { clusterName: 'orders', to },
  }),
  kind('EtcdRestore', {
    from: { object: 's3://backups/orders/a.db', sha256: 'a'.repeat(64) },
    cluster: { name: 'restored', spec: cluster.spec },
  }),
  {
    ...kind('EtcdNodePolicy', { nodeSelector: { pool: 'etcd' }, maxUnavailable: '10%', windows }),
    metadata: { name: 'a' },
  },
];
const spec = fc.constantFrom<unknown>(...documents);

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

const asYaml = distorted(spec).map((text) => stringify(JSON.parse(text)));
const inputs = fc.record({
  name: fc.constantFrom('a.yaml', 'a.yml', 'a.json'),
  files: fc.array(
    fc.oneof(
      distorted(spec).map((text) => Buffer.from(text)),
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

/** What was taken is read when it counts. */
function tryWindows(object: unknown): void {
  const { spec } = object as { readonly spec?: { readonly maintenance?: { readonly windows?: Windows } } };
  const opening = openingOf(spec?.maintenance?.windows, new Date('2026-11-24T12:00:00Z'));
  if (opening.kind === 'unreadable') throw new Error(opening.problem);
}

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
      for (const { object } of specs) tryWindows(object);
      for (const { line, column, message, file } of problems)
        if (!(line >= 0 && column >= 0) || message === '' || file === '')
          throw new Error('a problem without place or words');
    } catch (error) {
      if (!(error instanceof GitError)) throw error;
    }
  },
});
