import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { EtcdCluster } from '../../manifests/api/etcd-cluster.ts';
import type { PersistentVolumeClaim, Pod } from '../../manifests/kube-types.ts';
import { resources } from '../../reconcile/interfaces/kube.ts';
import { isWholeOf } from '../e2e/support/conditions.ts';
import { until } from '../e2e/support/until.ts';
import { type Ground, ground } from './support/ground.ts';
import { installation } from './support/installation.ts';
import { seenIn } from './support/seen-in.ts';

/** What only a kubelet, a container runtime and a volume's file system enforce, on what people install. */

installation();
const stage = ground();
const name = 'orders';
/** A volume that is gone is waited for, so long. */
const healing = { podGracePeriod: '10s', memberGracePeriod: '10s' };

/** As docs/how-to/etcdctl.md says: in a pod that an application could be. */
async function etcdctl({ namespace, outputOf }: Ground, ...args: readonly string[]): Promise<string> {
  const tls = ['--cacert=/tls/ca.crt', '--cert=/tls/tls.crt', '--key=/tls/tls.key'];
  const endpoint = `--endpoints=https://${name}.${namespace}.svc:2379`;
  const container = {
    ...{ name: 'etcdctl', image: 'quay.io/coreos/etcd:v3.6.16' },
    command: ['/usr/local/bin/etcdctl', endpoint, ...tls, ...args],
    volumeMounts: [{ name: 'tls', mountPath: '/tls' }],
  };
  const volumes = [{ name: 'tls', secret: { secretName: `${name}-client-tls` } }];
  return (await outputOf({ name: 'etcdctl', spec: { containers: [container], volumes } })).trim();
}

const podOf = (member: string) => stage().kube.get<Pod>(resources.pods, stage().namespace, `${member}-0`);
const idsOf = ({ status }: EtcdCluster) => Object.fromEntries(status?.members?.map((one) => [one.name, one.id]) ?? []);

test('ticks of the installed CronJob alone make a cluster of three', async (t) => {
  const { apply, untilCluster } = stage();
  const started = performance.now();
  await apply(name, { healing });
  await untilCluster(name, isWholeOf(3));
  t.diagnostic(`from the document to three members: ${((performance.now() - started) / 1000).toFixed(1)} s`);
  await etcdctl(stage(), 'put', 'precious', 'still here');
});

test('members run as a user of their own, and no other user reads their data', async () => {
  assert.deepEqual(await seenIn(stage(), `${name}-0`, { runAsUser: 4242, runAsGroup: 4242 }), {
    ...{ me: '4242', volume: '0:1000', member: '1000:1000', data: 'EACCES' },
  });
  assert.deepEqual(await seenIn(stage(), `${name}-0`, { runAsUser: 1000, runAsGroup: 1000 }), {
    ...{ me: '1000', volume: '0:1000', member: '1000:1000', data: 'member' },
  });
});

test('a member whose pod is deleted comes back as the same member, with what was written', async () => {
  const { kubectl, namespace, untilCluster, kube } = stage();
  const before = await untilCluster(name, isWholeOf(3));
  const uid = (await podOf(`${name}-1`))?.metadata.uid;
  await kubectl(['-n', namespace, 'delete', 'pod', `${name}-1-0`]);
  await until('another pod', async () => {
    const pod = await podOf(`${name}-1`);
    return pod !== undefined && pod.metadata.uid !== uid && pod.status?.containerStatuses?.every(({ ready }) => ready);
  });
  const after = await untilCluster(name, isWholeOf(3));
  assert.deepEqual(idsOf(after), idsOf(before));
  assert.equal(await etcdctl(stage(), 'get', 'precious', '--print-value-only'), 'still here');
  const claim = await kube.get<PersistentVolumeClaim>(resources.volumeClaims, namespace, `${name}-1`);
  assert.equal(claim?.status?.phase, 'Bound');
});

test('a member whose volume is lost is replaced by another, and a commit to five is followed', async () => {
  const { kubectl, namespace, apply, untilCluster } = stage();
  await kubectl(['-n', namespace, 'delete', 'pvc', `${name}-2`, '--wait=false']);
  await kubectl(['-n', namespace, 'delete', 'pod', `${name}-2-0`, '--grace-period=1']);
  await untilCluster(name, (found) => isWholeOf(3)(found) && !(`${name}-2` in idsOf(found)), 300);
  await apply(name, { healing, replicas: 5 });
  await untilCluster(name, isWholeOf(5), 300);
  assert.equal(await etcdctl(stage(), 'get', 'precious', '--print-value-only'), 'still here');
});

test('an upgrade by a minor restarts the members one by one, with all that was written', async () => {
  const { apply, untilCluster } = stage();
  await apply(name, { healing, replicas: 5, version: '3.7.3' });
  const isUpgraded = (found: EtcdCluster) =>
    isWholeOf(5)(found) && (found.status?.members ?? []).every(({ version }) => version === '3.7.3');
  await untilCluster(name, isUpgraded, 420);
  assert.equal(await etcdctl(stage(), 'get', 'precious', '--print-value-only'), 'still here');
});
