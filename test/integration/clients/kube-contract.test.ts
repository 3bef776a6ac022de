/** The contract of `Kube` with a real API server, in a sandbox of this file's own. */

import { randomBytes } from 'node:crypto';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { after } from 'node:test';
import { connectKube } from '../../../reconcile/clients/kube.ts';
import { type Kube, type KubeObject, type Resource, resources } from '../../../reconcile/interfaces/kube.ts';
import { until } from '../../e2e/support/until.ts';
import { binariesEnvironment, provisionBinaries } from '../../support/cluster/binaries.ts';
import { startControlPlane } from '../../support/cluster/control-plane.ts';
import { enterSandbox } from '../../support/cluster/sandbox.ts';
import { kubeContract, widgets } from '../../support/fakes/kube-contract.ts';

const namespaces: Resource = { apiVersion: 'v1', kind: 'Namespace', plural: 'namespaces' };
const serviceAccounts: Resource = { apiVersion: 'v1', kind: 'ServiceAccount', plural: 'serviceaccounts' };
const definitions: Resource = {
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  plural: 'customresourcedefinitions',
};

const binaries = await provisionBinaries();
const sandbox = await enterSandbox(binariesEnvironment(binaries));
const directory = join(sandbox.directory, 'control-plane');
await mkdir(directory, { mode: 0o700 });
const controlPlane = await startControlPlane(binaries, directory);
const kube = await connectKube({ userAgent: 'contract-test/0', kubeconfig: controlPlane.kubeconfigPath });
await serveWidgets(kube);

after(async () => {
  kube.close();
  await controlPlane[Symbol.asyncDispose]();
});

kubeContract('the API server', async () => {
  const namespace = `contract-${randomBytes(4).toString('hex')}`;
  await kube.create(namespaces, { metadata: { name: namespace } });
  // No pod is admitted before its service account is there.
  await until('the default service account', () => kube.get(serviceAccounts, namespace, 'default'));
  return { kube, namespace };
});

async function serveWidgets(client: Kube): Promise<void> {
  const schema = { openAPIV3Schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } };
  const names = { kind: widgets.kind, listKind: `${widgets.kind}List`, plural: widgets.plural, singular: 'widget' };
  const versions = [{ name: 'v1', served: true, storage: true, schema, subresources: { status: {} } }];
  const definition = { group: 'contract.test', scope: 'Namespaced', names, versions };
  const crd: KubeObject & { spec: unknown } = { metadata: { name: 'widgets.contract.test' }, spec: definition };
  await client.create(definitions, crd);
  await until('widgets', () => client.list(widgets, {}).catch(() => undefined));
  await client.list(resources.pods, {});
}
