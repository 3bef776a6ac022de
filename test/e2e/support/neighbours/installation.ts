import { readFile } from 'node:fs/promises';
import { connectKube } from '../../../../reconcile/clients/kube.ts';
import { type Kube, type KubeObject, resources } from '../../../../reconcile/interfaces/kube.ts';
import { install } from '../../../demo/install.ts';
import { type Answering, ask } from '../../../integration/manifests/api-server.ts';
import type { LeastBinaries } from '../../../support/cluster/binaries.ts';
import type { LocalCluster } from '../../../support/cluster/local-cluster.ts';
import { type ForgeServer, startForge } from '../../../support/git/forge.ts';
import { type GitServer, startGitServer } from '../../../support/git/server.ts';
import { localSettings } from '../../../support/network.ts';
import { furnishNamespace } from '../furniture.ts';
import { never } from '../installed.ts';
import { startOwnCluster } from '../own-cluster.ts';
import { until } from '../until.ts';

/** One installation for all namespaces of a cluster of its own. Nothing starts its ticks but a test. */
export interface Installation extends AsyncDisposable {
  readonly kube: Kube;
  readonly kubectl: LocalCluster['kubectl'];
  readonly api: Answering;
  readonly git: GitServer;
  readonly forge: ForgeServer;
  /** A tick of the CronJob's own template, as a push has it; its follow-ups are left to it. */
  tick(): Promise<void>;
  /** A namespace with a service account for a fleet, as docs/how-to/tenants.md has it. */
  addTenant(namespace: string): Promise<void>;
  removeTenant(namespace: string): Promise<void>;
}

const home = 'etcd-ratchet';
const host = '10.244.0.1';

export async function startInstallation(binaries: LeastBinaries): Promise<Installation> {
  await using opening = new AsyncDisposableStack();
  const cluster = opening.use(await startOwnCluster({ binaries }));
  const { kubectl, kubeconfigPath } = cluster;
  const kube = await connectKube({ userAgent: 'e2e/0', kubeconfig: kubeconfigPath });
  opening.defer(() => kube.close());
  const git = opening.use(await startGitServer({ host }));
  const forge = opening.use(await startForge({ host }));
  await install(kubectl);
  const settings = {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { name: 'etcd-ratchet-settings', namespace: home },
  };
  await kube.create(resources.configMaps, { ...settings, data: localSettings } as KubeObject);
  const patch = JSON.stringify([{ op: 'replace', path: '/spec/schedule', value: never }]);
  await kubectl(['-n', home, 'patch', 'cronjob', 'etcd-ratchet', '--type=json', '-p', patch]);
  const api = await adminOf(kubeconfigPath);
  let ticks = 0;
  const tick = async () => {
    ticks += 1;
    await kubectl(['-n', home, 'create', 'job', '--from=cronjob/etcd-ratchet', `tick-${ticks}`]);
  };
  const opened = opening.move();
  return {
    ...{ kube, kubectl, api, git, forge, tick },
    async addTenant(namespace) {
      await furnishNamespace(kube, namespace);
      const role = 'etcd-ratchet-fleet-host';
      const rule = ['--verb=impersonate', '--resource=serviceaccounts', '--resource-name=fleet'];
      await kubectl(['-n', namespace, 'create', 'role', role, ...rule]);
      const to = [`--role=${role}`, `--serviceaccount=${home}:etcd-ratchet`];
      await kubectl(['-n', namespace, 'create', 'rolebinding', role, ...to]);
      await kubectl(['-n', namespace, 'wait', '--for=create', 'serviceaccount/default', '--timeout=30s']);
    },
    async removeTenant(namespace) {
      await kubectl(['delete', 'namespace', namespace, '--wait=false']);
      let looks = 0;
      await until(
        `namespace ${namespace} is gone`,
        async () => {
          // What we hold by finalizers.
          if (looks % 10 === 0) await tick();
          looks += 1;
          return (await kube.get<KubeObject>(resources.namespaces, undefined, namespace)) === undefined;
        },
        { within: 180, every: 1000 },
      );
    },
    [Symbol.asyncDispose]: () => opened.disposeAsync(),
  };
}

async function adminOf(kubeconfigPath: string): Promise<Answering> {
  const { clusters, users } = JSON.parse(await readFile(kubeconfigPath, 'utf8'));
  const { server, 'certificate-authority-data': data } = clusters[0].cluster;
  const ca = Buffer.from(data, 'base64').toString();
  return { send: (method, path, body) => ask(new URL(path, server), ca, users[0].user, method, body) };
}
