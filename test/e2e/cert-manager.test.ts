import assert from 'node:assert/strict';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import type { EtcdCluster } from '../../manifests/api/etcd-cluster.ts';
import type { Pod, Secret, StatefulSet } from '../../manifests/kube-types.ts';
import { type CertManagerCertificate, certificateResource } from '../../manifests/render/cert-manager-certificate.ts';
import { resources } from '../../reconcile/interfaces/kube.ts';
import { startApiProxy } from './support/api-proxy.ts';
import { approvalAskedBy, approve } from './support/approvals.ts';
import { condition, isReady, isStalledFor } from './support/conditions.ts';
import { startFollower } from './support/follower.ts';
import { askedBy, assertShown, secretIn } from './support/issued-leaves.ts';
import { type Issuer, installCertificates, startIssuer } from './support/issuer.ts';
import { lookNow } from './support/look-now.ts';
import { scene } from './support/scene.ts';
import { clusterYaml } from './support/specs.ts';
import { tick as run } from './support/tick.ts';
import { until } from './support/until.ts';
import { fingerprintIn, textIn } from './support/wire.ts';

/** `support/issuer.ts` keeps cert-manager's half of the conversation; cert-manager-controllers.test.ts has its own. */
let started: Issuer | undefined;
// Before the scene's own hook, which takes away what it stands on.
after(async () => started?.[Symbol.asyncDispose]());
const stage = scene({
  fleet: false,
  furnish: async ({ kube, kubectl, namespace }) => {
    await installCertificates(kubectl);
    // Begun long enough ago for every clock, so that nothing has to wait for that.
    started = await startIssuer({ kube, namespace, backdated: 600e3 });
  },
});
const issuer = () => started ?? assert.fail('the issuer was not started');

const tls = {
  mode: 'CertManager',
  certManager: { issuerRef: { name: 'company', kind: 'ClusterIssuer' }, peerIssuerRef: { name: 'etcd' } },
  rotationOverlap: '5s',
};
const name = 'issued';
const peers = [`${name}-0`, `${name}-1`, `${name}-2`] as const;

async function apply(cluster: string, fields: Readonly<Record<string, unknown>> = {}): Promise<void> {
  const { kubectl, namespace } = stage();
  await kubectl(['apply', '--server-side', '-f', '-'], { stdin: clusterYaml(cluster, namespace, { tls, ...fields }) });
}

test('where cert-manager is not installed, that is said, and other clusters go on', async () => {
  const { namespace, cluster } = stage();
  await apply('without', { replicas: 1 });
  await apply('beside', { replicas: 1, tls: { mode: 'Disabled' } });
  const kubeconfig = process.env.KUBECONFIG ?? '';
  const file = join(tmpdir(), `${namespace}-cert-manager.kubeconfig`);
  await using proxy = await startApiProxy(kubeconfig, file, ({ path }) =>
    path.startsWith('/apis/cert-manager.io/') ? { kind: 'not-served' } : { kind: 'pass' },
  );
  const env = { KUBECONFIG: proxy.kubeconfig };
  let last = '';
  await until(
    'one is Ready, and the other Stalled',
    async () => {
      const { stderr } = await run({ args: ['--namespace', namespace], env });
      last = stderr.slice(-1500);
      return isReady(await cluster('beside')) && isStalledFor('CertManagerNotInstalled')(await cluster('without'));
    },
    { within: 120, last: () => last },
  );
  const stalled = await cluster('without');
  assert.match(
    condition(stalled, 'Stalled')?.message ?? '',
    /the API server does not serve Certificate .*To go on: install cert-manager/,
  );
  assert.equal(condition(stalled, 'CertificatesReady')?.reason, 'CertManagerNotInstalled');
  const lists = proxy.requests.filter((request) => request.includes('cert-manager.io'));
  assert.ok(
    lists.every((request) => /^GET [^?]*\/certificates\?/.test(request)),
    'nothing but LISTs',
  );
});

test('a held issuer is waited for in its own words; then every leaf is its', async () => {
  const { tickUntil, list, accessNow } = stage();
  issuer().hold(`${name}-1-peer-tls-issued`);
  await apply(name);
  await tickUntil(
    name,
    // Until its issuer has seen it, it is waited for in other words.
    (found) => condition(found, 'Reconciling')?.reason === 'AwaitingCertificates' && saysOf(found, inItsWords),
  );
  const started = await list<StatefulSet>(resources.statefulSets);
  assert.ok(!started.some(({ metadata }) => metadata.name.startsWith(`${name}-`)), 'nothing is started before');

  issuer().resume();
  const ready = await tickUntil(name, isReady, 120);
  assert.equal(condition(ready, 'CertificatesReady')?.reason, 'Served');
  await assertShown(stage(), name, peers);
  assert.equal(textIn(await secret(`${name}-0-peer-tls`), 'ca.crt'), await issuer().authority('etcd'));
  assert.equal(textIn(await secret(`${name}-client-tls`), 'ca.crt'), await issuer().authority('company'));
  assert.equal(textIn(await secret(`${name}-0-server-tls`), 'ca.crt'), await issuer().authority('company'));
  const writer = await startFollower(() => accessNow(name), 'first');
  await until('an application writes', async () => writer.acknowledged >= 10);
  assert.deepEqual((await writer.finish()).lost, []);
});

test('a renewed leaf is served on the wire, and no pod restarts', async () => {
  const { tickUntil, ticksUntil } = stage();
  const before = await podsOf();
  const old = fingerprintIn(await secret(`${name}-2-server-tls`));
  await issuer().renew(`${name}-2-server-tls-issued`);
  const renewed = fingerprintIn(await secret(`${name}-2-server-tls-issued`));
  assert.notEqual(renewed, old);
  await lookNow(stage(), name);
  await ticksUntil('it is handed on', async () => fingerprintIn(await secret(`${name}-2-server-tls`)) === renewed);
  await tickUntil(name, (found) => isReady(found) && condition(found, 'CertificatesReady')?.status === 'True');
  await assertShown(stage(), name, peers);
  assert.deepEqual(await podsOf(), before, 'the same pods, none restarted');
});

test('a replaced CA is followed one restart at a time, and no write is lost', async (t) => {
  const { tickUntil, accessNow } = stage();
  const writer = await startFollower(() => accessNow(name), 'rotation');
  await until('it writes', async () => writer.acknowledged >= 50);
  const before = await podsOf();
  await issuer().replaceAuthority('etcd');
  await Promise.all(peers.map((peer) => issuer().renew(`${peer}-peer-tls-issued`)));
  writer.gap();
  const ca = await issuer().authority('etcd');
  const followed = async () => {
    const secrets = await Promise.all(peers.map((peer) => secret(`${peer}-peer-tls`)));
    return secrets.every((found) => textIn(found, 'ca.crt') === ca);
  };
  let last: unknown;
  const looked = async () => {
    const { status } = await tickUntil(name, () => true);
    last = [status?.lastDecision, status?.conditions?.find(({ type }) => type === 'CertificatesReady')];
    return followed();
  };
  await until('only the new CA is trusted', looked, { within: 400, last: () => JSON.stringify(last) });
  await tickUntil(name, (found) => isReady(found) && condition(found, 'CertificatesReady')?.status === 'True', 200);
  await assertShown(stage(), name, peers);
  const now = await podsOf();
  assert.equal(now.filter((pod) => before.includes(pod)).length, 0, 'each was started anew with the CAs to trust');
  const gap = writer.gap();
  const { acknowledged, lost } = await writer.finish();
  t.diagnostic(`${acknowledged} writes acknowledged, the longest gap ${gap.milliseconds} ms`);
  assert.deepEqual(lost, [], `of ${acknowledged} acknowledged writes`);
});

test('names are asked for as approved, one restart at a time, and no write is lost', async (t) => {
  const { tickUntil, accessNow } = stage();
  const before = await podsOf();
  const nameless = await secret(`${name}-client-tls`);
  await apply(name, { tls: { ...tls, certManager: { ...tls.certManager, allowedNames: 'Own' } } });
  const isAsked = (found: EtcdCluster) => (found.status?.approvals?.length ?? 0) > 0;
  const asked = await tickUntil(name, (found) => isStalledFor('NamesNotApproved')(found) && isAsked(found), 120);
  assert.deepEqual(await podsOf(), before, 'leaves have their names, and no member restarted');
  const ca = await issuer().authority('company');
  const version = (shown: Secret) => askedBy(shown, stage(), { cluster: name, ca, path: '/version' });
  assert.partialDeepStrictEqual(await version(nameless), { status: 200 });

  const writer = await startFollower(() => accessNow(name), 'names');
  await until('it writes', async () => writer.acknowledged >= 50);
  writer.gap();
  await approve(stage(), name, approvalAskedBy(asked));
  const served = (found: EtcdCluster) =>
    /HTTP gateway is off/.test(condition(found, 'CertificatesReady')?.message ?? '');
  await tickUntil(name, (found) => isReady(found) && served(found), 200);
  const now = await podsOf();
  assert.equal(now.filter((pod) => before.includes(pod)).length, 0, 'each was started anew');
  assert.ok('refused' in (await version(nameless)));
  assert.partialDeepStrictEqual(await version(await secret(`${name}-client-tls`)), { status: 200 });
  const gap = writer.gap();
  const { acknowledged, lost } = await writer.finish();
  t.diagnostic(`${acknowledged} writes acknowledged, the longest gap ${gap.milliseconds} ms`);
  assert.deepEqual(lost, [], `of ${acknowledged} acknowledged writes`);
});

test('a foreign Secret with the name of one of ours is named and left alone', async () => {
  const { kubectl, namespace, tickUntil, get } = stage();
  const theirs = {
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: { name: 'taken-0-peer-tls-issued', namespace },
    stringData: { password: 'theirs' },
  };
  await kubectl(['apply', '--server-side', '-f', '-'], { stdin: JSON.stringify(theirs) });
  await apply('taken', { replicas: 1 });
  const stalled = await tickUntil('taken', isStalledFor('NameTaken'));
  assert.match(condition(stalled, 'Stalled')?.message ?? '', /Secret taken-0-peer-tls-issued/);
  assert.equal(textIn(await secret('taken-0-peer-tls-issued'), 'password'), 'theirs');
  assert.equal(await get<CertManagerCertificate>(certificateResource, 'taken-0-peer-tls-issued'), undefined);
  await kubectl(['delete', 'secret', '-n', namespace, 'taken-0-peer-tls-issued']);
  await tickUntil('taken', isReady, 120);
});

test('a deleted cluster takes its Certificates and their Secrets along', async () => {
  const { kubectl, namespace, ticksUntil, list } = stage();
  await kubectl(['delete', 'etcdcluster', '-n', namespace, 'taken', '--wait=false']);
  await ticksUntil('all of it has gone', async () => {
    const left = [...(await list(resources.secrets)), ...(await list(certificateResource))];
    return !left.some(({ metadata }) => metadata.name.startsWith('taken-'));
  });
});

const inItsWords =
  /issued-1-peer-tls-issued of Issuer etcd yet: DoesNotExist: Issuing certificate as Secret does not exist/;

function saysOf(found: EtcdCluster, what: RegExp): boolean {
  return what.test(condition(found, 'Ready')?.message ?? '');
}

function secret(of: string): Promise<Secret> {
  return secretIn(stage(), of);
}

/** Which pods there are, and how often their containers were started. */
async function podsOf(): Promise<readonly string[]> {
  const pods = await stage().list<Pod>(resources.pods);
  return pods
    .filter(({ metadata }) => peers.some((peer) => metadata.name === `${peer}-0`))
    .map(({ metadata, status }) => `${metadata.name} ${metadata.uid} ${status?.containerStatuses?.[0]?.restartCount}`);
}
