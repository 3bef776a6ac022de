import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { startDaemon } from '../../support/cluster/daemon.ts';
import type { Kubectl } from '../../support/cluster/kubectl.ts';
import type { LocalCluster } from '../../support/cluster/local-cluster.ts';
import { run } from '../../support/cluster/node/command.ts';
import type { Kwok } from '../../support/cluster/tools.ts';

/** Of pods that run nothing: what listens on all addresses is reached there. */
const podCIDR = '10.128.0.0/9';
export const storageClass = 'stand-in';
const label = { 'example.com/stand-in': 'true' };

/** For the pods of a cluster that is to run there, and nowhere else. */
export const podTemplate = {
  spec: { nodeSelector: label, tolerations: [{ key: 'example.com/stand-in', operator: 'Exists' }] },
};

const nodes = ['stand-in-0', 'stand-in-1', 'stand-in-2'];

/**
 * Nodes that kwok plays: their pods run at once, are Ready, have an address, and no process. The controllers, the
 * scheduler and all objects are Kubernetes' own.
 */
export async function startStandInNodes(cluster: LocalCluster, kwok: Kwok): Promise<AsyncDisposable> {
  const { kubectl, kubeconfigPath, directory } = cluster;
  await run('ip', ['route', 'add', 'local', podCIDR, 'dev', 'lo']);
  await kubectl(['apply', '-f', '-'], { stdin: lines([...nodes.map(node), classOfVolumes]) });
  const stages = ['node/fast/node-initialize', 'pod/fast/pod-ready', 'pod/fast/pod-delete'];
  const config = join(directory, 'kwok.yaml');
  const texts = await Promise.all(stages.map((one) => readFile(join(kwok.stages, `${one}.yaml`), 'utf8')));
  await writeFile(config, texts.join('\n---\n'));
  const flags = [
    `--kubeconfig=${kubeconfigPath}`,
    `--config=${config}`,
    '--manage-nodes-with-label-selector=example.com/stand-in=true',
    `--cidr=${podCIDR}`,
    '--node-ip=10.128.0.1',
    // A node whose lease is 12 s old is called lost (flags.ts); it is renewed at a quarter of this.
    '--node-lease-duration-seconds=12',
  ];
  const daemon = startDaemon(kwok.path, flags, join(directory, 'logs/kwok.log'));
  const ready = ['wait', '--for=condition=Ready', '--timeout=60s', ...nodes.map((name) => `node/${name}`)];
  const why = await Promise.race([kubectl(ready).then(() => undefined), daemon.ended]);
  if (why !== undefined) throw new Error(`kwok ended: ${why}`);
  return { [Symbol.asyncDispose]: () => daemon.stop() };
}

/** So many more that PVCs of the class are bound to. */
export async function addVolumes(kubectl: Kubectl, first: number, count: number): Promise<void> {
  await kubectl(['create', '-f', '-'], { stdin: lines([...Array(count).keys()].map((n) => volume(first + n))) });
}

function node(name: string): object {
  return {
    apiVersion: 'v1',
    kind: 'Node',
    metadata: { name, labels: { ...label, 'kubernetes.io/hostname': name } },
    spec: { taints: [{ key: 'example.com/stand-in', effect: 'NoSchedule' }] },
    status: { allocatable: room, capacity: room },
  };
}

const room = { cpu: '10000', memory: '100Ti', pods: '10000', 'ephemeral-storage': '100Ti' };

const classOfVolumes = {
  apiVersion: 'storage.k8s.io/v1',
  kind: 'StorageClass',
  metadata: { name: storageClass },
  provisioner: 'kubernetes.io/no-provisioner',
};

function volume(number: number): object {
  return {
    apiVersion: 'v1',
    kind: 'PersistentVolume',
    metadata: { name: `stand-in-${number}` },
    spec: {
      accessModes: ['ReadWriteOnce'],
      capacity: { storage: '1Gi' },
      hostPath: { path: `/nowhere/${number}` },
      storageClassName: storageClass,
      persistentVolumeReclaimPolicy: 'Retain',
    },
  };
}

function lines(objects: readonly object[]): string {
  return objects.map((one) => JSON.stringify(one)).join('\n---\n');
}
