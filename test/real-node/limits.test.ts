import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import type { PersistentVolumeClaim, Pod } from '../../manifests/kube-types.ts';
import { resources } from '../../reconcile/interfaces/kube.ts';
import { assignNoMore, assignUsers, firstUser, usersOf } from '../e2e/support/assigned-users.ts';
import { condition, isReady, isStalledFor, isWholeOf } from '../e2e/support/conditions.ts';
import { until } from '../e2e/support/until.ts';
import { ground } from './support/ground.ts';
import { installation, ownImage } from './support/installation.ts';
import { seenIn } from './support/seen-in.ts';

/** Sizes of volumes, limits of memory and users that a platform assigns, as the kernel enforces them. */

installation();
const stage = ground();
after(() => assignNoMore(stage()));

test('a limit of memory that etcd outgrows ends it, and is named with its cure', async () => {
  const { apply, untilCluster, kube, namespace } = stage();
  await apply('hungry', { replicas: 1, resources: { limits: { memory: '12Mi' } } });
  const stalled = await untilCluster('hungry', isStalledFor('OutOfMemory'));
  assert.match(condition(stalled, 'Stalled')?.message ?? '', /hungry-0 .*12Mi.*spec\.resources\.limits\.memory/);
  const pod = await kube.get<Pod>(resources.pods, namespace, 'hungry-0-0');
  const [etcd] = pod?.status?.containerStatuses ?? [];
  assert.equal((etcd?.state?.terminated ?? etcd?.lastState?.terminated)?.reason, 'OOMKilled');
  await apply('hungry', { replicas: 1, resources: { limits: { memory: '512Mi' } } });
  await untilCluster('hungry', isReady);
});

/** Fills what is left of a volume, as its member would. */
async function fill(claim: string): Promise<void> {
  const program = `
    const { openSync, writeSync, fsyncSync } = require('node:fs');
    const file = openSync('/volume/filling', 'a');
    const block = Buffer.alloc(4096, 1);
    try { for (;;) writeSync(file, block); } catch ({ code }) { console.log(code); }`;
  const container = {
    ...{ name: 'fill', image: await ownImage(), command: ['node', '-e', program] },
    volumeMounts: [{ name: 'volume', mountPath: '/volume' }],
  };
  const spec = {
    containers: [container],
    securityContext: { runAsUser: 1000, runAsGroup: 1000, fsGroup: 1000, fsGroupChangePolicy: 'OnRootMismatch' },
    volumes: [{ name: 'volume', persistentVolumeClaim: { claimName: claim } }],
  };
  assert.equal((await stage().outputOf({ name: 'fill', spec })).trim(), 'ENOSPC');
}

test('a volume is as large as its PVC asks, and grows under its member', async () => {
  const { apply, untilCluster, kube, namespace } = stage();
  const ofOne = { replicas: 1, storage: { size: '256Mi' } };
  await apply('full', ofOne);
  await untilCluster('full', isReady);
  await fill('full-0');
  await apply('full', { ...ofOne, storage: { size: '512Mi' } });
  const capacity = async () => {
    const claim = await kube.get<PersistentVolumeClaim>(resources.volumeClaims, namespace, 'full-0');
    return claim?.status?.capacity?.storage === '512Mi';
  };
  await until('a volume of another size', capacity, { within: 180 });
  await untilCluster('full', isReady);
});

test('a member runs as the user that its platform filled in, and is left alone', async () => {
  const { apply, untilCluster, kube, namespace } = stage();
  await assignUsers(stage());
  const securityContext = { runAsUser: null, runAsGroup: null, fsGroup: null };
  await apply('assigned', { replicas: 1, podTemplate: { spec: { securityContext } } });
  const podOf = async () => (await kube.get<Pod>(resources.pods, namespace, 'assigned-0-0')) ?? assert.fail('no pod');
  await untilCluster('assigned', isWholeOf(1));
  const pod = await podOf();
  assert.deepEqual(usersOf(pod), { users: [firstUser], group: firstUser });
  const { data, me, member, volume } = await seenIn(stage(), 'assigned-0');
  assert.deepEqual({ data, me }, { data: 'member', me: String(firstUser) });
  // OpenShift's policy gives pods no group of their own either: theirs is the image's, and volumes are of the fsGroup.
  assert.deepEqual({ member, volume }, { member: `${firstUser}:${firstUser}`, volume: `0:${firstUser}` });
  // Seen anew by a tick of its own: another spec, which no pod is made from.
  await apply('assigned', {
    replicas: 1,
    podTemplate: { spec: { securityContext } },
    healing: { podGracePeriod: '31s' },
  });
  await untilCluster('assigned', isWholeOf(1));
  assert.equal((await podOf()).metadata.uid, pod.metadata.uid);
});
