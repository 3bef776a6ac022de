import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { EtcdCluster } from '../../manifests/api/etcd-cluster.ts';
import type { PersistentVolumeClaim, Pod } from '../../manifests/kube-types.ts';
import { resources } from '../../reconcile/interfaces/kube.ts';
import { isWholeOf } from '../e2e/support/conditions.ts';
import { until } from '../e2e/support/until.ts';
import { type Ground, ground } from './support/ground.ts';
import { installation, ownImage } from './support/installation.ts';

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

/** What a stranger's pod beside a member finds on its volume: who owns what, and whether it may read it. */
async function seenBy(user: number, claim: string): Promise<Readonly<Record<string, string>>> {
  const program = `
    const { readdirSync, statSync } = require('node:fs');
    const owner = (path) => { const { uid, gid } = statSync(path); return uid + ':' + gid; };
    let data; try { data = readdirSync('/volume/data').join() } catch ({ code }) { data = code }
    console.log(JSON.stringify({ me: String(process.getuid()), volume: owner('/volume'), member: owner('/volume/data'), data }));`;
  const container = {
    ...{ name: 'look', image: await ownImage() },
    command: ['node', '-e', program],
    volumeMounts: [{ name: 'volume', mountPath: '/volume', readOnly: true }],
  };
  const spec = {
    containers: [container],
    securityContext: { runAsUser: user, runAsGroup: user },
    volumes: [{ name: 'volume', persistentVolumeClaim: { claimName: claim, readOnly: true } }],
  };
  return JSON.parse(await stage().outputOf({ name: `look-${user}`, spec }));
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
  assert.deepEqual(await seenBy(4242, `${name}-0`), {
    ...{ me: '4242', volume: '0:1000', member: '1000:1000', data: 'EACCES' },
  });
  assert.deepEqual(await seenBy(1000, `${name}-0`), {
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
