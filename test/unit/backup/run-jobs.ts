import type { EtcdBackup } from '../../../manifests/api/etcd-backup.ts';
import type { Job, PersistentVolumeClaim, Pod } from '../../../manifests/kube-types.ts';
import { annotations } from '../../../manifests/render/names.ts';
import { stepBackups } from '../../../reconcile/backup/pass.ts';
import { resources } from '../../../reconcile/interfaces/kube.ts';
import type { FakeKube } from '../../support/fakes/kube.ts';
import { offerNamed } from '../../support/fakes/offered.ts';
import { backupWith, proof, record, serving } from './scene.ts';

const signal = AbortSignal.timeout(60_000);
const namespace = 'default';

/** As it was asked for. */
export function fresh(spec: Partial<EtcdBackup['spec']> = {}): EtcdBackup {
  const { status: _, ...backup } = backupWith({}, spec);
  return backup;
}

/** What the Job controller, kubelet and the agent do: every Job is done at once, and well. */
export function runJobs(kube: FakeKube): void {
  for (const job of kube.stored<Job>(resources.jobs)) {
    if (job.status?.conditions) continue;
    const { name, uid = '' } = job.metadata;
    const object = job.metadata.annotations?.[annotations.object];
    const said = name.includes('-take-')
      ? { ok: true, operation: 'backup', record: { ...record, object } }
      : { ok: true, operation: 'compare', proof };
    kube.seed<Job>(resources.jobs, { ...job, status: { conditions: [{ type: 'Complete', status: 'True' }] } });
    seedVolume(kube, job);
    kube.seed<Pod>(resources.pods, {
      metadata: {
        name: `${name}-x`,
        uid: `pod-${uid}`,
        namespace,
        labels: { 'batch.kubernetes.io/job-name': name },
        ownerReferences: [{ apiVersion: 'batch/v1', kind: 'Job', name, uid, controller: true }],
      },
      spec: { containers: [] },
      status: {
        containerStatuses: [
          {
            name: job.spec.template.spec.containers.at(-1)?.name ?? 'none',
            ready: false,
            restartCount: 0,
            state: { terminated: { exitCode: 0, message: JSON.stringify(said) } },
          },
        ],
      },
    });
  }
}

/** All that backups name is offered to them. */
export function contextFor(kube: FakeKube) {
  for (const { spec } of kube.stored<EtcdBackup>(resources.backups)) offerNamed(kube, namespace, spec.to);
  return { kube, holder: { pod: '', uid: '' }, clusters: [serving], log: () => undefined, signal };
}

/** Steps, and what the cluster does in between. */
export async function live(kube: FakeKube, steps = 12): Promise<EtcdBackup | undefined> {
  for (let step = 0; step < steps; step++) {
    const backups = kube.stored<EtcdBackup>(resources.backups);
    await stepBackups(backups, contextFor(kube));
    runJobs(kube);
    kube.collectGarbage();
  }
  return kube.stored<EtcdBackup>(resources.backups)[0];
}

/** An ephemeral volume's PVC is its pod's, and goes with that. */
function seedVolume(kube: FakeKube, { metadata, spec }: Job): void {
  const template = spec.template.spec.volumes?.find(({ ephemeral }) => ephemeral);
  if (template === undefined) return;
  const [name, uid] = [`${metadata.name}-x`, `pod-${metadata.uid}`];
  kube.seed<PersistentVolumeClaim>(resources.volumeClaims, {
    metadata: {
      name: `${name}-${template.name}`,
      namespace,
      ownerReferences: [{ apiVersion: 'v1', kind: 'Pod', name, uid, controller: true }],
    },
    spec: { accessModes: ['ReadWriteOnce'], resources: {} },
  });
}
