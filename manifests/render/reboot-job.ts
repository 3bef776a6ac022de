import type { NodeGrant } from '../api/etcd-node-policy.ts';
import type { Container, Job, PodSpec } from '../kube-types.ts';
import { labels } from './names.ts';
import { restrictedRights } from './restricted.ts';

/** How a host is told to reboot, and what a pod must be given for it: no more than that. */
export type RebootMethod =
  | { readonly kind: 'DBus' }
  | { readonly kind: 'Signal' }
  | { readonly kind: 'Command'; readonly command: readonly string[] };

export interface RebootOrder {
  readonly namespace: string;
  /** Our own. */
  readonly image: string;
  readonly grant: Pick<NodeGrant, 'node' | 'id' | 'bootID'>;
  readonly method: RebootMethod;
  /** In seconds: from then on it does nothing any more. */
  readonly deadline: number;
}

/** The service account of the Jobs, in the namespace that the component node-reboots makes. */
const serviceAccountName = 'node-reboot';
/** Where the host's system bus is mounted, in the host and in the pod. */
export const systemBus = '/run/dbus/system_bus_socket';
/** A finished Job is of use to a person for so long. Seconds. */
const ttl = 24 * 3600;

export function rebootJobName(id: string): string {
  return `reboot-${id}`;
}

/** One pod on one node, once, by our own image: nothing stands there before, and nothing after. */
export function rebootJob({ namespace, image, grant, method, deadline }: RebootOrder): Job {
  const name = rebootJobName(grant.id);
  const shown = { [labels.name]: 'etcd-ratchet-reboot', [labels.managedBy]: 'etcd-ratchet' };
  return {
    apiVersion: 'batch/v1',
    kind: 'Job',
    metadata: { name, namespace, labels: shown },
    spec: {
      // It acts once: what did not work is told, and begun anew from the start.
      backoffLimit: 0,
      activeDeadlineSeconds: deadline,
      ttlSecondsAfterFinished: ttl,
      template: {
        metadata: { labels: shown },
        spec: {
          // By name, past the scheduler: the node is cordoned.
          nodeName: grant.node,
          tolerations: [{ operator: 'Exists' }],
          serviceAccountName,
          enableServiceLinks: false,
          restartPolicy: 'Never',
          terminationGracePeriodSeconds: 5,
          ...hostOf(method),
          containers: [containerOf({ image, grant, method, deadline })],
        },
      },
    },
  };
}

function hostOf(method: RebootMethod): Partial<PodSpec> {
  switch (method.kind) {
    case 'DBus':
      return { volumes: [{ name: 'system-bus', hostPath: { path: systemBus, type: 'Socket' } }] };
    case 'Signal':
    case 'Command':
      return { hostPID: true };
  }
}

function containerOf({ image, grant, method, deadline }: Omit<RebootOrder, 'namespace'>): Container {
  return {
    name: 'reboot',
    image,
    command: ['node', '/app/reboot.js'],
    env: [
      { name: 'NODE_NAME', valueFrom: { fieldRef: { fieldPath: 'spec.nodeName' } } },
      {
        name: 'JOB_UID',
        valueFrom: { fieldRef: { fieldPath: "metadata.labels['batch.kubernetes.io/controller-uid']" } },
      },
      { name: 'RATCHET_REBOOT', value: JSON.stringify(method) },
      { name: 'RATCHET_GRANT', value: grant.id },
      // Another boot is none of its business: the node may have crashed since.
      { name: 'RATCHET_BOOT_ID', value: grant.bootID },
      { name: 'RATCHET_DEADLINE', value: String(deadline) },
    ],
    resources: { requests: { cpu: '10m', memory: '64Mi' }, limits: { memory: '256Mi' } },
    ...(method.kind === 'DBus' && { volumeMounts: [{ name: 'system-bus', mountPath: systemBus }] }),
    securityContext: rightsOf(method),
  };
}

/** systemd takes it from root only. */
function rightsOf({ kind }: RebootMethod): NonNullable<Container['securityContext']> {
  switch (kind) {
    case 'DBus':
      return { ...restrictedRights, runAsUser: 0, readOnlyRootFilesystem: true };
    case 'Signal':
      return {
        ...restrictedRights,
        capabilities: { drop: ['ALL'], add: ['KILL'] },
        runAsUser: 0,
        readOnlyRootFilesystem: true,
      };
    case 'Command':
      return { privileged: true, runAsUser: 0 };
  }
}
