/** etcd's users and roles from Git: real etcd of each minor is what lets in, and refuses. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Etcd3, Range } from 'etcd3';
import type { EtcdCluster } from '../../manifests/api/etcd-cluster.ts';
import type { Secret } from '../../manifests/kube-types.ts';
import { authoritySecretName, reconcilerSecretName, userSecretName } from '../../manifests/render/certificate-names.ts';
import { resources } from '../../reconcile/interfaces/kube.ts';
import { authorityOf } from '../../reconcile/x509/secret-data.ts';
import { etcdVersions } from '../support/cluster/binaries.ts';
import { leafOf } from './support/certificates.ts';
import { connectTo, credentialsIn } from './support/client.ts';
import { condition, isConverged, isWhole } from './support/conditions.ts';
import { live, runsOn } from './support/life.ts';
import { lookNow } from './support/look-now.ts';
import { scene } from './support/scene.ts';
import { startWriter } from './support/writer.ts';

const stage = scene();

const own = { name: 'own', rights: [{ prefix: 'own/', access: 'ReadWrite' }] };
const looks = { name: 'looks', rights: [{ prefix: 'own/', access: 'Read' }] };

for (const version of etcdVersions) {
  const name = `known-${version.split('.')[1]}`;
  const application = { name: `${name}-client`, roles: ['own'] };
  const reader = { name: 'reader', roles: ['looks'] };
  const asked = (auth: object) => stage().pushCluster(name, { version, replicas: 1, auth });

  test(`etcd ${version}: users get what Git gives them and no more, under a writer of one`, async (t) => {
    const { access, pushCluster, tickUntil } = stage();
    await pushCluster(name, { version, replicas: 1 });
    await tickUntil(name, isConverged, 120);
    const writer = startWriter(await access(name), 'own');
    await asked({ mode: 'Enabled', users: [application, reader], roles: [own, looks] });
    const ready = await tickUntil(name, isKnown, 60);
    t.diagnostic(condition(ready, 'AuthReady')?.message ?? '');
    assert.equal(ready.status?.auth?.enabled, true);

    using applications = await clientOf(application.name, `${name}-client-tls`);
    using reads = await clientOf('reader', userSecretName(name, 'reader'));
    await applications.etcd.put('own/a').value('1');
    assert.equal(await reads.etcd.get('own/a').string(), '1');
    await assert.rejects(reads.etcd.put('own/a').value('2').exec(), denied);
    for (const one of [applications.etcd, reads.etcd]) {
      await assert.rejects(one.get('owner').string(), denied);
      await assert.rejects(one.getAll().strings(), denied);
      await assert.rejects(one.auth.userAdd({ name: 'mallory', options: { no_password: true } }), denied);
      await assert.rejects(one.auth.authDisable(), denied);
    }
    using stranger = await signedAs('stranger');
    await assert.rejects(stranger.etcd.get('own/a').string(), denied);
    await stage().kubectl(['get', 'etcdclusters.etcd.ratchet.dev', '-n', stage().namespace, name]);
    const { lost, longestGap } = await writer.finish();
    assert.deepEqual(lost, []);
    t.diagnostic(`longest gap of a writer ${longestGap} ms`);
  });

  test(`etcd ${version}: a user that goes loses its rights, and one that others made is named`, async () => {
    const { tickUntil } = stage();
    using root = await clientOf('root', reconcilerSecretName(name));
    await root.etcd.auth.userAdd({ name: 'mallory', options: { no_password: true } });
    await root.etcd.auth.userGrantRole({ user: 'mallory', role: 'root' });
    using reads = await clientOf('reader', userSecretName(name, 'reader'));
    using applications = await clientOf(application.name, `${name}-client-tls`);
    await asked({
      mode: 'Enabled',
      users: [application],
      roles: [{ ...own, rights: [{ prefix: 'own/', access: 'Read' }] }],
    });
    const named = await tickUntil(name, (cluster) => reasonOf(cluster) === 'UnlistedUsers' && isConverged(cluster));
    assert.match(condition(named, 'AuthReady')?.message ?? '', /user mallory/);
    await assert.rejects(reads.etcd.get('own/a').string(), denied);
    assert.equal(await applications.etcd.get('own/a').string(), '1');
    await assert.rejects(applications.etcd.put('own/a').value('2').exec(), denied);
    assert.deepEqual(
      (await root.etcd.auth.userList()).users.toSorted(),
      [application.name, 'mallory', 'root'].toSorted(),
    );
    assert.deepEqual((await root.etcd.auth.roleList()).roles.toSorted(), ['own', 'root']);
    await root.etcd.auth.userDelete({ name: 'mallory' });
    await lookNow(stage(), name);
    await tickUntil(name, isKnown);
  });

  test(`etcd ${version}: what other hands change is put back, and Git turns it off and on again`, async () => {
    const { tickUntil } = stage();
    using root = await clientOf('root', reconcilerSecretName(name));
    await root.etcd.role('own').grant({ permission: 'Readwrite', range: Range.prefix('other/') });
    await root.etcd.auth.authDisable();
    await asked({ mode: 'Enabled', users: [application], roles: [own] });
    await tickUntil(name, isKnown);
    using applications = await clientOf(application.name, `${name}-client-tls`);
    await applications.etcd.put('own/a').value('3');
    await assert.rejects(applications.etcd.put('other/a').value('3').exec(), denied);

    await asked({ mode: 'Disabled', users: [application], roles: [own] });
    const off = await tickUntil(name, (cluster) => reasonOf(cluster) === 'AuthDisabled' && isConverged(cluster));
    assert.equal(off.status?.auth?.enabled, false);
    await applications.etcd.put('other/a').value('4');
    await asked({ mode: 'Enabled', users: [application], roles: [own] });
    await tickUntil(name, isKnown);
    await assert.rejects(applications.etcd.get('other/a').string(), denied);
    assert.equal(await applications.etcd.get('own/a').string(), '3');
  });

  async function clientOf(user: string, secretName: string): Promise<Client> {
    const secret = await stage().get<Secret>(resources.secrets, secretName);
    return connected(credentialsIn(secret ?? assert.fail(`${user}: no ${secretName}`)));
  }

  /** Of the cluster's own CA, of a user that etcd does not know. */
  async function signedAs(commonName: string): Promise<Client> {
    const ca = await stage().get<Secret>(resources.secrets, authoritySecretName(name, 'client'));
    const plan = { purpose: 'application', authority: 'client', secretName: 'none', usages: ['clientAuth'] } as const;
    const leaf = await leafOf({ ...plan, commonName, dnsNames: [], ipAddresses: [] }, authorityOf(ca?.data ?? {}));
    const text = (key: 'tls.crt' | 'tls.key') => Buffer.from(leaf[key] ?? '', 'base64');
    const rootCertificate = Buffer.from(ca?.data?.['ca.crt'] ?? '', 'base64');
    return connected({ rootCertificate, certChain: text('tls.crt'), privateKey: text('tls.key') });
  }

  async function connected(credentials: NonNullable<Parameters<typeof connectTo>[0]['credentials']>): Promise<Client> {
    const etcd = connectTo({ ...(await stage().access(name)), credentials }, 10_000);
    return { etcd, [Symbol.dispose]: () => etcd.close() };
  }
}

test('with authentication on, members are upgraded, replaced and get new CAs under a writer', async (t) => {
  const name = 'kept';
  const writes = { name: 'writes', rights: [{ prefix: 'throughout', access: 'ReadWrite' }] };
  const auth = { mode: 'Enabled', users: [{ name: 'kept-client', roles: ['writes'] }], roles: [writes] };
  const later = { ...auth, users: [...auth.users, { name: 'later', roles: ['writes'] }] };
  const isRotated = ({ status }: EtcdCluster) =>
    (status?.history ?? []).some(({ reason }) => reason === 'RotatingAuthorities');
  await live(stage(), t, {
    name,
    born: {
      version: '3.5.35',
      tls: { rotationOverlap: '1s' },
      healing: { podGracePeriod: '5s', memberGracePeriod: '25s' },
      auth,
    },
    chapters: [
      { what: 'to 3.6', spec: { version: '3.6.16' }, until: runsOn('3.6.16'), gap: 'bounded' },
      {
        what: 'a member without its disk',
        happens: async () => {
          const { kubectl, namespace } = stage();
          await kubectl(['-n', namespace, 'delete', 'pvc', 'kept-1', '--wait=false']);
          await kubectl(['-n', namespace, 'delete', 'pod', 'kept-1-0', '--wait=false']);
        },
        until: (found) => isWhole(found) && found.status?.members?.every((one) => one.name !== 'kept-1') === true,
      },
      {
        what: 'new CAs',
        happens: async () => {
          const { kubectl, namespace } = stage();
          const asked = 'etcd.ratchet.dev/rotate-certificates=first';
          await kubectl(['-n', namespace, 'annotate', 'etcdcluster', name, asked]);
        },
        until: (found) => isRotated(found) && isConverged(found),
      },
      { what: 'one user more', spec: { auth: later }, until: isKnown, gap: 'bounded' },
    ],
  });
});

interface Client extends Disposable {
  readonly etcd: Etcd3;
}

const denied = /permission denied/;

function reasonOf(cluster: EtcdCluster): string | undefined {
  return condition(cluster, 'AuthReady')?.reason;
}

/** etcd asks clients for their user, and nothing is left to do. */
function isKnown(cluster: EtcdCluster): boolean {
  return isConverged(cluster) && condition(cluster, 'AuthReady')?.status === 'True';
}
