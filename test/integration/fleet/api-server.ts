import { mkdir } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { connectKube } from '../../../reconcile/clients/kube.ts';
import type { Kube } from '../../../reconcile/interfaces/kube.ts';
import { binariesEnvironment, provisionBinaries } from '../../support/cluster/binaries.ts';
import { startControlPlane } from '../../support/cluster/control-plane.ts';
import { type Kubectl, kubectlFor } from '../../support/cluster/kubectl.ts';
import { enterSandbox } from '../../support/cluster/sandbox.ts';

export interface ApiServer extends AsyncDisposable {
  readonly kube: Kube;
  readonly kubectl: Kubectl;
  readonly kubeconfigPath: string;
}

/** A real API server with our CRDs; the rest of the script runs in its sandbox. */
export async function startApiServer({ withCrds = true } = {}): Promise<ApiServer> {
  const binaries = await provisionBinaries();
  const sandbox = await enterSandbox(binariesEnvironment(binaries));
  const directory = join(sandbox.directory, 'control-plane');
  await mkdir(directory, { mode: 0o700 });

  await using parts = new AsyncDisposableStack();
  const { kubeconfigPath } = parts.use(await startControlPlane(binaries, directory));
  const kubectl = kubectlFor(binaries.kubernetes.kubectl, kubeconfigPath);
  if (withCrds) {
    await kubectl(['apply', '-k', resolve(import.meta.dirname, '../../../manifests/install/crds')]);
    await kubectl(['wait', '--for=condition=Established', 'crd', '--all', '--timeout=30s']);
  }
  const kube = await connectKube({ userAgent: 'etcd-ratchet/test', kubeconfig: kubeconfigPath });
  parts.defer(() => kube.close());
  const started = parts.move();
  return { kube, kubectl, kubeconfigPath, [Symbol.asyncDispose]: () => started.disposeAsync() };
}
