import { randomBytes } from 'node:crypto';
import { mkdir } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { connectKube } from '../../../reconcile/clients/kube.ts';
import { type Kube, type KubeObject, type Resource, resources } from '../../../reconcile/interfaces/kube.ts';
import { until } from '../../e2e/support/until.ts';
import { type EtcdVersion, etcdVersions } from '../../support/cluster/binaries/catalogue.ts';
import { binariesEnvironment, provisionBinaries } from '../../support/cluster/binaries.ts';
import { startControlPlane } from '../../support/cluster/control-plane.ts';
import { kubectlFor } from '../../support/cluster/kubectl.ts';
import { enterSandbox } from '../../support/cluster/sandbox.ts';
import { type EtcdPlace, startEtcdPlace } from './etcd-place.ts';

/** One API server and a few etcd clusters of each minor, which all contracts share. */
export interface Stage extends AsyncDisposable {
  readonly kube: Kube;
  /** The same as the account of a tick, with its rights and the policies that hold it to what it makes. */
  readonly us: Kube;
  /** A namespace of its own. */
  namespace(): Promise<string>;
  readonly etcd: Readonly<Record<EtcdVersion, EtcdPlace>>;
}

const install = resolve(import.meta.dirname, '../../../manifests/install');
/** What an installation has for the whole cluster, and what it needs for nodes and for cert-manager. */
const installed = [
  ...['crds', 'cluster'].map((one) => ['-k', join(install, one)]),
  ...['namespace', 'controller-role', 'agent-role'].map((one) => [
    '-f',
    join(install, `components/node-reboots/${one}.yaml`),
  ]),
  ['-f', join(install, 'components/cert-manager/role.yaml')],
] as const;
const account = { namespace: 'etcd-ratchet', name: 'etcd-ratchet' } as const;
/** Of cert-manager, as far as we use it. */
const certManager = resolve(import.meta.dirname, '../../support/fixtures/cert-manager');
const namespaces: Resource = { apiVersion: 'v1', kind: 'Namespace', plural: 'namespaces' };
const serviceAccounts: Resource = { apiVersion: 'v1', kind: 'ServiceAccount', plural: 'serviceaccounts' };
const storageClasses: Resource = { apiVersion: 'storage.k8s.io/v1', kind: 'StorageClass', plural: 'storageclasses' };

/** Of a class whose volumes may grow, and of one whose may not. */
export const classes = { grows: 'grows', rigid: 'rigid' } as const;

/** The rest of the script runs in a sandbox. */
export async function startStage(): Promise<Stage> {
  const binaries = await provisionBinaries();
  const sandbox = await enterSandbox(binariesEnvironment(binaries));
  const directory = join(sandbox.directory, 'control-plane');
  await mkdir(directory, { mode: 0o700 });

  await using parts = new AsyncDisposableStack();
  const starting = etcdVersions.map(
    async (version) => [version, await startEtcdPlace(binaries.etcd[version])] as const,
  );
  const { kubeconfigPath } = parts.use(await startControlPlane(binaries, directory, { withControllers: false }));
  const kubectl = kubectlFor(binaries.kubernetes.kubectl, kubeconfigPath);
  await kubectl(['apply', '-f', certManager]);
  for (const what of installed) await kubectl(['apply', ...what]);
  await kubectl(['wait', '--for=condition=Established', 'crd', '--all', '--timeout=30s']);
  const kube = await connectKube({ userAgent: 'etcd-ratchet/test', kubeconfig: kubeconfigPath });
  parts.defer(() => kube.close());
  for (const name of Object.values(classes)) {
    const more = { provisioner: 'contract.test/none', allowVolumeExpansion: name === classes.grows };
    await kube.create<KubeObject>(storageClasses, { metadata: { name }, ...more } as KubeObject);
  }
  const us = kube.as(account);
  await untilHeld(us);
  const places = await Promise.all(starting);
  for (const [, place] of places) parts.use(place);
  const started = parts.move();
  return {
    kube,
    us,
    etcd: Object.fromEntries(places) as Stage['etcd'],
    namespace: async () => {
      const name = `requests-${randomBytes(5).toString('hex')}`;
      await kube.create(namespaces, { metadata: { name } });
      // No pod is admitted before its service account is there, which a controller would make.
      await kube.create(serviceAccounts, { metadata: { name: 'default', namespace: name } });
      return name;
    },
    [Symbol.asyncDispose]: () => started.disposeAsync(),
  };
}

/** A policy counts a moment after it was made. */
async function untilHeld(us: Kube): Promise<void> {
  const bare = { metadata: { name: 'bare', namespace: account.namespace }, spec: bareJob } as KubeObject;
  await until('the account of a tick is held to what it makes', async () => {
    const said = await us.dryRun(resources.jobs, bare).then(String, String);
    return said.includes('that Pod Security calls restricted');
  });
}

const bareJob = { template: { spec: { restartPolicy: 'Never', containers: [{ name: 'a', image: 'a' }] } } };
