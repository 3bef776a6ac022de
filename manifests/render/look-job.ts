import { createHash } from 'node:crypto';
import { posix } from 'node:path';
import type { Job } from '../kube-types.ts';
import { labels } from './names.ts';
import { restrictedRights } from './restricted.ts';

/** What a look is for: one boot of one node, and one file. */
export interface LookOrder {
  readonly node: string;
  readonly uid: string;
  readonly bootId: string;
  /** On the host. */
  readonly path: string;
}

interface LookJobOptions extends LookOrder {
  readonly namespace: string;
  /** Our own. */
  readonly image: string;
}

/** Where the directory of the file is mounted in the pod. */
const mountPath = '/sentinel';
/** Of the image's unprivileged user. */
const user = 65532;
/** In seconds: a look is a matter of moments, and a node that can't start it is told. */
const deadline = 120;
/** A finished Job is deleted once its answer is written; one that is never read goes by itself. Seconds. */
const ttl = 3600;

/** Another boot, another Node object or another file is another look: its answer is no answer to this one. */
export function lookJobName({ uid, bootId, path }: Omit<LookOrder, 'node'>): string {
  const hash = createHash('sha256').update(JSON.stringify([uid, bootId, path]));
  return `look-${hash.digest('hex').slice(0, 20)}`;
}

/** One pod on one node that reads whether a file is there: no rights on the host, and no token of the API server. */
export function lookJob({ namespace, image, ...order }: LookJobOptions): Job {
  const { node, path } = order;
  const shown = { [labels.name]: 'etcd-ratchet-look', [labels.managedBy]: 'etcd-ratchet' };
  return {
    apiVersion: 'batch/v1',
    kind: 'Job',
    metadata: { name: lookJobName(order), namespace, labels: shown },
    spec: {
      backoffLimit: 0,
      activeDeadlineSeconds: deadline,
      ttlSecondsAfterFinished: ttl,
      template: {
        metadata: { labels: shown },
        spec: {
          // By name, past the scheduler: it takes no room that others need for longer than a moment.
          nodeName: node,
          tolerations: [{ operator: 'Exists' }],
          automountServiceAccountToken: false,
          enableServiceLinks: false,
          restartPolicy: 'Never',
          terminationGracePeriodSeconds: 0,
          securityContext: {
            runAsNonRoot: true,
            runAsUser: user,
            runAsGroup: user,
            seccompProfile: { type: 'RuntimeDefault' },
          },
          volumes: [{ name: 'sentinel', hostPath: { path: posix.dirname(path), type: 'Directory' } }],
          containers: [
            {
              name: 'look',
              image,
              command: ['node', '/app/look.js'],
              env: [{ name: 'RATCHET_SENTINEL', value: posix.join(mountPath, posix.basename(path)) }],
              resources: { requests: { cpu: '10m', memory: '32Mi' }, limits: { memory: '128Mi' } },
              volumeMounts: [{ name: 'sentinel', mountPath, readOnly: true }],
              securityContext: { ...restrictedRights, readOnlyRootFilesystem: true },
            },
          ],
        },
      },
    },
  };
}
