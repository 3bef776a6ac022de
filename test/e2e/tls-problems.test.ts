import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { EtcdCluster } from '../../manifests/api/etcd-cluster.ts';
import type { Pod, Secret } from '../../manifests/kube-types.ts';
import { clusterLeaves, type LeafPlan, memberLeaves } from '../../manifests/render/certificate-names.ts';
import { resources } from '../../reconcile/interfaces/kube.ts';
import type { Authority } from '../../reconcile/x509/issue.ts';
import { authorityOf, type CertificateData } from '../../reconcile/x509/secret-data.ts';
import { day, leafOf, newAuthority, putSecret, span } from './support/certificates.ts';
import { condition, isReady } from './support/conditions.ts';
import { node } from './support/node.ts';
import { scene } from './support/scene.ts';
import { clusterYaml } from './support/specs.ts';
import { until } from './support/until.ts';
import { fingerprintIn, shownAt } from './support/wire.ts';

const stage = scene({ fleet: false, clearedBetween: true });

async function apply(name: string, tls: Readonly<Record<string, unknown>>): Promise<void> {
  const { kubectl, namespace } = stage();
  await kubectl(['apply', '--server-side', '-f', '-'], { stdin: clusterYaml(name, namespace, { replicas: 1, tls }) });
}

interface Hand {
  readonly plans: { readonly peer: LeafPlan; readonly server: LeafPlan; readonly client: LeafPlan };
  readonly root: Authority;
}

type Spoilt = readonly [
  what: string,
  secretName: string,
  words: RegExp,
  data: (hand: Hand) => Promise<CertificateData>,
];

const spoilt: readonly Spoilt[] = [
  [
    'our certificate has ended',
    'asked-reconciler-tls',
    /refused our client certificate \(.*expired\), which is valid from .*: renew it/,
    ({ plans, root }) => leafOf(plans.client, root, { validity: span(-9 * day, -day) }),
  ],
  [
    'our certificate is of a CA that members do not trust',
    'asked-reconciler-tls',
    /refused our client certificate.*it trusts none of the certificate's authorities/,
    async ({ plans, root }) => leafOf(plans.client, await newAuthority('another'), { trust: [root.certificate] }),
  ],
  [
    'we trust another CA than the one that signed for the members',
    'asked-reconciler-tls',
    /presented a certificate that no authority in our ca\.crt has signed/,
    async ({ plans, root }) => leafOf(plans.client, root, { trust: [(await newAuthority('another')).certificate] }),
  ],
  [
    'a member presents a certificate in another name',
    'asked-0-server-tls',
    /presented a certificate that is not for asked-0-0\.asked-peers\..*: reissue it with that DNS name/,
    ({ plans, root }) => leafOf({ ...plans.server, dnsNames: ['etcd.example.com'], ipAddresses: [] }, root),
  ],
];

test('what is wrong with certificates is told apart, and from a member that is dead', async (t) => {
  const { namespace, tickUntil, get, list } = stage();
  const name = 'asked';

  await apply(name, {});
  await tickUntil(name, isReady);
  const [peer, server] = memberLeaves({ namespace, cluster: name }, `${name}-0`);
  const root = authorityOf((await get<Secret>(resources.secrets, `${name}-client-ca`))?.data ?? {});
  const hand: Hand = { plans: { peer, server, client: clusterLeaves(name)[0] }, root };
  const [pod] = await list<Pod>(resources.pods);
  const host = pod?.status?.podIP ?? '';

  for (const [what, secretName, words, data] of spoilt) {
    await t.test(what, async () => {
      const put = await putSecret(stage(), secretName, await data(hand));
      await until('members read what is theirs', async () => {
        const shown = await shownAt(host, 2379, '', put);
        return shown === fingerprintIn(put) || !secretName.endsWith('-server-tls');
      });
      const seen = await tickUntil(name, (cluster) => words.test(unavailable(cluster)));
      assert.doesNotMatch(JSON.stringify(seen.status), /PRIVATE KEY|LS0tLS/);
      await tickUntil(name, isReady);
    });
  }

  await t.test('the member is dead', async () => {
    await node().freezePod(namespace, 'asked-0-0');
    const seen = await tickUntil(name, (cluster) => condition(cluster, 'Available')?.status === 'False');
    assert.doesNotMatch(unavailable(seen), /certificate|TLS|authority/, 'a silent member is no matter of certificates');
    await node().thawPod(namespace, 'asked-0-0');
    await tickUntil(name, isReady);
  });
});

function unavailable(cluster: EtcdCluster): string {
  const said = condition(cluster, 'Available');
  return said?.status === 'False' ? said.message : '';
}

test('our own bad certificate is replaced, although no member accepts it', async (t) => {
  const { tickUntil, ticksUntil, get } = stage();
  const name = 'own';
  await apply(name, {});
  await tickUntil(name, isReady);
  const [plan] = clusterLeaves(name);
  const root = authorityOf((await get<Secret>(resources.secrets, `${name}-client-ca`))?.data ?? {});
  for (const [what, data] of [
    ['one that has ended, as from a backup', await leafOf(plan, root, { validity: span(-9 * day, -day) })],
    ['one of another cluster', await leafOf(plan, await newAuthority('elsewhere'))],
  ] as const) {
    await t.test(what, async () => {
      const bad = await putSecret(stage(), `${name}-reconciler-tls`, data);
      await ticksUntil('it is replaced', async () => {
        const put = await get<Secret>(resources.secrets, `${name}-reconciler-tls`);
        return put && fingerprintIn(put) !== fingerprintIn(bad);
      });
      await tickUntil(name, isReady);
    });
  }
});
