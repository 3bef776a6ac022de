import assert from 'node:assert/strict';
import type { PersistentVolumeClaim } from '../../../../manifests/kube-types.ts';
import { annotations } from '../../../../manifests/render/names.ts';
import { resources } from '../../../../reconcile/interfaces/kube.ts';
import { makeBackupStore } from '../backup-store.ts';
import { backupUntil, createBackup } from '../backups.ts';
import { connectTo } from '../client.ts';
import { condition } from '../conditions.ts';
import { copyDisk, restoreClaim } from '../disks.ts';
import { fill } from '../fill.ts';
import { readKey, writeKey } from '../keys.ts';
import { node } from '../node.ts';
import type { Scene } from '../scene.ts';
import { until } from '../until.ts';
import { annotate, born, type Incident, loseVolumes, push, type Story, says } from './story.ts';

/** Of the runbooks about disks, data and space. */

const healing = { podGracePeriod: '5s', memberGracePeriod: '20s' };

const recovering = { [annotations.volumeState]: 'recovering', [annotations.recovery]: '0123456789ab/1' };
const asItWas = { [annotations.volumeState]: 'sealed', [annotations.recovery]: undefined };

/** Annotations of an older time come back, as of a backup of the PVCs. */
const afterRestoredClaims: readonly Incident[] = [
  {
    reason: 'RecoveryOutdated',
    happen: (scene, name) => annotate(scene, `${name}-0`, recovering),
    correct: (scene, name) => annotate(scene, `${name}-0`, asItWas),
  },
  {
    reason: 'TwoRecoveries',
    happen: (scene, name) => ofTwo(scene, name, recovering),
    correct: (scene, name) => ofTwo(scene, name, asItWas),
  },
  {
    reason: 'RecoveredListUnexpected',
    happen: (scene, name) => annotate(scene, `${name}-0`, { ...recovering, [annotations.volumeState]: 'recovered' }),
    correct: (scene, name) => annotate(scene, `${name}-0`, asItWas),
  },
  {
    reason: 'VolumesOfTwoClusters',
    happen: (scene, name) => annotate(scene, `${name}-0`, { [annotations.token]: 'of-another' }),
    async correct(scene, name) {
      const other = await scene.get<PersistentVolumeClaim>(resources.volumeClaims, await otherOf(scene, name));
      await annotate(scene, `${name}-0`, { [annotations.token]: other?.metadata.annotations?.[annotations.token] });
    },
  },
];

async function ofTwo(scene: Scene, name: string, values: Readonly<Record<string, string | undefined>>): Promise<void> {
  for (const claim of [`${name}-0`, await otherOf(scene, name)]) await annotate(scene, claim, values);
}

/** Another member than the first one. */
async function otherOf(scene: Scene, name: string): Promise<string> {
  const { status } = await scene.cluster(name);
  return status?.members?.find((member) => member.name !== `${name}-0`)?.name ?? assert.fail('no other member');
}

export const ofData: readonly Story[] = [
  {
    title: 'two of three members have lost their volumes',
    page: 'lost-quorum.md',
    sections: ['what-you-see', 'else-go-on-with-the-member-that-has-the-most-data', 'while-it-recovers'],
    reason: 'QuorumLost',
    name: 'lost',
    async happen(scene, name) {
      await born(scene, name, { replicas: 3, healing });
      await loseVolumes(scene, `${name}-1`, `${name}-2`);
      return undefined;
    },
    afterwards: afterRestoredClaims,
  },
  {
    title: 'every volume of a cluster is gone, and there is a backup',
    page: 'all-data-lost.md',
    sections: ['is-there-a-backup'],
    reason: 'AllVolumesGone',
    name: 'gone',
    async happen(scene, name) {
      await makeBackupStore(scene);
      await born(scene, name);
      await writeKey(await scene.access(name), 'precious', 'still here');
      await createBackup(scene, `${name}-1`, { clusterName: name, to: { object: 'pvc://backups/{{uid}}.db' } });
      await backupUntil(scene, `${name}-1`, (backup) => condition(backup, 'Ready')?.status === 'True');
      await loseVolumes(scene, `${name}-0`);
      return undefined;
    },
    // The page leads to a cluster of another name; this one is then deleted.
    over: says('AllVolumesGone'),
  },
  {
    title: 'every PVC of a cluster is gone, and its disks are retained',
    page: 'all-data-lost.md',
    sections: ['do-the-disks-still-exist'],
    reason: 'AllVolumesGone',
    name: 'retained',
    async happen(scene, name) {
      await born(scene, name);
      await writeKey(await scene.access(name), 'precious', 'on its disk');
      const claim = await scene.get<PersistentVolumeClaim>(resources.volumeClaims, `${name}-0`);
      const disk = claim?.spec.volumeName ?? assert.fail('not bound');
      await scene.kubectl(['patch', 'pv', disk, '-p', '{"spec":{"persistentVolumeReclaimPolicy":"Retain"}}']);
      await loseVolumes(scene, `${name}-0`);
      return { MEMBER: `${name}-0`, PV: disk };
    },
    check: async (scene, name) => {
      assert.equal(await readKey(await scene.access(name), 'precious'), 'on its disk');
    },
  },
  {
    title: 'every member comes back on another disk',
    page: 'another-disk.md',
    sections: ['what-to-do'],
    reason: 'AllDisksRestored',
    name: 'copied',
    async happen(scene, name) {
      await born(scene, name);
      const copy = await copyDisk(scene.kube, scene.namespace, `${name}-0`);
      await loseVolumes(scene, `${name}-0`);
      await restoreClaim(scene.kube, copy);
      return undefined;
    },
  },
  {
    title: 'two members hold different data, and neither has a majority',
    page: 'different-data.md',
    sections: ['no-majority-or-the-outvoted-member-is-ahead'],
    reason: 'DataDiffer',
    name: 'differs',
    async happen(scene, name) {
      const [right, wrong] = ['what was acknowledged', 'what the disk now say'];
      const { status } = await born(scene, name, { replicas: 2, healing });
      const client = connectTo(await scene.access(name), 5000);
      await client.put('witness').value(right);
      const victim =
        status?.members?.find((member) => member.name !== status.leader)?.name ?? assert.fail('no follower');
      const altered = () => node().alterVolume(scene.namespace, victim, 'snap/db', right, wrong);
      await until('the value to change on the disk', async () => (await altered()) > 0);
      // etcd compares its members when they compact.
      for (let n = 0; n < 30; n += 1) await client.put('more').value(String(n));
      const { header } = await client.kv.range({ key: Buffer.from('witness') });
      await client.kv.compact({ revision: String(BigInt(header.revision) - 20n) });
      client.close();
      return { MEMBER: victim, GOOD: status?.leader ?? assert.fail('no leader') };
    },
  },
  {
    title: 'keys fill the quota',
    page: 'no-space.md',
    sections: ['it-is-stalled-the-data-fill-the-quota', 'it-is-stalled-was-defragmented-and-has-not-become-smaller'],
    reason: 'NoSpace',
    name: 'full',
    async happen(scene, name) {
      await born(scene, name, { etcd: { quotaBackendBytes: '16Mi' } });
      const client = connectTo(await scene.access(name), 5000);
      // Small ones, of which no defragmentation frees a part: with room again, nothing would be Stalled.
      await fill(client, (number) => `/old/${number}`, 10_000);
      client.close();
      return { PREFIX: '/old/' };
    },
  },
  {
    title: 'the snapshot that a cluster is to be born from is not there',
    page: 'backup-fails.md',
    sections: ['a-cluster-that-is-born-from-a-snapshot'],
    reason: 'RestoreFailed',
    name: 'unborn',
    async happen(scene, name) {
      await makeBackupStore(scene);
      await push(scene, name, { bootstrap: { snapshot: { object: 'pvc://backups/nothing.db' } } });
      return undefined;
    },
    leaves: true,
  },
];
