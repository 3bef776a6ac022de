import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { EtcdBackup } from '../../../manifests/api/etcd-backup.ts';
import type { EtcdCluster } from '../../../manifests/api/etcd-cluster.ts';
import type { Job, PersistentVolumeClaim } from '../../../manifests/kube-types.ts';
import { dueBackup } from '../../../manifests/render/schedule-objects.ts';
import { refusal } from '../../../reconcile/clients/kube-errors.ts';
import { KubeError, resources } from '../../../reconcile/interfaces/kube.ts';
import { kinds } from '../../../reconcile/kinds.ts';
import { actOnSchedule } from '../../../reconcile/schedule/act.ts';
import { firstSteps } from '../../../reconcile/stepping/loop.ts';
import { createLife, type Life } from './life.ts';

/** Each guard of an action by itself. */

const at = new Date('2026-03-01T01:00:00Z');
const { signal } = new AbortController();
const context = ({ kube }: Life) => ({ kube, signal, image: async () => 'ratchet:1' });

/** It is under way. */
function busy(life: Life): EtcdBackup {
  const backup = dueBackup(life.schedule(), new Date('2026-03-01T00:00:00Z'));
  life.kube.seed(resources.backups, backup);
  const { namespace, name } = backup.metadata;
  return (
    life.kube
      .stored<EtcdBackup>(resources.backups)
      .find(({ metadata }) => metadata.name === name && metadata.namespace === namespace) ?? assert.fail(name)
  );
}

describe('a schedule', () => {
  test('begins no backup in place of one that could not be given up', async () => {
    for (const fails of [false, true]) {
      const life = createLife();
      const backup = busy(life);
      life.fault = ({ verb }, when) => {
        if (fails && verb === 'DELETE' && when === 'before')
          throw new KubeError('no right to delete', { class: 'terminal', status: 403, reason: 'Forbidden' });
      };
      const prune = { kind: 'prune', after: backup, spare: [] } as const;
      const actions = [{ kind: 'give-up', backups: [backup] } as const, { kind: 'start', at } as const, prune];
      const deeds = await actOnSchedule(life.schedule(), actions, context(life));
      assert.deepEqual(
        deeds.map(({ action, failure }) => [action.kind, failure?.reason]),
        fails
          ? [
              ['give-up', 'Forbidden'],
              ['prune', undefined],
            ]
          : [
              ['give-up', undefined],
              ['start', undefined],
              ['prune', undefined],
            ],
      );
    }
  });

  test('does not take a defect of ours for an answer of the API server', async () => {
    const life = createLife();
    life.fault = () => {
      throw new TypeError('a defect');
    };
    await assert.rejects(actOnSchedule(life.schedule(), [{ kind: 'start', at }], context(life)), TypeError);
    life.fault = ({ key }) => {
      if (key === 'PUT etcdbackupschedules/status') throw new TypeError('a defect');
    };
    await assert.rejects(life.tick(), TypeError);
  });

  test('does not take something else that has the name for the backup that is due', async () => {
    const life = createLife();
    const own = dueBackup(life.schedule(), at);
    const { ownerReferences: _, ...metadata } = own.metadata;
    life.kube.seed(resources.backups, { ...own, metadata });
    const [deed] = await actOnSchedule(life.schedule(), [{ kind: 'start', at }], context(life));
    assert.equal(deed?.failure?.reason, 'NameTaken');
    life.kube.remove(resources.backups, 'default', metadata.name);
    const before = life.kube.journal().length;
    const again = async () => (await actOnSchedule(life.schedule(), [{ kind: 'start', at }], context(life)))[0];
    assert.partialDeepStrictEqual(await again(), { created: metadata.name });
    assert.deepEqual(
      life.kube
        .journal()
        .slice(before)
        .map(({ verb }) => verb),
      ['POST'],
      'what was made is not asked for',
    );
    const second = await again();
    assert.deepEqual([second?.created, second?.failure], [undefined, undefined], 'another invocation was faster');
    life.fault = ({ key }, when) => {
      if (key === 'GET etcdbackups' && when === 'before') life.kube.remove(resources.backups, 'default', metadata.name);
    };
    const third = await again();
    assert.deepEqual([third?.created, third?.failure], [undefined, undefined], 'and it has gone since');
  });

  test('sends no Job that prunes to a host that the installation does not list', async () => {
    const to = { object: 's3://bucket/{{timestamp}}.db', s3: { endpoint: 'https://169.254.169.254', region: 'x' } };
    const life = createLife({ template: { clusterName: 'orders', to } });
    const prune = { kind: 'prune', after: busy(life), spare: [] } as const;
    const [deed] = await actOnSchedule(life.schedule(), [prune], context(life));
    assert.equal(deed?.failure?.reason, 'HostRefused');
    assert.deepEqual(life.kube.stored(resources.jobs), []);
  });

  for (const [what, to, metadata, reason] of [
    [
      'what is not offered',
      { object: 's3://b/{{timestamp}}.db', s3: { credentialsSecretName: 'x' } },
      {},
      'NotOffered',
    ],
    ['the volume of a member', { object: 'pvc://files/{{timestamp}}.db' }, { token: 't' }, 'MemberVolume'],
    ['a volume that is not offered', { object: 'pvc://files/{{timestamp}}.db' }, {}, 'NotOffered'],
  ] as const)
    test(`sends no Job that prunes to ${what}`, async () => {
      const life = createLife({ template: { clusterName: 'orders', to } });
      const annotations = Object.fromEntries(
        Object.entries(metadata).map(([key, v]) => [`etcd.ratchet.dev/${key}`, v]),
      );
      life.kube.seed<PersistentVolumeClaim>(resources.volumeClaims, {
        metadata: { namespace: 'default', name: 'files', annotations },
        spec: { accessModes: ['ReadWriteOnce'], resources: {} },
      });
      const prune = { kind: 'prune', after: busy(life), spare: [] } as const;
      const [deed] = await actOnSchedule(life.schedule(), [prune], context(life));
      assert.equal(deed?.failure?.reason, reason);
      assert.deepEqual(life.kube.stored(resources.jobs), []);
    });

  test('prunes where the members of its cluster run, with no more than a quota of theirs admits', async () => {
    const to = { object: 'gs://bucket/{{timestamp}}.db', gcs: { keySecretName: 'key' } };
    const podTemplate = { spec: { nodeSelector: { disk: 'fast' } } };
    const ofMembers = { requests: { cpu: '100m', memory: '300Mi' }, limits: { cpu: '200m', memory: '300Mi' } };
    const alone = { requests: { cpu: '100m', memory: '128Mi' }, limits: { memory: '512Mi' } };
    for (const [from, asked, nodeSelector, ofAgent] of [
      [{ clusterName: 'orders' }, 1, { disk: 'fast' }, ofMembers],
      [{ clusterName: 'gone' }, 1, undefined, alone],
      [{ source: { endpoints: ['https://10.0.0.1:2379'] } }, 0, undefined, alone],
    ] as const) {
      const life = createLife({ template: { ...from, to } });
      life.kube.seed(resources.clusters, {
        metadata: { namespace: 'default', name: 'orders' },
        spec: { podTemplate, resources: ofMembers },
      } as unknown as EtcdCluster);
      const prune = { kind: 'prune', after: busy(life), spare: [] } as const;
      await actOnSchedule(life.schedule(), [prune], context(life));
      const [job = assert.fail()] = life.kube.stored<Job>(resources.jobs);
      assert.deepEqual(job.spec.template.spec.nodeSelector, nodeSelector);
      assert.deepEqual(job.spec.template.spec.containers[0]?.resources, ofAgent);
      assert.equal(life.kube.requests()['GET etcdclusters'] ?? 0, asked);
    }
  });

  test('tells another invocation that was faster from a step that failed', async () => {
    for (const [code, outcome] of [
      [409, 'lost'],
      [403, 'failed'],
    ] as const) {
      const life = createLife();
      life.fault = (request, when) => {
        if (request.key === 'PUT etcdbackupschedules/status' && when === 'before') throw refusal(request, { code });
      };
      const { results = [] } = (await firstSteps('schedule', kinds.schedule, life.context())) ?? {};
      assert.deepEqual(
        results.map((result) => result.outcome),
        [outcome],
      );
    }
  });

  test('that is being deleted begins nothing, and deletes nothing', async () => {
    const life = createLife({ schedule: '@hourly' });
    await life.run(2);
    const schedule = life.schedule();
    const deletionTimestamp = '2026-03-01T00:02:00Z';
    life.kube.remove(resources.schedules, 'default', schedule.metadata.name);
    const metadata = { ...schedule.metadata, deletionTimestamp, finalizers: ['example.com/held'] };
    life.kube.seed(resources.schedules, { ...schedule, metadata });
    await life.run(70);
    assert.deepEqual(life.backups(), []);
  });
});
