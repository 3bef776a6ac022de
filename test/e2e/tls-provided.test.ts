import assert from 'node:assert/strict';
import { after, describe, test } from 'node:test';
import type { EtcdCluster } from '../../manifests/api/etcd-cluster.ts';
import type { Pod, Secret, StatefulSet } from '../../manifests/kube-types.ts';
import { clusterLeaves, type LeafPlan, memberLeaves } from '../../manifests/render/certificate-names.ts';
import { resources } from '../../reconcile/interfaces/kube.ts';
import type { Authority } from '../../reconcile/x509/issue.ts';
import type { CertificateData } from '../../reconcile/x509/secret-data.ts';
import { typedIn } from '../support/docs/typed-by.ts';
import { asNotes, day, intermediateOf, leafOf, newAuthority, putSecret, span } from './support/certificates.ts';
import type { Access } from './support/client.ts';
import { condition, isConverged, isReady, isStalledFor } from './support/conditions.ts';
import { startFollower } from './support/follower.ts';
import { type Issuer, installCertificates, startIssuer } from './support/issuer.ts';
import { whileTicking } from './support/runbooks/tell.ts';
import { type } from './support/runbooks/typing.ts';
import { scene } from './support/scene.ts';
import { clusterYaml } from './support/specs.ts';
import { until } from './support/until.ts';
import { ask, fingerprintIn, shownAt, textIn } from './support/wire.ts';

const page = 'docs/how-to/tls.md';
const typed = typedIn('e2e/tls-provided');

/** Stands in for cert-manager's controller: its own are tried by cert-manager-controllers.test.ts. */
let started: Issuer | undefined;
after(async () => started?.[Symbol.asyncDispose]());
const stage = scene({
  fleet: false,
  clearedBetween: true,
  furnish: async ({ kube, kubectl, namespace }) => {
    await installCertificates(kubectl);
    started = await startIssuer({ kube, namespace, backdated: 600e3 });
  },
});

type Use = 'peer' | 'server' | 'client';
const uses = ['peer', 'server', 'client'] as const;
type Given = Readonly<Record<Use, CertificateData>>;

/** One Secret for all members, as a person would order it: every member's name in one certificate. */
function plansFor(name: string, replicas: number): Readonly<Record<Use, LeafPlan>> {
  const members = Array.from({ length: replicas }, (_, n) =>
    memberLeaves({ namespace: stage().namespace, cluster: name }, `${name}-${n}`),
  );
  const joined = (which: 0 | 1): LeafPlan => {
    const [first] = members;
    assert.ok(first);
    const dnsNames = [...new Set(members.flatMap((pair) => pair[which].dnsNames))];
    return { ...first[which], commonName: name, dnsNames };
  };
  return { peer: joined(0), server: joined(1), client: clusterLeaves(name)[0] };
}

function secretName(name: string, use: Use): string {
  return `${name}-my-${use}`;
}

async function apply(name: string, replicas: number): Promise<void> {
  const { kubectl, namespace } = stage();
  const tls = {
    mode: 'Provided',
    provided: {
      peerSecretName: secretName(name, 'peer'),
      serverSecretName: secretName(name, 'server'),
      clientSecretName: secretName(name, 'client'),
    },
    rotationOverlap: '1s',
  };
  await kubectl(['apply', '--server-side', '-f', '-'], { stdin: clusterYaml(name, namespace, { replicas, tls }) });
}

async function give(name: string, given: Partial<Given>): Promise<void> {
  for (const use of uses) {
    const data = given[use];
    if (data) await putSecret(stage(), secretName(name, use), data);
  }
}

async function goodOnes(plans: Readonly<Record<Use, LeafPlan>>, authority: Authority): Promise<Given> {
  const [peer, server, client] = await Promise.all(uses.map((use) => leafOf(plans[use], authority)));
  assert.ok(peer && server && client);
  return { peer, server, client };
}

/** Odd but good: CRLF with notes, a chain with an intermediate, a server wildcard. */
async function oddOnes(plans: Readonly<Record<Use, LeafPlan>>, root: Authority): Promise<Given> {
  const issuing = await intermediateOf(root, 'platform issuing CA');
  const trust = [root.certificate];
  const dnsNames = [wildcardOf(plans.server), `given.${stage().namespace}.svc`];
  const noted = (data: CertificateData): CertificateData => ({
    'tls.crt': asNotes(data['tls.crt']),
    'tls.key': asNotes(data['tls.key']),
    'ca.crt': asNotes(data['ca.crt']),
  });
  return {
    peer: noted(await leafOf(plans.peer, issuing, { trust })),
    server: await leafOf({ ...plans.server, dnsNames }, issuing, { trust }),
    client: await leafOf(plans.client, issuing, { trust }),
  };
}

async function secretsOf(name: string): Promise<readonly Secret[]> {
  const all = await stage().list<Secret>(resources.secrets);
  return all.filter(({ metadata }) => metadata.name.startsWith(`${name}-`));
}

/** What an application of that person's uses: nothing is made for it in this mode. */
async function accessWith(name: string, { client }: Given): Promise<Access> {
  const data = (key: string) => Buffer.from(client[key] ?? '', 'base64');
  const credentials = { rootCertificate: data('ca.crt'), certChain: data('tls.crt'), privateKey: data('tls.key') };
  const { url, serverName } = await stage().access(name);
  return { url, serverName, credentials };
}

function wildcardOf({ dnsNames: [host = ''] }: LeafPlan): string {
  return `*${host.slice(host.indexOf('.'))}`;
}

test('provided Secrets are never written; replaced ones are served, bad ones reach no member', async (t) => {
  const { tickUntil, tick, list } = stage();
  const name = 'given';
  const plans = plansFor(name, 3);
  const root = await newAuthority('platform root');
  await apply(name, 3);
  const bare = await tickUntil(name, isStalledFor('CertificateSecretMissing'));
  assert.equal(condition(bare, 'CertificatesReady')?.reason, 'SecretMissing');
  const first = await oddOnes(plans, root);
  await give(name, { ...first, peer: await leafOf({ ...plans.peer, dnsNames: [wildcardOf(plans.peer)] }, root) });
  const wrong = await tickUntil(name, isStalledFor('CertificateWildcardPeerName'));
  assert.match(condition(wrong, 'Stalled')?.message ?? '', /Secret given-my-peer .*To go on: ./s);
  assert.doesNotMatch(condition(wrong, 'Stalled')?.message ?? '', /PRIVATE KEY|LS0tLS/);
  assert.equal(condition(wrong, 'CertificatesReady')?.reason, 'WildcardPeerName');
  assert.deepEqual(await list<StatefulSet>(resources.statefulSets), [], 'nothing was started');
  await give(name, first);
  const ready = await tickUntil(name, isReady);
  assert.equal(condition(ready, 'CertificatesReady')?.status, 'True');
  const theirs = (await secretsOf(name)).filter(({ metadata }) => metadata.name.startsWith(`${name}-my-`));
  assert.equal(theirs.length, 3);
  for (const { metadata, data } of theirs) {
    const use = uses.find((each) => secretName(name, each) === metadata.name);
    assert.deepEqual(
      [data, metadata.labels, metadata.annotations, metadata.ownerReferences],
      [use && first[use], undefined, undefined, undefined],
    );
  }

  let held = first;
  const writer = await startFollower(() => accessWith(name, held), 'throughout');
  await until('writes', async () => writer.acknowledged >= 100);
  writer.gap();

  // Nobody has renewed them in time.
  const ending = await leafOf(plans.server, root, { validity: span(-85 * day, 5 * day) });
  await give(name, { server: ending });
  const stalled = await stalledOnceLookedAt(name, 'CertificateExpiresSoon');
  const words = condition(stalled, 'Stalled')?.message ?? '';
  assert.match(words, /tls\.crt of Secret given-my-server ends at .*To go on: issue it again before that/);
  assert.equal(condition(stalled, 'Available')?.status, 'True');

  held = await goodOnes(plans, root);
  await give(name, held);
  await tickUntil(name, isReady);
  const pods = (await list<Pod>(resources.pods)).filter(({ metadata }) => metadata.name.startsWith(`${name}-`));
  assert.equal(pods.length, 3);
  for (const { metadata, status } of pods) {
    assert.equal(status?.containerStatuses?.[0]?.restartCount, 0);
    for (const [use, port] of [
      ['peer', 2380],
      ['server', 2379],
    ] as const) {
      const secret = (await secretsOf(name)).find((found) => found.metadata.name === secretName(name, use));
      assert.ok(secret);
      const host = `${metadata.name}.${name}-peers.${stage().namespace}.svc`;
      assert.equal(
        await shownAt(status?.podIP ?? '', port, host, secret),
        fingerprintIn(secret),
        `${metadata.name}:${port}`,
      );
    }
  }
  await until('the application took its own up', async () => writer.renewals > 0);

  // A mistake on a cluster that runs: no member sees it.
  const shown = fingerprintIn((await secretsOf(name)).find(({ metadata }) => metadata.name === `${name}-0-server-tls`));
  await give(name, {
    server: await leafOf(plans.server, await newAuthority('another'), { trust: [root.certificate] }),
  });
  const refused = await stalledOnceLookedAt(name, 'CertificateChainBroken', '91s');
  assert.equal(condition(refused, 'Available')?.status, 'True');
  assert.equal(condition(refused, 'CertificatesReady')?.reason, 'ChainBroken');
  const kept = (await secretsOf(name)).find(({ metadata }) => metadata.name === `${name}-0-server-tls`);
  assert.equal(fingerprintIn(kept), shown);

  // Another CA, everything at once: members could not follow that; what they mount is led there in steps.
  held = await goodOnes(plans, await newAuthority('next root'));
  await give(name, held);
  const led = await tickUntil(name, isReady, 180);
  assert.ok(led.status?.history?.some(({ reason }) => reason === 'TrustingAuthorities'));
  for (const use of ['peer', 'server'] as const) {
    const [member] = (await secretsOf(name)).filter(({ metadata }) => metadata.name === `${name}-0-${use}-tls`);
    assert.equal(textIn(member, 'ca.crt'), Buffer.from(held[use]['ca.crt'], 'base64').toString(), 'the new CA only');
  }
  const { milliseconds } = writer.gap();
  await tick();
  const { acknowledged, lost } = await writer.finish();
  t.diagnostic(`longest gap ${milliseconds} ms, ${acknowledged} writes, ${lost.length} lost`);
  assert.deepEqual(lost, []);
});

/** Everything is looked at when something gives an occasion: here, another field of the spec. */
async function stalledOnceLookedAt(name: string, reason: string, grace = '90s'): Promise<EtcdCluster> {
  const { kubectl, namespace, tickUntil } = stage();
  const patch = JSON.stringify({ spec: { healing: { podGracePeriod: grace } } });
  await kubectl(['-n', namespace, 'patch', 'etcdcluster', name, '--type=merge', '-p', patch]);
  return tickUntil(name, isStalledFor(reason));
}

describe('TLS three ways, by the page alone', () => {
  for (const [anchor, name, secret] of [
    ['managed', 'kept', 'kept-client-tls'],
    ['by-cert-manager', 'issued', 'issued-client-tls'],
    ['provided-by-you', 'brought', 'brought-client'],
  ] as const)
    test(`${anchor}: the cluster is whole, its certificates are good, and clients have theirs`, async () => {
      const blocks = [page, `${page}#${anchor}`].flatMap(typed);
      await whileTicking(stage(), () => type(stage(), name, {}, blocks));
      const cluster = await stage().tickUntil(name, isConverged);
      assert.equal(condition(cluster, 'CertificatesReady')?.status, 'True');
      const mounted = await stage().get<Secret>(resources.secrets, secret);
      assert.ok(mounted?.data?.['tls.crt'] && mounted.data['ca.crt'], secret);
    });

  test('a revoked client is refused, and the new certificate in its Secret is let in', async () => {
    const name = 'leaked';
    const typing = (...places: readonly string[]) =>
      whileTicking(stage(), () => type(stage(), name, {}, places.flatMap(typed)));
    const mounted = () => stage().get<Secret>(resources.secrets, `${name}-client-tls`);
    const askedWith = async (secret: Secret | undefined) => {
      const pod = await stage().get<Pod>(resources.pods, `${name}-0-0`);
      const tls = {
        serverName: `${name}.${stage().namespace}.svc`,
        ca: textIn(secret, 'ca.crt'),
        cert: textIn(secret, 'tls.crt'),
        key: textIn(secret, 'tls.key'),
      };
      return ask({ host: pod?.status?.podIP ?? '', port: 2379, path: '/version', tls });
    };
    await typing(page, `${page}#managed`);
    const leaked = await mounted();
    assert.ok('status' in (await askedWith(leaked)));
    await typing(page, `${page}#revoke-a-clients-certificate`);
    await stage().tickUntil(name, isConverged);
    const refused = await askedWith(leaked);
    assert.ok('refused' in refused, JSON.stringify(refused));
    const answer = await askedWith(await mounted());
    assert.ok('status' in answer && answer.status === 200, JSON.stringify(answer));
  });
});
