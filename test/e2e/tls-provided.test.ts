import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { EtcdCluster } from '../../manifests/api/etcd-cluster.ts';
import type { Pod, Secret, StatefulSet } from '../../manifests/kube-types.ts';
import { clusterLeaves, type LeafPlan, memberLeaves } from '../../manifests/render/certificate-names.ts';
import { resources } from '../../reconcile/interfaces/kube.ts';
import type { Authority } from '../../reconcile/x509/issue.ts';
import type { CertificateData } from '../../reconcile/x509/secret-data.ts';
import {
  asNotes,
  day,
  intermediateOf,
  leafOf,
  newAuthority,
  putSecret,
  span,
  weakLeafOf,
} from './support/certificates.ts';
import type { Access } from './support/client.ts';
import { condition, isReady, isStalledFor } from './support/conditions.ts';
import { startFollower } from './support/follower.ts';
import { readKey, writeKey } from './support/keys.ts';
import { scene } from './support/scene.ts';
import { clusterYaml } from './support/specs.ts';
import { until } from './support/until.ts';
import { fingerprintIn, shownAt, textIn } from './support/wire.ts';

const stage = scene({ fleet: false, clearedBetween: true });

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

async function discard(name: string): Promise<void> {
  const { kubectl, namespace } = stage();
  await kubectl(['-n', namespace, 'delete', 'etcdcluster', name, '--wait=false']);
  await kubectl(['-n', namespace, 'delete', 'pvc', '-l', `etcd.ratchet.dev/cluster=${name}`, '--wait=false']);
}

test('provided Secrets are never written; replaced ones are served, bad ones reach no member', async (t) => {
  const { tickUntil, tick, list } = stage();
  const name = 'given';
  const plans = plansFor(name, 3);
  const root = await newAuthority('platform root');
  const first = await goodOnes(plans, root);
  await give(name, first);
  await apply(name, 3);
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
  await discard(name);
});

/** Everything is looked at when something gives an occasion: here, another field of the spec. */
async function stalledOnceLookedAt(name: string, reason: string, grace = '90s'): Promise<EtcdCluster> {
  const { kubectl, namespace, tickUntil } = stage();
  const patch = JSON.stringify({ spec: { healing: { podGracePeriod: grace } } });
  await kubectl(['-n', namespace, 'patch', 'etcdcluster', name, '--type=merge', '-p', patch]);
  return tickUntil(name, isStalledFor(reason));
}

type Defect = readonly [what: string, reason: string, bad: (has: Hand) => Promise<Partial<Given>>];

/** What somebody has at hand who makes a mistake. */
interface Hand {
  readonly plans: Readonly<Record<Use, LeafPlan>>;
  readonly root: Authority;
  readonly good: Given;
}

const defects: readonly Defect[] = [
  ['no client Secret at all', 'SecretMissing', async ({ good }) => ({ peer: good.peer, server: good.server })],
  ['half a Secret', 'KeysMissing', async ({ good }) => ({ ...good, peer: { ...good.peer, 'tls.key': '' } })],
  [
    'the key of another certificate',
    'KeyMismatch',
    async ({ good }) => ({ ...good, server: { ...good.server, 'tls.key': good.peer['tls.key'] } }),
  ],
  [
    'certificate and key swapped',
    'Unreadable',
    async ({ good }) => ({
      ...good,
      server: { ...good.server, 'tls.key': good.server['tls.crt'], 'tls.crt': good.server['tls.key'] },
    }),
  ],
  [
    'RSA with 1024 bits',
    'WeakKey',
    async ({ good, plans, root }) => ({ ...good, server: await weakLeafOf(plans.server, root) }),
  ],
  [
    'a certificate that has ended',
    'Expired',
    async ({ good, plans, root }) => ({
      ...good,
      peer: await leafOf(plans.peer, root, { validity: span(-9 * day, -day) }),
    }),
  ],
  [
    'one that has not begun',
    'NotYetValid',
    async ({ good, plans, root }) => ({
      ...good,
      client: await leafOf(plans.client, root, { validity: span(day, 9 * day) }),
    }),
  ],
  [
    'one of a CA that it does not bring along',
    'ChainBroken',
    async ({ good, plans, root }) => ({
      ...good,
      server: await leafOf(plans.server, await newAuthority('another'), { trust: [root.certificate] }),
    }),
  ],
  [
    'Secrets that trust nobody but themselves',
    'AuthoritiesDisagree',
    async ({ good, plans }) => ({ ...good, client: await leafOf(plans.client, await newAuthority('another')) }),
  ],
  [
    'a missing name',
    'MissingNames',
    async ({ good, plans, root }) => ({
      ...good,
      server: await leafOf({ ...plans.server, dnsNames: ['localhost', 'etcd.example.com'] }, root),
    }),
  ],
  [
    'a server that may not be a client',
    'MissingUsages',
    async ({ good, plans, root }) => ({ ...good, peer: await leafOf({ ...plans.peer, usages: ['serverAuth'] }, root) }),
  ],
  [
    'a wildcard for members',
    'WildcardPeerName',
    async ({ good, plans, root }) => ({
      ...good,
      peer: await leafOf({ ...plans.peer, dnsNames: [wildcardOf(plans.peer)] }, root),
    }),
  ],
];

function wildcardOf({ dnsNames: [host = ''] }: LeafPlan): string {
  return `*${host.slice(host.indexOf('.'))}`;
}

test('what could not work is refused by name before any start, and goes on once replaced', async (t) => {
  const { kubectl, namespace, tickUntil, list } = stage();
  const name = 'picky';
  const plans = plansFor(name, 1);
  const root = await newAuthority('platform root');
  const good = await goodOnes(plans, root);
  await apply(name, 1);
  for (const [what, reason, bad] of defects) {
    await t.test(`${what}: ${reason}`, async () => {
      const given = await bad({ plans, root, good });
      for (const use of uses) {
        if (!given[use])
          await kubectl(['-n', namespace, 'delete', 'secret', secretName(name, use), '--ignore-not-found']);
      }
      await give(name, given);
      const stalled = await tickUntil(name, isStalledFor(`Certificate${reason}`));
      const message = condition(stalled, 'Stalled')?.message ?? '';
      assert.match(message, /Secret picky-my-(peer|server|client) .*To go on: ./s);
      assert.doesNotMatch(message, /PRIVATE KEY|LS0tLS/);
      assert.equal(condition(stalled, 'CertificatesReady')?.status, 'False');
      assert.deepEqual(await setsOf(name), [], 'nothing was started');
    });
  }
  await give(name, good);
  await tickUntil(name, isReady);
  await discard(name);

  async function setsOf(cluster: string): Promise<readonly string[]> {
    const sets = await list<StatefulSet>(resources.statefulSets);
    return sets.map(({ metadata }) => metadata.name).filter((found) => found.startsWith(`${cluster}-`));
  }
});

test('odd but good: CRLF with notes, a chain with an intermediate, a server wildcard', async () => {
  const { tickUntil } = stage();
  const name = 'odd';
  const plans = plansFor(name, 3);
  const root = await newAuthority('platform root');
  const issuing = await intermediateOf(root, 'platform issuing CA');
  const trust = [root.certificate];
  const [, , ...names] = plans.server.dnsNames;
  assert.ok(names.length > 0);
  const server = { ...plans.server, dnsNames: [wildcardOf(plans.server), `${name}.${stage().namespace}.svc`] };
  const noted = (data: CertificateData): CertificateData => ({
    'tls.crt': asNotes(data['tls.crt']),
    'tls.key': asNotes(data['tls.key']),
    'ca.crt': asNotes(data['ca.crt']),
  });
  const given: Given = {
    peer: noted(await leafOf(plans.peer, issuing, { trust })),
    server: await leafOf(server, issuing, { trust }),
    client: await leafOf(plans.client, issuing, { trust }),
  };
  assert.equal(
    Buffer.from(given.peer['tls.crt'], 'base64').toString().split('BEGIN CERTIFICATE').length,
    3,
    'two of them',
  );
  await give(name, given);
  await apply(name, 3);
  await tickUntil(name, isReady);
  const access = await accessWith(name, given);
  await writeKey(access, 'odd', 'but good');
  assert.equal(await readKey(access, 'odd'), 'but good');
  const before = (await secretsOf(name)).map((secret) => textIn(secret, 'tls.crt'));
  assert.ok(
    before.some((text) => text.includes('\r\n')),
    'left as it was written',
  );
  await discard(name);
});
