import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import type { EtcdCluster } from '../../manifests/api/etcd-cluster.ts';
import type { PersistentVolumeClaim } from '../../manifests/kube-types.ts';
import { clusterLeaves, memberLeaves } from '../../manifests/render/certificate-names.ts';
import { resources } from '../../reconcile/interfaces/kube.ts';
import type { CertificateData } from '../../reconcile/x509/secret-data.ts';
import { kubectlRatchet } from '../integration/manifests/kubectl-ratchet.ts';
import { typedIn } from '../support/docs/typed-by.ts';
import { approvalAskedBy, approve } from './support/approvals.ts';
import { leafOf, newAuthority, putSecret } from './support/certificates.ts';
import type { Access } from './support/client.ts';
import { isConverged, isStalledFor } from './support/conditions.ts';
import { byHand, type Existing, startExisting } from './support/existing.ts';
import { assertForetold, type Foretold } from './support/foretold.ts';
import { longestGapAllowed } from './support/gaps.ts';
import { readKey, writeKey } from './support/keys.ts';
import { writerAt } from './support/knowing-writer.ts';
import { asOf, line, type } from './support/runbooks/typing.ts';
import { scene } from './support/scene.ts';
import { clusterYaml } from './support/specs.ts';
import { until } from './support/until.ts';
import { ask } from './support/wire.ts';

const stage = scene({ clearedBetween: true });
const blocksAt = typedIn('e2e/adopt');

function wanting({ clusterID, memberIDs, podLabels }: Existing): Readonly<Record<string, unknown>> {
  return { tls: { mode: 'Disabled' }, bootstrap: { existing: { clusterID, memberIDs, podLabels } } };
}

test('a StatefulSet by hand of 3 is taken over under a writer: nothing acknowledged is lost', async (t) => {
  const { namespace, kube, kubectl, tickUntil, list } = stage();
  const known = { 'app.kubernetes.io/instance': 'old', 'app.kubernetes.io/name': 'kamaji-etcd' };
  const spec = { name: 'old', replicas: 3, labels: { app: 'old', ...known } };
  const existing = await startExisting(stage(), byHand(namespace, spec), spec);
  const writer = await writerAt(
    kube,
    { namespace, name: 'orders', alsoLabelled: 'app=old' },
    existing.access,
    'moving',
  );
  await until('fifty writes', async () => writer.acknowledged >= 50);

  const ofPage = (...anchors: readonly string[]) => {
    const blocks = anchors.flatMap((anchor) => blocksAt(`docs/how-to/adopt.md#${anchor}`));
    return asOf({ payments: namespace, legacy: 'old', 'approve orders': 'approve orders --yes' }, blocks);
  };
  const document = clusterYaml('orders', namespace, wanting(existing));
  const saved = line(`cat > orders.yaml <<'END'\n${document}END`);
  await type(stage(), 'orders', {}, [saved, ...ofPage('1-look:1', '1-look:3')]);
  const planned = await plannedBy(namespace, document, { ...existing, podLabels: known });
  const untouched = await list<EtcdCluster>(resources.clusters);
  assert.deepEqual(untouched, [], 'a plan changes nothing');

  await stage().pushCluster('orders', wanting(existing));
  const startedAt = performance.now();
  const joined = await tickUntil('orders', isStalledFor('AdoptionNotApproved'), 240);
  assert.equal(joined.status?.clusterID, existing.clusterID);
  assert.deepEqual(votersOf(joined), ['orders-0', 'orders-1', 'orders-2']);
  t.diagnostic(`3 beside 3: ${seconds(startedAt)} s, longest gap ${writer.longestGap().toFixed(0)} ms`);

  const approvedAt = performance.now();
  await type(stage(), 'orders', {}, ofPage('3-move-the-clients-stop-what-manages-the-old-members-approve'));
  const over = await tickUntil('orders', isConverged, 120);
  assert.equal(over.status?.clusterID, existing.clusterID);
  assert.deepEqual(votersOf(over), ['orders-0', 'orders-1', 'orders-2']);
  t.diagnostic(`the others leave: ${seconds(approvedAt)} s, longest gap ${writer.longestGap().toFixed(0)} ms`);

  t.diagnostic(assertForetold(planned.foretold, over));
  assert.equal(
    planned.foretold.steps.findIndex(({ action }) => action === 'remove-inherited') + 1,
    planned.approvalBefore,
  );

  // What others made is theirs.
  const claims = (await list<PersistentVolumeClaim>(resources.volumeClaims)).map(({ metadata }) => metadata.name);
  assert.deepEqual(claims.filter((name) => name.startsWith('data-old-')).toSorted(), [
    'data-old-0',
    'data-old-1',
    'data-old-2',
  ]);
  await kubectl(['-n', namespace, 'scale', 'statefulset', 'old', '--replicas=0']);
  const { acknowledged, lost, longestGap } = await writer.finish();
  assert.equal(lost, 0, `of ${acknowledged} acknowledged writes`);
  t.diagnostic(`${acknowledged} writes, none lost; longest gap of all ${longestGap.toFixed(0)} ms`);
  assert.ok(longestGap < longestGapAllowed, `a gap of ${longestGap.toFixed(0)} ms`);
});

/** As `kubectl ratchet adopt --plan` has it, which also tells what manages the pods. */
async function plannedBy(namespace: string, document: string, found: Existing) {
  await using plugin = await kubectlRatchet(process.env.KUBECONFIG ?? assert.fail('KUBECONFIG is not set'));
  const file = join(plugin.directory, 'orders.yaml');
  await writeFile(file, document);
  const adopt = (...args: readonly string[]) =>
    plugin.ratchet('-n', namespace, 'adopt', 'orders', '--plan', ...args, '-o', 'json');
  const unnamed = await adopt();
  assert.equal(unnamed.code, 0, unnamed.stderr);
  const { clusterID, memberIDs, podLabels } = JSON.parse(unnamed.stdout).existing;
  assert.deepEqual(podLabels, found.podLabels, 'without --pods it is found by labels that are known');
  assert.deepEqual([clusterID, memberIDs], [found.clusterID, found.memberIDs.toSorted()]);
  const { code, stdout, stderr } = await adopt('-f', file);
  assert.equal(code, 0, stderr);
  const { planned, pods, differs, approvalBefore } = JSON.parse(stdout);
  assert.equal(planned.end.kind, 'done', stdout);
  assert.deepEqual(differs, [], 'the document says what the members say');
  assert.deepEqual(
    pods.map(({ name, managedBy, version }: Readonly<Record<string, unknown>>) => ({ name, managedBy, version })),
    [0, 1, 2].map((n) => ({ name: `old-${n}`, managedBy: ['StatefulSet old'], version: '3.6.16' })),
  );
  return { foretold: planned as Foretold, approvalBefore };
}

test('a cluster with TLS is taken over by members whose certificates its CA signed', async (t) => {
  const { namespace, kubectl, tickUntil, pushCluster, access } = stage();
  const [old, name] = ['vintage', 'ledger'] as const;
  const authority = await newAuthority('the CA of the old cluster');
  const [peer, server] = memberLeaves({ namespace, cluster: name }, `${name}-0`);
  const plans = { peer, server, client: clusterLeaves(name)[0] };
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
  const spec = { name: old, replicas: 1, labels: { app: old }, tls: { peer: 'old-peer', server: 'old-server' } };
  const existing = await startExisting(stage(), byHand(namespace, spec), spec, credentials);
  await writeKey(existing.access, 'balance', '42');

  const provided = { peerSecretName: 'my-peer', serverSecretName: 'my-server', clientSecretName: 'my-client' };
  const { clusterID, memberIDs, podLabels } = existing;
  await pushCluster(name, {
    replicas: 1,
    tls: { mode: 'Provided', provided },
    bootstrap: { existing: { clusterID, memberIDs, podLabels } },
  });
  const asking = await tickUntil(name, isStalledFor('AdoptionNotApproved'), 120);
  assert.equal(asking.status?.clusterID, clusterID);
  await approve(stage(), name, approvalAskedBy(asking));
  const over = await tickUntil(name, isConverged, 90);
  assert.deepEqual(votersOf(over), [`${name}-0`]);
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

function credentialsOf(client: CertificateData): NonNullable<Access['credentials']> {
  const data = (key: string) => Buffer.from(client[key] ?? '', 'base64');
  return { rootCertificate: data('ca.crt'), certChain: data('tls.crt'), privateKey: data('tls.key') };
}

function votersOf({ status }: EtcdCluster): readonly string[] | undefined {
  return status?.members?.filter(({ role, healthy }) => role === 'Voter' && healthy).map(({ name }) => name);
}

function seconds(since: number): string {
  return ((performance.now() - since) / 1000).toFixed(1);
}
