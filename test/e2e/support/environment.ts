import { type Kubectl, kubectlFor } from '../../support/cluster/kubectl.ts';

/** The cluster that a run gives to its stories. @throws where a story was started without one */
export function environment(): { readonly kubeconfig: string; readonly kubectl: Kubectl } {
  const { KUBECONFIG: kubeconfig, RATCHET_BINARIES: handed } = process.env;
  if (!kubeconfig) throw new Error('KUBECONFIG is not set: run "npm run e2e", which starts the local cluster');
  const binaries = handed === undefined ? undefined : (JSON.parse(handed) as { kubernetes: { kubectl: string } });
  return { kubeconfig, kubectl: kubectlFor(binaries?.kubernetes.kubectl ?? 'kubectl', kubeconfig) };
}
