/** The agent against etcd that speaks TLS, asks for certificates, and knows users. */

import assert from 'node:assert/strict';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { Etcd3 } from 'etcd3';
import { egressFrom } from '../../../functions/environment.ts';
import { clusterLeaves } from '../../../manifests/render/certificate-names.ts';
import { etcdVersions, provisionBinaries } from '../../support/cluster/binaries.ts';
import { authority, clientLeaf, leaf, startTlsMembers } from '../clients/etcd-tls-members.ts';
import { agent, temporary } from './members.ts';

const { etcd: etcds, etcdutl: etcdutls } = await provisionBinaries();

for (const version of etcdVersions) {
  test(`etcd ${version}: with TLS and authentication, a backup is taken by certificate and proven`, async () => {
    const clients = await authority('clients');
    await using cluster = await startTlsMembers(etcds[version], 1, clients);
    await using place = await temporary();
    const [{ url, host }] = cluster.members;
    const own = await clientLeaf(clients);
    const directory = join(place.path, 'tls');
    await mkdir(directory);
    await writeFile(join(directory, 'ca.crt'), clients.certificate);
    await writeFile(join(directory, 'tls.crt'), own.certificate);
    await writeFile(join(directory, 'tls.key'), own.key);

    const pem = (text: string) => Buffer.from(text);
    const etcd = new Etcd3({
      hosts: url,
      credentials: {
        rootCertificate: pem(clients.certificate),
        privateKey: pem(own.key),
        certChain: pem(own.certificate),
      },
      grpcOptions: { 'grpc.ssl_target_name_override': host },
    });
    await etcd.put('a').value('1');
    await etcd.user('root').create('secret');
    await etcd.user('root').addRole('root');
    await etcd.user('orders-client').create('secret');
    await etcd.auth.authEnable();
    etcd.close();

    const request = {
      operation: 'backup',
      id: 'a',
      object: 'pvc://backups/a.db',
      store: { directory: place.path },
      source: { endpoints: [url], tls: { directory, serverNames: { [url]: host } } },
      verify: { directory: join(place.path, 'scratch'), etcd: etcds[version], etcdutl: etcdutls[version] },
    };
    const taken = await agent(request);
    assert.equal(taken.message, undefined);
    assert.deepEqual([taken.ok, taken.proof?.hashKV], [true, taken.record?.hashKV]);
    assert.notEqual(taken.record?.hashKV, null);

    const unnamed = {
      ...request,
      id: 'b',
      object: 'pvc://backups/b.db',
      source: { endpoints: [url], tls: { directory } },
    };
    const refused = await agent(unnamed);
    assert.deepEqual([refused.ok, refused.reason], [false, 'Unreachable']);
    assert.doesNotMatch(JSON.stringify(refused), /PRIVATE KEY/);

    for (const plan of clusterLeaves('orders')) {
      const shown = await leaf(clients, plan);
      await writeFile(join(directory, 'tls.crt'), shown.certificate);
      await writeFile(join(directory, 'tls.key'), shown.key);
      const { purpose } = plan;
      const by = await agent({ ...request, id: purpose, object: `pvc://backups/${purpose}.db` });
      // Applications are ordinary users, and etcd gives a snapshot to root only.
      assert.equal(by.ok, purpose !== 'application', `${purpose}: ${by.message}`);
      if (!by.ok) assert.match(by.message ?? '', /permission denied$/);
    }

    const outside = { ...request, id: 'c', object: 'pvc://backups/c.db', source: { ...request.source, outside: true } };
    assert.equal((await agent(outside)).reason, 'HostRefused');
    const listed = egressFrom({ RATCHET_LOCAL_HOSTS: new URL(url).hostname });
    const asked = await agent(outside, AbortSignal.timeout(60_000), listed);
    assert.deepEqual([asked.ok, asked.proof?.hashKV], [true, asked.record?.hashKV], asked.message);
  });
}
