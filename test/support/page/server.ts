import { Hono } from 'hono';
import type { Access } from '../../../functions/page/access.ts';
import { loopbackAccess } from '../../../functions/page/access.ts';
import { createReader, type Reader } from '../../../functions/page/read.ts';
import { pageRoutes } from '../../../functions/page/routes.ts';
import { listen } from '../../../functions/serve/listen.ts';
import { type CheckReport, checkKeys, checkLabel, checkName } from '../../../manifests/api/check-report.ts';
import type { EtcdCluster } from '../../../manifests/api/etcd-cluster.ts';
import type { EtcdFleet } from '../../../manifests/api/etcd-fleet.ts';
import type { ConfigMap } from '../../../manifests/kube-types.ts';
import { resources } from '../../../reconcile/interfaces/kube.ts';
import { createFakeKube, type FakeKube, type FakeKubeOptions } from '../fakes/kube.ts';
import { now } from './scene.ts';

export interface SceneOptions extends FakeKubeOptions {
  readonly fleets?: readonly EtcdFleet[];
  readonly clusters?: readonly EtcdCluster[];
  readonly reports?: readonly CheckReport[];
  readonly access?: (kube: FakeKube) => Access;
  readonly plan?: Reader['plan'];
}

/** The routes over an API server in memory, which holds what is given. */
export function pages({ fleets = [], clusters = [], reports = [], access, plan, ...options }: SceneOptions) {
  const kube = createFakeKube({ clock: () => now, ...options });
  kube.seed(resources.fleets, ...fleets);
  kube.seed(resources.clusters, ...clusters);
  kube.seed(resources.configMaps, ...reports.map(configMapOf));
  const live = createReader({
    kube,
    etcd: () => Promise.reject(new Error('nobody asks etcd here')),
    wire: () => Promise.reject(new Error('nobody looks at the wire here')),
    holder: { pod: 'page', uid: 'page' },
    nonce: () => 'n'.repeat(32),
  });
  const logged: string[] = [];
  const reader = { ...live, ...(plan && { plan }) };
  const log = (fields: object, message: string) => void logged.push(`${message} ${JSON.stringify(fields)}`);
  const routes = pageRoutes({ reader, access: access?.(kube) ?? loopbackAccess, log });
  const app = new Hono();
  app.route('/', routes);
  const get = (path: string, headers: Record<string, string> = {}, method = 'GET') =>
    app.request(`http://localhost${path}`, { method, headers: { host: 'localhost:8080', ...headers } });
  return { app, kube, get, logged };
}

export function configMapOf(report: CheckReport): ConfigMap {
  const { namespace, name } = report.fleet;
  return {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { namespace, name: checkName(name, report.head), labels: { [checkLabel]: report.head } },
    data: { [checkKeys.json]: JSON.stringify(report) },
  };
}

export async function served(app: Hono): Promise<{ readonly address: string } & AsyncDisposable> {
  const server = await listen(app, { host: '127.0.0.1', port: 0 });
  return { address: `http://127.0.0.1:${server.port}`, [Symbol.asyncDispose]: () => server.close() };
}
