import assert from 'node:assert/strict';
import { test } from 'node:test';
import { clusterLeaves, type LeafPlan, memberLeaves } from '../../manifests/render/certificate-names.ts';
import type { CertificateData } from '../../reconcile/x509/secret-data.ts';
import { approvalAskedBy, approve } from './support/approvals.ts';
import { leafOf, newAuthority, putSecret } from './support/certificates.ts';
import type { Access } from './support/client.ts';
import { isConverged, isStalledFor } from './support/conditions.ts';
import { byHand, startExisting } from './support/existing.ts';
import { readKey, writeKey } from './support/keys.ts';
import { scene } from './support/scene.ts';
import { ask } from './support/wire.ts';

const stage = scene();
const [old, name] = ['vintage', 'ledger'] as const;
const labels = { app: old };

/** One certificate for all members, as a person would order it: with every member's name in it. */
function joined(plans: readonly LeafPlan[]): LeafPlan {
  const [first] = plans;
  assert.ok(first);
  return { ...first, commonName: name, dnsNames: [...new Set(plans.flatMap(({ dnsNames }) => dnsNames))] };
}

function credentialsOf(client: CertificateData): NonNullable<Access['credentials']> {
  const data = (key: string) => Buffer.from(client[key] ?? '', 'base64');
  return { rootCertificate: data('ca.crt'), certChain: data('tls.crt'), privateKey: data('tls.key') };
}

test('a cluster with TLS is taken over by members whose certificates its CA signed', async (t) => {
  const { namespace, kubectl, tickUntil, pushCluster, access } = stage();
  const authority = await newAuthority('the CA of the old cluster');
  const members = [0, 1, 2].map((n) => memberLeaves({ namespace, cluster: name }, `${name}-${n}`));
  const plans = {
    peer: joined(members.map(([peer]) => peer)),
    server: joined(members.map(([, server]) => server)),
    client: clusterLeaves(name)[0],
  };
  const host = `${old}-0.${old}.${namespace}.svc`;
  const theirs = { commonName: old, dnsNames: [host], ipAddresses: [] };
  const client = await leafOf(plans.client, authority);
  for (const [secret, data] of [
    ['old-peer', await leafOf({ ...plans.peer, ...theirs }, authority)],
    ['old-server', await leafOf({ ...plans.server, ...theirs }, authority)],
    ['my-peer', await leafOf(plans.peer, authority)],
    ['my-server', await leafOf(plans.server, authority)],
    ['my-client', client],
  ] as const) {
    await putSecret(stage(), secret, data);
  }
  const credentials = credentialsOf(client);
  const spec = { name: old, replicas: 1, labels, tls: { peer: 'old-peer', server: 'old-server' } };
  const existing = await startExisting(stage(), byHand(namespace, spec), spec, credentials);
  await writeKey(existing.access, 'balance', '42');

  const provided = { peerSecretName: 'my-peer', serverSecretName: 'my-server', clientSecretName: 'my-client' };
  const { clusterID, memberIDs, podLabels } = existing;
  await pushCluster(name, {
    tls: { mode: 'Provided', provided },
    bootstrap: { existing: { clusterID, memberIDs, podLabels } },
  });
  const asking = await tickUntil(name, isStalledFor('AdoptionNotApproved'), 120);
  assert.equal(asking.status?.clusterID, clusterID);
  await approve(stage(), name, approvalAskedBy(asking));
  const over = await tickUntil(name, isConverged, 90);
  assert.deepEqual(
    over.status?.members?.map((member) => [member.name, member.role, member.healthy]),
    [0, 1, 2].map((n) => [`${name}-${n}`, 'Voter', true]),
  );
  await kubectl(['-n', namespace, 'scale', 'statefulset', old, '--replicas=0']);

  const way = { ...(await access(name)), credentials };
  assert.equal(await readKey(way, 'balance'), '42');
  const { hostname } = new URL(way.url);
  const ca = credentials.rootCertificate.toString();
  const nameless = await ask({
    host: hostname,
    port: 2379,
    path: '/version',
    tls: { serverName: way.serverName, ca },
  });
  assert.ok('refused' in nameless, `without a client certificate: ${JSON.stringify(nameless)}`);
  t.diagnostic(
    (over.status?.history ?? []).flatMap(({ outcome, reason }) => (outcome === 'acted' ? reason : [])).join(' '),
  );
});
