import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Pod, Secret } from '../../manifests/kube-types.ts';
import { resources } from '../../reconcile/interfaces/kube.ts';
import { day, leafOf, newAuthority, putSecret } from './support/certificates.ts';
import type { Access } from './support/client.ts';
import { condition, isReady, isStalledFor } from './support/conditions.ts';
import { readKey, writeKey } from './support/keys.ts';
import { node } from './support/node.ts';
import { scene } from './support/scene.ts';
import { clusterYaml } from './support/specs.ts';
import { type Transcript, transcriptOf } from './support/transcript.ts';
import { until } from './support/until.ts';
import { ask, textIn } from './support/wire.ts';
import { startWriter } from './support/writer.ts';

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

for (const [cluster, name, what] of [
  ['taken', 'taken-client-tls', 'the Secret for applications'],
  ['claimed', 'claimed-peer-ca', 'the Secret of a CA'],
] as const) {
  test(`a foreign ${what} is left alone and named; once it is gone, the birth goes on`, async () => {
    const data = { 'tls.crt': 'bXk=', 'something.else': 'b3du' };
    const theirs = await putSecret(stage(), name, data);
    await apply(cluster, { replicas: 1 });
    const stalled = await transcript().tickUntil(cluster, isStalledFor('NameTaken'));
    assert.match(
      condition(stalled, 'Stalled')?.message ?? '',
      new RegExp(`Secret (named )?${name}.*To go on: rename or delete that Secret`),
    );
    await transcript().tick();
    assert.deepEqual(await secret(name), theirs, 'not so much as a label');
    assert.deepEqual(await podsOf(cluster), [], 'nothing was started');

    await stage().kubectl(['-n', stage().namespace, 'delete', 'secret', name]);
    const ready = await transcript().tickUntil(cluster, isReady);
    assert.equal(condition(ready, 'CertificatesReady')?.status, 'True');
    await discard(cluster);
  });
}

/** With its volumes, which are the largest things here. Not waited for: nothing more happens with that name. */
async function discard(cluster: string): Promise<void> {
  const { kubectl, namespace } = stage();
  await kubectl(['-n', namespace, 'delete', 'etcdcluster', cluster, '--wait=false']);
  await kubectl(['-n', namespace, 'delete', 'pvc', '-l', `etcd.ratchet.dev/cluster=${cluster}`, '--wait=false']);
}

test('a member with a wiped disk stays out although its certificate is good', async () => {
  const { access, namespace } = stage();
  const writer = startWriter(await access('born'), 'acknowledged');
  await until('fifty writes', async () => writer.acknowledged >= 50);
  await node().wipeVolume(namespace, 'born-1');
  await node().killContainer(namespace, 'born-1-0', 'etcd', 'SIGKILL');
  const down = await transcript().tickUntil('born', (found) => condition(found, 'Ready')?.reason === 'MemberDown', 120);
  assert.equal(condition(down, 'Available')?.status, 'True');
  assert.doesNotMatch(
    condition(down, 'Ready')?.message ?? '',
    /certificate|TLS/,
    'its certificate is not what is wrong',
  );
  const { acknowledged, lost } = await writer.finish();
  assert.deepEqual(lost, [], `of ${acknowledged} acknowledged writes`);
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
