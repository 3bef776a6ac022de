import { cpus, totalmem } from 'node:os';
import { type Api, isStatus } from './api.ts';
import type { Log, Timing } from './options.ts';
import { formatTime } from './status.ts';

export const kubeletPort = 10250;

export type NodeIdentity = {
  readonly name: string;
  readonly index: number;
  readonly addresses: readonly [string, ...string[]];
  readonly podCIDRs: readonly string[];
  /** Of the API server, like `v1.36.3`: a kubelet is never newer. */
  readonly version: string;
};

/** Which boot of the node it is, and whether its kubelet is up. */
export type Boot = { id: string };

export type Heartbeat = { stop(): void };

/** What a node offers. The processes share this machine, so the amounts only steer the scheduler. */
export function nodeCapacity(): Record<string, string> {
  return {
    cpu: String(Math.max(8, cpus().length)),
    memory: `${Math.max(16, Math.floor(totalmem() / 2 ** 30))}Gi`,
    pods: '110',
    'ephemeral-storage': '100Gi',
  };
}

/** Makes the Node object, or takes over the one of an earlier run. */
export async function registerNode(api: Api, node: NodeIdentity, boot: Boot): Promise<void> {
  const { podCIDRs } = node;
  const labels = {
    'kubernetes.io/hostname': node.name,
    'kubernetes.io/os': 'linux',
    'kubernetes.io/arch': process.arch === 'arm64' ? 'arm64' : 'amd64',
    'topology.kubernetes.io/region': 'local',
    'topology.kubernetes.io/zone': `local-${node.index}`,
  };
  try {
    await api.create('/api/v1/nodes', {
      metadata: { name: node.name, labels },
      spec: { podCIDR: podCIDRs[0], podCIDRs },
    });
  } catch (error) {
    if (!isStatus(error, 409)) throw error;
  }
  await reportReady(api, node, boot);
}

/** Renews the node's Lease, and its Ready condition every five minutes, until stopped. */
export function startHeartbeat(api: Api, node: NodeIdentity, boot: Boot, timing: Timing, log: Log): Heartbeat {
  let stopped = false;
  let timer: NodeJS.Timeout | undefined;
  let readyAt = Date.now();
  async function beat(): Promise<void> {
    let nextMs = timing.leaseMs;
    try {
      await renewLease(api, node.name, timing.leaseSeconds);
      if (Date.now() - readyAt > 300_000) {
        await reportReady(api, node, boot);
        readyAt = Date.now();
      }
    } catch (error) {
      log.warn({ node: node.name, error: String(error) }, 'the heartbeat was not accepted, trying again');
      nextMs = Math.min(1000, timing.leaseMs);
    }
    if (!stopped) timer = setTimeout(() => void beat(), nextMs);
  }
  void beat();
  return {
    stop: () => {
      stopped = true;
      clearTimeout(timer);
    },
  };
}

async function renewLease(api: Api, name: string, leaseSeconds: number): Promise<void> {
  const path = `/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases`;
  const spec = { holderIdentity: name, leaseDurationSeconds: leaseSeconds, renewTime: microTime(new Date()) };
  try {
    await api.patch(`${path}/${name}`, 'merge', { spec });
  } catch (error) {
    if (!isStatus(error, 404)) throw error;
    await api.create(path, { metadata: { name, namespace: 'kube-node-lease' }, spec });
  }
}

/** @param ready `false`: as a kubelet says that has just started, and has no network yet */
export async function reportReady(api: Api, node: NodeIdentity, boot: Boot, ready = true): Promise<void> {
  const now = formatTime(Date.now());
  const condition = (type: string, status: string, reason: string, message: string) => {
    return { type, status, reason, message, lastHeartbeatTime: now, lastTransitionTime: now };
  };
  const capacity = nodeCapacity();
  await api.patch(`/api/v1/nodes/${node.name}/status`, 'strategic-merge', {
    status: {
      capacity,
      allocatable: capacity,
      addresses: [
        ...node.addresses.map((address) => ({ type: 'InternalIP', address })),
        { type: 'Hostname', address: node.name },
      ],
      daemonEndpoints: { kubeletEndpoint: { Port: kubeletPort } },
      conditions: [
        condition('MemoryPressure', 'False', 'KubeletHasSufficientMemory', 'kubelet has sufficient memory available'),
        condition('DiskPressure', 'False', 'KubeletHasNoDiskPressure', 'kubelet has no disk pressure'),
        condition('PIDPressure', 'False', 'KubeletHasSufficientPID', 'kubelet has sufficient PID available'),
        ready
          ? condition('Ready', 'True', 'KubeletReady', 'kubelet is posting ready status')
          : condition('Ready', 'False', 'KubeletNotReady', 'container runtime network not ready'),
      ],
      nodeInfo: {
        machineID: node.name,
        systemUUID: node.name,
        bootID: boot.id,
        kernelVersion: 'process-node',
        osImage: 'etcd-ratchet process node',
        containerRuntimeVersion: 'process://1.0.0',
        kubeletVersion: node.version,
        kubeProxyVersion: '',
        operatingSystem: 'linux',
        architecture: process.arch === 'arm64' ? 'arm64' : 'amd64',
      },
    },
  });
}

function microTime(date: Date): string {
  return date.toISOString().replace('Z', '000Z');
}
