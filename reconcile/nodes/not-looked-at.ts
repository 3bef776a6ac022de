import { isNotInstalled, type KubeError } from '../interfaces/kube.ts';

export function notLookedAt(error: KubeError): string {
  const cure = isNotInstalled(error) ? 'apply the CRDs and the component node-reboots' : 'the next tick looks again';
  return `node policies can't be looked at: ${cure}`;
}
