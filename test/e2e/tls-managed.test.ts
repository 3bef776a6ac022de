import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { EtcdCluster } from '../../manifests/api/etcd-cluster.ts';
import type { Pod, Secret } from '../../manifests/kube-types.ts';
import { clusterLeaves } from '../../manifests/render/certificate-names.ts';
import { resources } from '../../reconcile/interfaces/kube.ts';
import { day, leafOf, newAuthority, putSecret } from './support/certificates.ts';
import type { Access } from './support/client.ts';
import { condition, isReady, isStalledFor, isWhole } from './support/conditions.ts';
import { doneIn } from './support/done.ts';
import { startFollower } from './support/follower.ts';
import { readKey, writeKey } from './support/keys.ts';
import { lookNow } from './support/look-now.ts';
import { node } from './support/node.ts';
import { scene } from './support/scene.ts';
import { clusterYaml } from './support/specs.ts';
import { type Transcript, transcriptOf } from './support/transcript.ts';
import { until } from './support/until.ts';
import { ask, fingerprintIn, textIn } from './support/wire.ts';

let ticks: Transcript | undefined;
const stage = scene({
  fleet: false,
  furnish: async (opened) => {
    ticks = transcriptOf(opened);
  },
});

function transcript(): Transcript {
  if (!ticks) throw new Error('the scene is only there while its tests run');
  return ticks;
}

async function apply(name: string, fields: Readonly<Record<string, unknown>> = {}): Promise<void> {
  const { kubectl, namespace } = stage();
  await kubectl(['apply', '--server-side', '-f', '-'], { stdin: clusterYaml(name, namespace, fields) });
}

async function secret(name: string): Promise<Secret> {
  const found = await stage().get<Secret>(resources.secrets, name);
  assert.ok(found, `Secret ${name}`);
  return found;
}

async function podsOf(name: string): Promise<readonly Pod[]> {
  return (await stage().list<Pod>(resources.pods)).filter(({ metadata }) => metadata.name.startsWith(`${name}-`));
}

test('without a word about TLS a cluster has it, and says when its certificates end', async () => {
  await apply('born');
  const cluster = await transcript().tickUntil('born', isReady);
  assert.equal(condition(cluster, 'CertificatesReady')?.status, 'True', JSON.stringify(cluster.status?.conditions));
  assert.equal(cluster.spec.tls?.mode, 'Managed', 'the default is written down');
  const ends = cluster.status?.certificates?.notAfter ?? '';
  assert.ok(Date.parse(ends) > Date.now() + 80 * day, ends);
  const table = await stage().kubectl(['-n', stage().namespace, 'get', 'ec', 'born', '-o', 'wide']);
  assert.ok(table.includes('CERTIFICATES UNTIL') && table.includes(ends), table);
});

test('only clients with a certificate of the client CA get in, on members and the Service', async () => {
  const { access, namespace } = stage();
  const service = await access('born');
  await writeKey(service, 'hello', 'world');
  assert.equal(await readKey(service, 'hello'), 'world');

  const application = await secret('born-client-tls');
  const ca = textIn(application, 'ca.crt');
  const stranger = await newAuthority('stranger');
  const forged = await leafOf(
    {
      purpose: 'application',
      authority: 'client',
      secretName: 'forged',
      commonName: 'root',
      dnsNames: [],
      ipAddresses: [],
      usages: ['clientAuth'],
    },
    stranger,
  );
  const shown = {
    'none at all': {},
    'one of another CA': credentialsIn(forged),
    'the one that a member shows to members': credentialsIn((await secret('born-0-peer-tls')).data),
  };
  const mine = credentialsIn(application.data);
  for (const pod of await podsOf('born')) {
    const at = { host: pod.status?.podIP ?? '', port: 2379, path: '/v3/kv/range', body: '{"key":"aGVsbG8="}' };
    const serverName = `born.${namespace}.svc`;
    const inside = await ask({ ...at, tls: { serverName, ca, ...mine } });
    assert.ok('status' in inside && inside.status === 200 && inside.body.includes('d29ybGQ='), JSON.stringify(inside));
    for (const [what, credentials] of Object.entries(shown)) {
      const outside = await ask({ ...at, tls: { serverName, ca, ...credentials } });
      assert.ok('refused' in outside && hungUp.test(outside.refused), `${what}: ${JSON.stringify(outside)}`);
    }
    const plain = await ask(at);
    assert.ok('refused' in plain || plain.status === 400, JSON.stringify(plain));
    // Nor does the port of members let anybody in who is none, client of ours or not.
    const members = await ask({
      ...at,
      port: 2380,
      path: '/members',
      tls: { serverName: hostOf(pod), ca: textIn(await secret('born-0-peer-tls'), 'ca.crt'), ...mine },
    });
    assert.ok('refused' in members && hungUp.test(members.refused), JSON.stringify(members));
  }
  await assert.rejects(writeKey(plaintext(service), 'in', 'clear'));
});

/** By an alert; or what is left of it, where the other side has closed before we have written all. */
const hungUp = /alert|ECONNRESET|EPIPE/;

function credentialsIn(data: Readonly<Record<string, string>> = {}): { readonly cert: string; readonly key: string } {
  const text = (key: string) => Buffer.from(data[key] ?? '', 'base64').toString('utf8');
  return { cert: text('tls.crt'), key: text('tls.key') };
}

function hostOf({ metadata }: Pod): string {
  return `${metadata.name}.born-peers.${stage().namespace}.svc`;
}

function plaintext({ url, serverName }: Access): Access {
  return { url: url.replace('https:', 'http:'), serverName };
}

test('the port for probes asks for no certificate, and serves only health and metrics', async () => {
  for (const { status } of await podsOf('born')) {
    const at = { host: status?.podIP ?? '', port: 2381 };
    for (const path of ['/health', '/livez', '/readyz', '/metrics']) {
      const answer = await ask({ ...at, path });
      assert.ok('status' in answer && answer.status === 200, `${path}: ${JSON.stringify(answer)}`);
    }
    const body = '{"key":"aGVsbG8="}';
    for (const said of [
      { path: '/version' },
      { path: '/members' },
      { path: '/debug/vars' },
      { path: '/debug/pprof/' },
      { path: '/v2/keys' },
      { path: '/v3/kv/range', body },
      { path: '/v3/kv/put', body: '{"key":"aGVsbG8=","value":"b3Zlcg=="}' },
      { path: '/v3/maintenance/snapshot', body: '{}' },
      { path: '/etcdserverpb.KV/Range', body },
    ]) {
      const answer = await ask({ ...at, ...said });
      assert.ok('status' in answer && answer.status === 404, `${said.path}: ${JSON.stringify(answer)}`);
    }
    const url = `http://${at.host}:2381`;
    await assert.rejects(readKey({ url, serverName: '' }, 'hello'), 'no gRPC');
  }
  assert.equal(await readKey(await stage().access('born'), 'hello'), 'world');
});

test('our own certificate of another cluster is replaced, although no member accepts it', async () => {
  const { tickUntil, ticksUntil } = stage();
  const [plan] = clusterLeaves('born');
  const bad = await putSecret(stage(), plan.secretName, await leafOf(plan, await newAuthority('elsewhere')));
  await lookNow(stage(), 'born');
  await ticksUntil('it is replaced', async () => fingerprintIn(await secret(plan.secretName)) !== fingerprintIn(bad));
  await tickUntil('born', isWhole);
});

test('all Secrets deleted at once: members restart with new ones; of members only: a cure', async (t) => {
  const { kubectl, namespace, tickUntil, accessNow } = stage();
  const own = async () =>
    (await stage().list<Secret>(resources.secrets)).flatMap(({ metadata }) =>
      metadata.name.startsWith('born-') ? [metadata.name] : [],
    );
  const uidsOf = async () => (await podsOf('born')).map(({ metadata }) => metadata.uid);
  const writer = await startFollower(() => accessNow('born'), 'throughout');
  await until('writes', async () => writer.acknowledged >= 100);
  const pods = await uidsOf();
  writer.gap();

  const all = await own();
  assert.equal(all.length, 11);
  await kubectl(['-n', namespace, 'delete', 'secret', ...all]);
  await lookNow(stage(), 'born');
  const isReloaded = ({ status }: EtcdCluster) =>
    doneIn(status?.history).some(({ reason }) => reason === 'ReloadingAuthorities');
  await tickUntil('born', isReloaded, 60);
  await tickUntil('born', isWell, 180);
  const anew = await uidsOf();
  assert.ok(!anew.some((uid) => pods.includes(uid)), 'each was started anew');
  const sofar = writer.acknowledged;
  await until('writes with what the application was given', async () => writer.acknowledged >= sofar + 100);
  t.diagnostic(`everything: longest gap ${writer.gap().milliseconds} ms`);

  const peers = (await own()).filter((secret) => secret.includes('-peer-'));
  assert.equal(peers.length, 4);
  await kubectl(['-n', namespace, 'delete', 'secret', ...peers]);
  await lookNow(stage(), 'born');
  const stalled = await tickUntil('born', isStalledFor('AuthorityLost'), 120);
  assert.equal(condition(stalled, 'Available')?.status, 'True');
  const described = await kubectl(['-n', namespace, 'describe', 'etcdcluster', 'born']);
  const [, cure = ''] = /\(kubectl (-n \S+ delete pods -l \S+?)\)/.exec(described.replaceAll(/\s+/g, ' ')) ?? [];
  assert.ok(cure.includes('etcd.ratchet.dev/cluster=born'), described);
  assert.deepEqual(await uidsOf(), anew, 'nobody who serves was stopped');
  await kubectl([...cure.split(' '), '--wait=false']);
  await tickUntil('born', isWell, 120);
  const { milliseconds } = writer.gap();
  const { acknowledged, lost } = await writer.finish();
  t.diagnostic(`members': longest gap ${milliseconds} ms; ${acknowledged} writes, ${lost.length} lost`);
  assert.deepEqual(lost, []);
});

function isWell(cluster: EtcdCluster): boolean {
  return isWhole(cluster) && condition(cluster, 'CertificatesReady')?.status === 'True';
}

test('plaintext is said plainly; applied again with TLS it is refused, and runs on with its data', async () => {
  const { kubectl, namespace, access, list } = stage();
  const { tickUntil } = transcript();
  await apply('plain', { replicas: 1, tls: { mode: 'Disabled' } });
  const before = await tickUntil('plain', isReady);
  const said = condition(before, 'CertificatesReady');
  assert.deepEqual([said?.status, said?.reason], ['False', 'Disabled']);
  assert.match(said?.message ?? '', /plaintext.*every client that reaches the pods can read and write all keys/);
  const secrets = (await list<Secret>(resources.secrets)).filter(({ metadata }) => metadata.name.startsWith('plain-'));
  assert.deepEqual(secrets, [], 'no Secret is made');
  await writeKey(await access('plain'), 'precious', 'still here');

  await kubectl(['-n', namespace, 'delete', 'etcdcluster', 'plain']);
  await until('its pods are gone', async () => (await podsOf('plain')).length === 0, { within: 120 });
  await apply('plain', { replicas: 1, tls: { mode: 'Managed' } });
  const isRefused = isStalledFor('TlsModeRefused');
  const stalled = await tickUntil('plain', (one) => isRefused(one) && one.status?.readyReplicas === 1, 150);
  assert.match(
    condition(stalled, 'Stalled')?.message ?? '',
    /created with TLS mode Disabled.*To go on: set spec.tls.mode to Disabled/,
  );
  assert.equal(stalled.status?.clusterID, before.status?.clusterID);
  // What it says can be done: the API server's own rule does not stand in the way of it.
  await apply('plain', { replicas: 1, tls: { mode: 'Disabled' } });
  await tickUntil('plain', isReady);
  assert.equal(await readKey(await access('plain'), 'precious'), 'still here');
});

test('private keys are only in Secrets: not in objects, events, statuses or logs', async () => {
  const { kubectl, namespace, list } = stage();
  const kinds = (await kubectl(['api-resources', '--verbs=list', '-o', 'name']))
    .split('\n')
    .filter((kind) => kind !== '' && kind !== 'secrets');
  assert.ok(kinds.includes('events') && kinds.includes('etcdclusters.etcd.ratchet.dev'));
  const logs = await Promise.all((await podsOf('born')).map(({ metadata }) => node().logs(namespace, metadata.name)));
  const everything = {
    'objects of the API': await kubectl(['get', kinds.join(','), '-A', '-o', 'json', '--ignore-not-found']),
    'what ticks said': transcript().words(),
    'what etcd said': logs.join('\n'),
  };
  const keys = (await list<Secret>(resources.secrets)).flatMap((found) => {
    const text = textIn(found, 'tls.key');
    return text === '' ? [] : [{ name: found.metadata.name, text, base64: found.data?.['tls.key'] ?? '' }];
  });
  assert.ok(keys.length >= 10, `${keys.length} keys to look for`);
  for (const [where, said] of Object.entries(everything)) {
    assert.ok(said.length > 500, `there is something to look through in ${where}`);
    assert.ok(!said.includes('PRIVATE KEY'), where);
    for (const { name, text, base64 } of keys) {
      // From the middle: all keys of a kind begin alike.
      const body = text.split('\n').slice(1, -2).join('');
      for (const part of [body.slice(70, 100), base64.slice(120, 150)]) {
        assert.equal(part.length, 30);
        assert.ok(!said.includes(part), `the key of ${name} in ${where}`);
      }
    }
  }
});
