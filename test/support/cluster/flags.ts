import { join } from 'node:path';
import { addressesOf, type Families } from './families.ts';
import type { Paths } from './paths.ts';

/** Away from 2379, which belongs to the pods. */
const etcdUrl = 'http://127.0.0.1:12379';
const etcdPeerUrl = 'http://127.0.0.1:12380';

export function etcdFlags(paths: Paths): string[] {
  return [
    '--name=control-plane',
    `--data-dir=${paths.etcdData}`,
    `--listen-client-urls=${etcdUrl}`,
    `--advertise-client-urls=${etcdUrl}`,
    `--listen-peer-urls=${etcdPeerUrl}`,
    `--initial-advertise-peer-urls=${etcdPeerUrl}`,
    `--initial-cluster=control-plane=${etcdPeerUrl}`,
    // It does not outlive the run: nothing to keep safe from a power cut.
    '--unsafe-no-fsync',
    '--log-level=warn',
  ];
}

export function apiServerFlags(paths: Paths, families: Families): string[] {
  const { apiServer } = addressesOf[families[0]];
  return [
    `--etcd-servers=${etcdUrl}`,
    // On the Service's own address and no other: with 0.0.0.0, no other Service could have port 443.
    `--bind-address=${apiServer}`,
    `--advertise-address=${apiServer}`,
    '--secure-port=443',
    `--service-cluster-ip-range=${families.map((family) => addressesOf[family].services).join(',')}`,
    // Node names are in nobody's DNS; logs are fetched by address.
    '--kubelet-preferred-address-types=InternalIP',
    `--cert-dir=${paths.certificates}`,
    `--token-auth-file=${paths.tokens}`,
    '--authorization-mode=RBAC',
    '--service-account-issuer=https://kubernetes.default.svc.cluster.local',
    // The serving key does for signing tokens as well; it lives as long as this run.
    `--service-account-key-file=${paths.certificateKey}`,
    `--service-account-signing-key-file=${paths.certificateKey}`,
    '--allow-privileged=true',
    '--profiling=false',
    '--v=1',
  ];
}

export function controllerManagerFlags(paths: Paths): string[] {
  const kubeconfig = join(paths.directory, 'controllers.kubeconfig');
  return [
    ...componentFlags(kubeconfig),
    '--bind-address=127.0.0.1',
    '--use-service-account-credentials=true',
    `--service-account-private-key-file=${paths.certificateKey}`,
    `--root-ca-file=${paths.certificate}`,
    // Pods get their addresses from the process node; this only keeps the controllers from handing out ranges too.
    '--allocate-node-cidrs=false',
    // Defaults are made for thousands of nodes. Ours should be seen to be lost while somebody watches.
    '--node-monitor-period=1s',
    '--node-monitor-grace-period=12s',
    '--node-startup-grace-period=15s',
    '--pvclaimbinder-sync-period=2s',
    '--attach-detach-reconcile-sync-period=10s',
    '--concurrent-job-syncs=10',
    '--concurrent-statefulset-syncs=10',
    '--kube-api-qps=200',
    '--kube-api-burst=400',
  ];
}

export function schedulerFlags(paths: Paths): string[] {
  const kubeconfig = join(paths.directory, 'scheduler.kubeconfig');
  return [...componentFlags(kubeconfig), '--bind-address=127.0.0.1', '--kube-api-qps=200', '--kube-api-burst=400'];
}

function componentFlags(kubeconfig: string): string[] {
  return [
    `--kubeconfig=${kubeconfig}`,
    `--authentication-kubeconfig=${kubeconfig}`,
    `--authorization-kubeconfig=${kubeconfig}`,
    // The only one of its kind: an election would only delay it.
    '--leader-elect=false',
    '--profiling=false',
    '--v=1',
  ];
}
