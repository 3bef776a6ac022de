import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type Daemon, startDaemon } from '../daemon.ts';
import { addressesOf } from '../families.ts';

export interface KubeletOptions {
  readonly binary: string;
  /** Its own. */
  readonly directory: string;
  readonly logs: string;
  readonly node: number;
  readonly kubeconfig: string;
  /** Of containerd. */
  readonly socket: string;
  /** Of the run, which the node's is made in. */
  readonly cgroup: string;
}

/** Ready is what its Node says. */
export async function startKubelet(options: KubeletOptions): Promise<Daemon> {
  const { binary, directory, logs, node, kubeconfig } = options;
  await mkdir(directory, { recursive: true });
  // What pods with `dnsPolicy: Default` ask: here is no name server but the cluster's.
  const resolv = join(directory, 'resolv.conf');
  await writeFile(resolv, '');
  const config = join(directory, 'kubelet.json');
  await writeFile(config, JSON.stringify(configuration(options, resolv)));
  const flags = [
    `--config=${config}`,
    `--kubeconfig=${kubeconfig}`,
    `--root-dir=${join(directory, 'root')}`,
    `--cert-dir=${join(directory, 'certificates')}`,
    `--hostname-override=node-${node}`,
    `--node-ip=${addressesOf.IPv4.node(node)}`,
    `--node-labels=topology.kubernetes.io/region=local,topology.kubernetes.io/zone=local-${node}`,
    '--v=2',
  ];
  return startDaemon(binary, flags, join(logs, `kubelet-${node}.log`));
}

function configuration({ node, socket, cgroup, directory }: KubeletOptions, resolvConf: string) {
  return {
    apiVersion: 'kubelet.config.k8s.io/v1beta1',
    kind: 'KubeletConfiguration',
    address: addressesOf.IPv4.node(node),
    // Each of the run's kubelets would have it on the same address.
    healthzPort: 0,
    // Nothing reaches it but what is in the sandbox.
    authentication: { anonymous: { enabled: true }, webhook: { enabled: false } },
    authorization: { mode: 'AlwaysAllow' },
    containerRuntimeEndpoint: `unix://${socket}`,
    cgroupDriver: 'cgroupfs',
    cgroupRoot: `/${cgroup}/node-${node}`,
    // Since 1.35 it refuses machines that have the first version of cgroups, unless it is told.
    failCgroupV1: false,
    failSwapOn: false,
    clusterDNS: [addressesOf.IPv4.dns],
    clusterDomain: 'cluster.local',
    resolvConf,
    podLogsDir: join(directory, 'pod-logs'),
    staticPodPath: '',
    // The controllers call a node lost after 12 s (flags.ts): a lease must be renewed well within that.
    nodeLeaseDurationSeconds: 12,
    serializeImagePulls: false,
    // Images can't be pulled again, and the disk is that of the machine.
    imageGCHighThresholdPercent: 100,
    evictionHard: {
      'memory.available': '0%',
      'nodefs.available': '0%',
      'nodefs.inodesFree': '0%',
      'imagefs.available': '0%',
    },
  };
}
