import { randomBytes } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { connectKube } from '../../reconcile/clients/kube.ts';
import type { Kube } from '../../reconcile/interfaces/kube.ts';
import { provisionBinaries } from '../support/cluster/binaries.ts';
import { kubeconfig } from '../support/cluster/identities.ts';
import { type Kubectl, kubectlFor } from '../support/cluster/kubectl.ts';
import { sharedControlPlane } from '../support/cluster/shared-control-plane.ts';
import { type ApiServer, ask } from './manifests/api-server.ts';

export interface SharedApiServer extends Pick<ApiServer, 'send'>, AsyncDisposable {
  /** This file's own. What has no namespace, and what is in others, is only looked at. */
  readonly namespace: string;
  readonly kube: Kube;
  /** Like the kubeconfig: in that namespace, unless another is named. */
  readonly kubectl: Kubectl;
  readonly kubeconfigPath: string;
}

/** A real API server with our CRDs and without controllers, at the same time as other test files. */
export async function shareApiServer(): Promise<SharedApiServer> {
  await using parts = new AsyncDisposableStack();
  const { url, ca, token } = parts.use(await sharedControlPlane());
  const namespace = `test-${randomBytes(4).toString('hex')}`;
  const directory = await mkdtemp(join(tmpdir(), 'api-server-'));
  parts.defer(() => rm(directory, { recursive: true }));
  const kubeconfigPath = join(directory, 'kubeconfig');
  await writeFile(kubeconfigPath, kubeconfig({ url, ca, token }, { namespace }), { mode: 0o600 });
  const kubectl = kubectlFor((await provisionBinaries()).kubernetes.kubectl, kubeconfigPath);
  await kubectl(['create', 'namespace', namespace]);
  // No pod is admitted before its service account is there, which a controller would make.
  await kubectl(['create', 'serviceaccount', 'default']);
  const kube = await connectKube({ userAgent: 'etcd-ratchet/test', kubeconfig: kubeconfigPath });
  parts.defer(() => kube.close());
  const started = parts.move();
  return {
    namespace,
    kube,
    kubectl,
    kubeconfigPath,
    send: (method, path, body) => ask(new URL(path, url), ca, { token }, method, body),
    [Symbol.asyncDispose]: () => started.disposeAsync(),
  };
}
