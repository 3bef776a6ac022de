import type { KubernetesBinary, NodeBinary, Released } from './catalogue.ts';
import { ProvisionError } from './error.ts';

/** The minors that tests can run with, newest first, each at the patch release that its module pins. */
export const kubernetesVersions = ['1.37.2', '1.36.3', '1.35.4', '1.34.4', '1.33.13'] as const;
export type KubernetesVersion = (typeof kubernetesVersions)[number];

/** What tests run with unless `RATCHET_KUBERNETES` names another minor: nobody waits for a build of the others. */
export const kubernetesVersion = '1.36.3' satisfies KubernetesVersion;
/** The oldest that our CRDs are for. Nothing older is taken, whoever has it at hand. */
export const oldestKubernetesMinor = 33;

const variable = 'RATCHET_KUBERNETES';

/** `asked`: somebody named it, so no other minor will do. */
export interface ChosenKubernetes {
  readonly version: KubernetesVersion;
  readonly asked: boolean;
}

/** @throws {ProvisionError} naming the minors that there are, when the environment asks for another one. */
export function chosenKubernetes(environment: NodeJS.ProcessEnv): ChosenKubernetes {
  const asked = environment[variable];
  if (!asked) return { version: kubernetesVersion, asked: false };
  const version = kubernetesVersions.find((one) => minorOf(one) === asked);
  if (version) return { version, asked: true };
  const known = kubernetesVersions.map(minorOf).join(', ');
  throw new ProvisionError(
    `${variable} is ${JSON.stringify(asked.slice(0, 40))}, which is not a minor that tests can run with`,
    `set it to one of ${known}, or unset it for ${minorOf(kubernetesVersion)}`,
  );
}

/** `1.36` of `1.36.3`. */
export function minorOf(version: string): string {
  return version.split('.').slice(0, 2).join('.');
}

const buildSeconds = {
  'kube-apiserver': 200,
  'kube-controller-manager': 60,
  'kube-scheduler': 5,
  kubectl: 17,
  kubelet: 60,
  'kube-proxy': 15,
} as const satisfies Record<KubernetesBinary | NodeBinary, number>;

export function kubernetes(name: KubernetesBinary | NodeBinary, chosen: ChosenKubernetes): Released {
  const { version, asked } = chosen;
  const [major, minor] = version.split('.');
  const stamped = 'k8s.io/component-base/version';
  return {
    name,
    version,
    onlyThisMinor: asked,
    variable: `RATCHET_${name.toUpperCase().replaceAll('-', '_')}`,
    module: `kubernetes-${minorOf(version)}`,
    goPackage: `k8s.io/kubernetes/cmd/${name}`,
    // Without these, discovery and compatibility checks see a v0.0.0 server.
    ldflags: `-s -w -X ${stamped}.gitVersion=v${version} -X ${stamped}.gitMajor=${major} -X ${stamped}.gitMinor=${minor}`,
    buildSeconds: buildSeconds[name],
  };
}
