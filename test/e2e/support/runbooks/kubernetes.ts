import type { EtcdBackup } from '../../../../manifests/api/etcd-backup.ts';
import { annotations, labels } from '../../../../manifests/render/names.ts';
import { resources } from '../../../../reconcile/interfaces/kube.ts';
import type { Scene } from '../scene.ts';
import { until } from '../until.ts';
import { annotate, born, push, type Story, says, within } from './story.ts';

/** Of docs/runbooks/kubernetes-refuses.md, records.md and spec-refused.md. */

const store = { to: { object: 's3://backups/{{cluster}}.db', s3: { endpoint: 'http://127.0.0.1:9' } } };

export const ofKubernetes: readonly Story[] = [
  {
    title: 'a quota refuses an object of a cluster',
    page: 'kubernetes-refuses.md',
    sections: ['a-step-is-retried', 'the-api-server-refuses-an-action'],
    reason: 'Forbidden',
    name: 'counted',
    async happen(scene, name) {
      await within(scene, 'create', 'quota', 'claims', '--hard=count/persistentvolumeclaims=0');
      await until('the quota counts', async () => {
        const hard = await within(scene, 'get', 'quota', 'claims', '-o', 'jsonpath={.status.hard}');
        return hard.includes('persistentvolumeclaims');
      });
      await push(scene, name);
      return undefined;
    },
    async correct(scene) {
      await within(scene, 'delete', 'quota', 'claims');
    },
  },
  {
    title: 'a Service of another owner has the name that a cluster needs',
    page: 'kubernetes-refuses.md',
    sections: ['a-name-is-taken'],
    reason: 'NameTaken',
    name: 'taken',
    async happen(scene, name) {
      await within(scene, 'create', 'service', 'clusterip', `${name}-peers`, '--tcp=80');
      await push(scene, name);
      return undefined;
    },
  },
  {
    title: 'a tool has taken the label off a pod',
    page: 'kubernetes-refuses.md',
    sections: ['labels-disappear'],
    reason: 'PodUnlabelled',
    name: 'loose',
    async happen(scene, name) {
      await born(scene, name);
      await within(scene, 'label', 'pod', `${name}-0-0`, `${labels.cluster}-`);
      await until('its StatefulSet lets go of it', async () => {
        const owners = ['get', 'pod', `${name}-0-0`, '-o', 'jsonpath={.metadata.ownerReferences}'];
        return (await within(scene, ...owners)) === '';
      });
      return undefined;
    },
    // The page has its reader run the command that the message ends with.
    async correct(scene, name) {
      const { status } = await scene.cluster(name);
      const message = status?.conditions?.find(({ type }) => type === 'Stalled')?.message ?? '';
      await scene.kubectl(/To go on: kubectl (.*)$/.exec(message)?.[1]?.split(' ') ?? []);
    },
  },
  {
    title: 'an image updater changes a StatefulSet each time that it is put back',
    page: 'kubernetes-refuses.md',
    sections: ['another-client-changes-a-statefulset'],
    reason: 'ObjectContested',
    name: 'contested',
    async happen(scene, name) {
      await born(scene, name);
      await until('it is left to a person', async () => {
        await within(scene, 'set', 'image', `statefulset/${name}-0`, 'etcd=quay.io/coreos/etcd:v3.6.15');
        await scene.tick();
        return (await scene.cluster(name)).status?.lastDecision?.reason === 'ObjectContested';
      });
      return undefined;
    },
  },
  {
    title: 'a tool has damaged the record of a volume',
    page: 'records.md',
    sections: ['a-record-cant-be-read-or-a-seal-is-broken'],
    reason: 'VolumeRecordUnreadable',
    name: 'damaged',
    async happen(scene, name) {
      await born(scene, name);
      await within(scene, 'annotate', '--overwrite', 'pvc', `${name}-0`, `${annotations.clusterId}=nonsense`);
      return { MEMBER: `${name}-0` };
    },
    afterwards: [
      {
        reason: 'SealBroken',
        happen: (scene, name) => annotate(scene, `${name}-0`, { [annotations.volumeState]: 'bootstrapping' }),
        correct: (scene, name) => annotate(scene, `${name}-0`, { [annotations.volumeState]: 'sealed' }),
      },
      {
        reason: 'ClusterIDMismatch',
        happen: (scene, name) => annotate(scene, `${name}-0`, { [annotations.clusterId]: '123456789abcdef' }),
        async correct(scene, name) {
          const { status } = await scene.cluster(name);
          await annotate(scene, `${name}-0`, { [annotations.clusterId]: status?.clusterID });
        },
      },
    ],
  },
  {
    title: 'a commit asks for a lower version',
    page: 'spec-refused.md',
    sections: [],
    reason: 'DowngradeRefused',
    name: 'lower',
    earlier: [{ reason: 'NothingToHibernate', happen: (scene, name) => push(scene, name, { replicas: 0 }) }],
    async happen(scene, name) {
      await born(scene, name);
      await push(scene, name, { version: '3.5.35' });
      return undefined;
    },
    correct: (scene, name) => push(scene, name),
    afterwards: [
      { reason: 'VolumeShrinkRefused', happen: (scene, name) => push(scene, name, { storage: { size: '512Mi' } }) },
      {
        reason: 'ClaimTemplateRefused',
        happen: (scene, name) =>
          push(scene, name, { storage: { size: '1Gi', volumeClaimTemplate: { spec: { volumeMode: 'Filesystem' } } } }),
      },
      {
        reason: 'TemplateRefused',
        happen: (scene, name) => push(scene, name, { podTemplate: { spec: { serviceAccountName: 'tick' } } }),
      },
      {
        reason: 'InvalidWindow',
        happen: (scene, name) =>
          push(scene, name, {
            resources: { requests: { cpu: '2m' } },
            maintenance: { windows: [{ start: '0 0 31 2 *', duration: '1h' }] },
          }),
        correct: (scene, name) => push(scene, name),
      },
      {
        reason: 'InvalidRequest',
        happen: (scene, name) => within(scene, 'annotate', 'etcdcluster', name, `${annotations.defragment}=soon`),
        correct: (scene, name) => within(scene, 'annotate', 'etcdcluster', name, `${annotations.defragment}-`),
      },
    ],
  },
  {
    title: 'the storage class of a volume does not let it grow',
    page: 'spec-refused.md',
    sections: ['a-volume-does-not-grow'],
    reason: 'VolumeCannotGrow',
    name: 'stuck',
    async happen(scene, name) {
      const storageClassName = `fixed-${scene.namespace}`;
      const { provisioner } = JSON.parse(
        await scene.kubectl(['get', 'storageclass', 'no-expansion', '-o', 'json']),
      ) as {
        readonly provisioner: string;
      };
      const stdin = JSON.stringify({
        apiVersion: 'storage.k8s.io/v1',
        kind: 'StorageClass',
        metadata: { name: storageClassName },
        provisioner,
        volumeBindingMode: 'WaitForFirstConsumer',
      });
      await scene.kubectl(['apply', '-f', '-'], { stdin });
      await born(scene, name, { storage: { size: '1Gi', storageClassName } });
      await push(scene, name, { storage: { size: '2Gi', storageClassName } });
      return undefined;
    },
  },
  {
    title: 'the backup that an upgrade waits for has failed',
    page: 'spec-refused.md',
    sections: ['a-backup-before-a-change'],
    reason: 'BackupFailed',
    name: 'held',
    async happen(scene, name) {
      await born(scene, name, { backup: { ...store, beforeUpgrade: 'Required' } });
      await push(scene, name, { version: '3.7.3', backup: { ...store, beforeUpgrade: 'Required' } });
      await scene.tickUntil(name, says('BackingUp'));
      await failed(scene, name);
      return undefined;
    },
    // A name that is not taken twice, and no backup before an upgrade.
    correct: (scene, name) => push(scene, name, { version: '3.7.3', backup: { ...store, beforeUpgrade: 'Never' } }),
  },
];

/** What the agent would say after five tries, which take a while. */
async function failed(scene: Scene, name: string): Promise<void> {
  const made = await until('its EtcdBackup', async () =>
    (await scene.list<EtcdBackup>(resources.backups)).find(({ spec }) => spec.clusterName === name),
  );
  const at = new Date().toISOString().replace(/\.\d+/, '');
  const ready = { type: 'Ready', status: 'False', reason: 'Unreachable', message: 'the store is away' };
  const status = { observedGeneration: 1, finishedAt: at, conditions: [{ ...ready, lastTransitionTime: at }] };
  const patch = ['--subresource=status', '--type=merge', '-p', JSON.stringify({ status })];
  await within(scene, 'patch', 'etcdbackup', made.metadata.name, ...patch);
}
