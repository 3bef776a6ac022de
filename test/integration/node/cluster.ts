import { after } from 'node:test';
import { until } from '../../e2e/support/until.ts';
import { binariesEnvironment, provisionBinaries } from '../../support/cluster/binaries.ts';
import { type LocalCluster, startLocalCluster } from '../../support/cluster/local-cluster.ts';
import { type ApiServer, createApi } from '../../support/cluster/node/api.ts';
import type { Pod } from '../../support/cluster/node/wire.ts';
import { runInSandbox } from '../../support/cluster/sandbox.ts';

const ownSandbox = 'RATCHET_NODE_TESTS';
export const ownImage = 'ghcr.io/etcd-ratchet/etcd-ratchet:test';

/**
 * A whole local cluster for the tests of one file, stopped after them. In a sandbox of its own, also where the run has
 * one already: these tests break nodes that others may be using.
 */
export async function clusterForTests(beforeItStops = async (): Promise<void> => undefined): Promise<LocalCluster> {
  const binaries = await provisionBinaries();
  if (process.env[ownSandbox] === undefined) {
    const command = [process.execPath, ...process.execArgv, ...process.argv.slice(1)];
    process.exit(await runInSandbox(command, { ...binariesEnvironment(binaries), [ownSandbox]: '1' }));
  }
  const cluster = await startLocalCluster({ binaries });
  after(async () => {
    await beforeItStops();
    await cluster.stop();
  });
  await until('default service account', () => cluster.kubectl(['get', 'serviceaccount', 'default', '-n', 'default']));
  return cluster;
}

/** How to reach the API server with full rights. */
export async function adminAccess({ kubectl }: LocalCluster): Promise<ApiServer> {
  const config = JSON.parse(await kubectl(['config', 'view', '--raw', '-o', 'json'])) as {
    clusters: [{ cluster: { server: string; 'certificate-authority-data': string } }];
    users: [{ user: { token: string } }];
  };
  const { server, 'certificate-authority-data': ca } = config.clusters[0].cluster;
  return { url: server, ca: Buffer.from(ca, 'base64').toString(), token: config.users[0].user.token };
}

const paths = {
  pod: '/api/v1/namespaces/default/pods',
  pvc: '/api/v1/namespaces/default/persistentvolumeclaims',
  pv: '/api/v1/persistentvolumes',
  service: '/api/v1/namespaces/default/services',
  node: '/api/v1/nodes',
} as const;

export async function helpers(cluster: LocalCluster) {
  const { kubectl, node } = cluster;
  if (!node) throw new Error('the cluster has no process node');
  const api = createApi(await adminAccess(cluster));
  after(() => api.close());
  // Not kubectl: a process per look would be most of the load.
  const get = <T>(kind: keyof typeof paths, name: string): Promise<T> => api.get<T>(`${paths[kind]}/${name}`);
  return {
    node,
    get,
    apply: async (...items: readonly object[]): Promise<void> => {
      await kubectl(['apply', '-n', 'default', '-f', '-'], {
        stdin: JSON.stringify({ apiVersion: 'v1', kind: 'List', items }),
      });
    },
    remove: async (kind: string, name: string, ...flags: readonly string[]): Promise<void> => {
      await kubectl(['delete', kind, name, '-n', 'default', ...flags]);
    },
    pod: (name: string) => get<Pod>('pod', name),
    podWhere: (name: string, condition: (pod: Pod) => boolean, within = 60): Promise<Pod> => {
      let last = '';
      return until(
        `pod ${name}`,
        async () => {
          const pod = await get<Pod>('pod', name);
          last = JSON.stringify(pod.status);
          return condition(pod) && pod;
        },
        { within, last: () => last },
      );
    },
    logs: (name: string) => node.logs('default', name),
    /** Runs a script in a pod of our own image to its end and returns what it printed. */
    runScript: async (name: string, script: string, more: Partial<Pod['spec']> = {}): Promise<string> => {
      await kubectl(['apply', '-n', 'default', '-f', '-'], {
        stdin: JSON.stringify(scriptPod(name, script, { restartPolicy: 'Never', ...more })),
      });
      const pod = await until(`pod ${name} to end`, async () => {
        const seen = await get<Pod>('pod', name);
        return ['Succeeded', 'Failed'].includes(seen.status?.phase ?? '') ? seen : undefined;
      });
      const output = await node.logs('default', name);
      if (pod.status?.phase !== 'Succeeded') throw new Error(`pod ${name} failed:\n${output}`);
      return output;
    },
  };
}

/** A pod with one container, `main`, that runs a JavaScript text. */
export function scriptPod(name: string, script: string, spec: object = {}, container: object = {}): object {
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name, labels: { app: name } },
    spec: {
      terminationGracePeriodSeconds: 3,
      containers: [{ name: 'main', image: ownImage, command: ['node', '-e', script], ...container }],
      ...spec,
    },
  };
}

export function isReady(pod: Pod): boolean {
  return pod.status?.conditions?.find(({ type }) => type === 'Ready')?.status === 'True';
}

export const forever = 'setInterval(() => {}, 1e6);';
