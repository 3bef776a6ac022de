import type { Container, Pod } from '../../../../manifests/kube-types.ts';

/** What the pod of a member that others made says of how it runs, as far as an adoption depends on it. */
export interface ExistingPod {
  readonly name: string;
  /** It has its node's addresses: no NetworkPolicy selects it, and it may not resolve names of Services. */
  readonly hostNetwork?: true;
  /** Its peer certificate is of its own making (`--peer-auto-tls`): there is no CA that could sign ours. */
  readonly peerAutoTls?: true;
  /** None of its volumes outlives it: started again, it begins an empty cluster. */
  readonly keepsNothing?: true;
}

export function existingPodOf({ metadata, spec }: Pod): ExistingPod {
  const { hostNetwork, containers, volumes = [] } = spec;
  return {
    name: metadata.name,
    ...(hostNetwork && { hostNetwork: true as const }),
    ...(containers.some(makesItsCertificates) && { peerAutoTls: true as const }),
    ...(volumes.every((volume) => !outlivesThePod(volume)) && { keepsNothing: true as const }),
  };
}

/** What a pod is given, or what goes with it. Every other kind of volume is taken for one that stays. */
const passing = new Set(['emptyDir', 'configMap', 'secret', 'projected', 'downwardAPI', 'image']);

function outlivesThePod(volume: object): boolean {
  return Object.keys(volume).some((key) => key !== 'name' && !passing.has(key));
}

/** As etcd reads it: a flag before a variable, and the last of several flags. */
function makesItsCertificates({ command = [], args = [], env = [] }: Container): boolean {
  const flag = [...command, ...args].findLast((word) => /^--?peer-auto-tls(=|$)/.test(word));
  const value = flag === undefined ? env.find(({ name }) => name === 'ETCD_PEER_AUTO_TLS')?.value : flag.split('=')[1];
  return flag !== undefined && value === undefined ? true : ['1', 't', 'true'].includes(value?.toLowerCase() ?? '');
}
