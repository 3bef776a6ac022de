import { withDefaults } from '../../../manifests/api/defaults.ts';
import type { EtcdCluster } from '../../../manifests/api/etcd-cluster.ts';
import { takeJob, verifyJob } from '../../../manifests/render/backup-jobs.ts';
import { logJob } from '../../../manifests/render/log-job.ts';
import { lookJob } from '../../../manifests/render/look-job.ts';
import { etcdPeer } from '../../../manifests/render/peer.ts';
import { rebootJob } from '../../../manifests/render/reboot-job.ts';
import { recoveryJob } from '../../../manifests/render/recovery-job.ts';
import { restoreJob } from '../../../manifests/render/restore-job.ts';
import { pruneJob } from '../../../manifests/render/schedule-objects.ts';
import { statefulSet } from '../../../manifests/render/stateful-set.ts';
import { type Resource, resources } from '../../../reconcile/interfaces/kube.ts';
import { samples } from '../../unit/docs/samples.ts';
import { cluster, fullBackup, fullCluster, fullSchedule, backup as plain } from '../../unit/manifests/api-documents.ts';

/** Every pod that we make, of every sample and of documents that say all that they may. */

const image = 'registry.example.com/etcd-ratchet:v1';

/** Our Jobs on nodes. */
export function ofNodes(where: { readonly namespace: string; readonly image: string }) {
  const order = { ...where, grant: { node: 'node-1', id: 'grant', bootID: 'boot-1' }, deadline: 600 };
  return {
    DBus: rebootJob({ ...order, method: { kind: 'DBus' } }),
    Signal: rebootJob({ ...order, method: { kind: 'Signal' } }),
    Command: rebootJob({ ...order, method: { kind: 'Command', command: ['systemctl', 'reboot'] } }),
    look: lookJob({ ...where, node: 'node-1', uid: 'uid', bootId: 'boot-1', path: '/var/run/reboot-required' }),
  } as const;
}

export function* allRendered(namespace: string): Iterable<readonly [what: string, Resource, object: object]> {
  for (const [file, document] of samples)
    if ((document as EtcdCluster).kind === 'EtcdCluster') yield* ofMember(file, document as EtcdCluster, namespace);
  yield* ofMember('a cluster with defaults', cluster, namespace);
  yield* ofMember('a cluster that says everything', fullCluster, namespace);
  yield* ofMember('sidecars that say nothing of their rights', withSidecars, namespace);
  yield* ofBackups(namespace);
}

const withSidecars: EtcdCluster = {
  ...cluster,
  spec: {
    ...cluster.spec,
    podTemplate: {
      spec: {
        serviceAccountName: 'default',
        hostUsers: false,
        securityContext: {
          runAsUser: null,
          fsGroup: null,
          seccompProfile: { type: 'Localhost', localhostProfile: 'a' },
        },
        initContainers: [{ name: 'first', image: 'example.org/first:1' }],
        containers: [{ name: 'beside', image: 'example.org/beside', ports: [{ containerPort: 80 }] }],
        volumes: [
          { name: 'a', emptyDir: {} },
          { name: 'b', projected: { sources: [{ configMap: { name: 'b' } }, { downwardAPI: { items: [] } }] } },
          { name: 'c', configMap: { name: 'c' } },
          { name: 'd', downwardAPI: { items: [] } },
        ],
      },
    },
  },
};

function* ofMember(what: string, given: EtcdCluster, namespace: string): Iterable<readonly [string, Resource, object]> {
  const owner = withDefaults({ ...given, metadata: { name: 'orders', namespace, uid: 'cluster-uid' } });
  const initialCluster = [{ name: 'orders-0', url: 'http://orders-0:2380' }];
  const built = etcdPeer(owner, owner.spec, 0, { token: 'token', initialCluster, state: 'New' });
  const peer = { ...built, metadata: { ...built.metadata, uid: 'peer-uid' } };
  const order = { image, id: '0123456789ab', attempt: 1 };
  const life = { token: 'token', bump: 7 };
  const snapshot = { object: 's3://backups/orders/a.db', serviceAccountName: 'backups', s3: { region: 'eu' } };
  yield [`the StatefulSet of ${what}`, resources.statefulSets, statefulSet(peer)];
  yield [`the log of ${what}`, resources.jobs, logJob(peer, { image, situation: 'abcdef', node: 'node-1' })];
  yield [`a recovery by force of ${what}`, resources.jobs, recoveryJob(peer, { ...order, withoutCopy: false })];
  const begins = { ...order, withoutCopy: false, begins: life };
  yield [`a recovery with a new life of ${what}`, resources.jobs, recoveryJob(peer, begins)];
  yield [`a restore of ${what}`, resources.jobs, restoreJob(peer, { ...order, ...life, snapshot })];
  const tried = { ...order, ...life, snapshot: { object: 'pvc://backups/a.db' }, trial: true };
  yield [`a rollback of ${what}`, resources.jobs, restoreJob(peer, tried)];
}

function* ofBackups(namespace: string): Iterable<readonly [string, Resource, object]> {
  const inS3 = { scheme: 's3', bucket: 'backups.example', path: 'a.db' } as const;
  const claim = { scheme: 'pvc', bucket: 'backups', path: 'default/orders/a.db' } as const;
  for (const [what, given] of [
    ['a plain backup', plain],
    ['a full backup', fullBackup],
  ] as const) {
    const metadata = { ...given.metadata, uid: 'uid-1', namespace };
    const backup = { ...given, metadata };
    const order = { image, attempt: 1, tlsSecretName: 'tls', etcdImage: 'quay.io/coreos/etcd:v3.6.16' };
    const settings = { ...order, endpoints: ['https://10.0.0.1:2379'], snapshotBytes: 1024 };
    const looksFor = { ...backup, spec: { ...backup.spec, existing: { sha256: 'f'.repeat(64) } } };
    for (const location of [inS3, claim]) {
      const place = `${what} in ${location.scheme}`;
      yield [`${place}, taken`, resources.jobs, takeJob(backup, { ...settings, location })];
      yield [`${place}, looked for`, resources.jobs, takeJob(looksFor, { ...settings, location })];
      yield [`a drill of ${place}`, resources.jobs, verifyJob(backup, { ...settings, location })];
    }
    const spec = { ...backup.spec, scratch: { storageClassName: 'fast' } };
    const drill = verifyJob({ ...backup, spec }, { ...settings, location: inS3 });
    yield [`a drill of ${what} on a volume of its own`, resources.jobs, drill];
    const schedule = { ...fullSchedule, metadata: { ...fullSchedule.metadata, namespace, uid: 'schedule' } };
    yield [
      `what prunes after ${what}`,
      resources.jobs,
      pruneJob(schedule, { after: backup, spare: [backup] }, { image }),
    ];
  }
}
