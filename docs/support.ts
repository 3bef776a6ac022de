import {
  etcdctlVersion,
  etcdVersions,
  gitea,
  helm,
  kubernetesVersion,
  oldestKubernetesMinor,
} from '../test/support/cluster/binaries/catalogue.ts';

/** What the tests run, and what else is expected to work: from what they provision. */
export function supportMatrix(): string {
  const minor = kubernetesVersion.split('.').slice(0, 2).join('.');
  const etcd = etcdVersions.map((version) => version.split('.').slice(0, 2).join('.'));
  return [
    `| Kubernetes | ${etcd.map((one) => `etcd ${one}`).join(' | ')} |`,
    `|---|${etcd.map(() => '---').join('|')}|`,
    `| ${minor} | ${etcdVersions.map((version) => `tested (${kubernetesVersion}, ${version})`).join(' | ')} |`,
    `| 1.${oldestKubernetesMinor} to 1.${Number(minor.split('.')[1]) - 1} | ${etcd.map(() => 'expected, not tested').join(' | ')} |`,
    `| before 1.${oldestKubernetesMinor} | ${etcd.map(() => 'no').join(' | ')} |`,
    '',
    `Tested besides with Gitea ${gitea.version}, Helm ${helm.version} and etcdctl ${etcdctlVersion}.`,
  ].join('\n');
}
