import { perMinor } from '../test/run/per-minor.ts';
import { certManager, etcdctlVersion, etcdVersions, gitea, helm } from '../test/support/cluster/binaries/catalogue.ts';
import {
  kubernetesVersion,
  kubernetesVersions,
  minorOf,
  oldestKubernetesMinor,
} from '../test/support/cluster/binaries/kubernetes.ts';

/** What the tests run, and what else is expected to work: from what they provision and select. */
export function supportMatrix(): string {
  const row = (kubernetes: string, said: (etcd: string) => string) =>
    `| ${kubernetes} | ${etcdVersions.map(said).join(' | ')} |`;
  const rowOf = (minor: string) => {
    const tested = kubernetesVersions.find((version) => minorOf(version) === minor);
    return row(minor, (etcd) => (tested ? `tested (${tested}, ${etcd})` : 'expected, not tested'));
  };
  return [
    `| Kubernetes | ${etcdVersions.map((version) => `etcd ${minorOf(version)}`).join(' | ')} |`,
    `|---|${etcdVersions.map(() => '---').join('|')}|`,
    ...supportedMinors().map(rowOf),
    row(`before 1.${oldestKubernetesMinor}`, () => 'no'),
    '',
    `With Kubernetes ${minorOf(kubernetesVersion)} every test runs.`,
    whatRunsWith(kubernetesVersions.filter((version) => version !== kubernetesVersion).map(minorOf)),
    '',
    `Tested besides with Gitea ${gitea.version}, cert-manager ${certManager.version}, Helm ${helm.version} and etcdctl ${etcdctlVersion}.`,
  ].join('\n');
}

/** From the newest that tests run with to the oldest that we support. */
function supportedMinors(): string[] {
  const newest = Math.max(...kubernetesVersions.map((version) => Number(minorOf(version).split('.')[1])));
  return Array.from({ length: newest - oldestKubernetesMinor + 1 }, (_, back) => `1.${newest - back}`);
}

function whatRunsWith(minors: readonly string[]): string {
  return `With ${minors.join(', ')} it is what \`RATCHET_KUBERNETES=${minors[0]} npm test -- --per-minor\` runs, and so on: of the integration tests ${perMinor.integration.join(', ')}; end to end ${perMinor.e2e.join(', ')}.`;
}
