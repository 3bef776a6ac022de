import assert from 'node:assert/strict';
import { after, describe, test } from 'node:test';
import { parse } from 'yaml';
import type { Secret, Service } from '../../manifests/kube-types.ts';
import { urlOf } from '../../manifests/render/hosts.ts';
import { resources } from '../../reconcile/interfaces/kube.ts';
import { issueLeaf } from '../../reconcile/x509/issue.ts';
import { type Consumer, consumerOf } from '../consumers/settings/known.ts';
import { type Place, type Reading, readAs } from '../consumers/settings/reading.ts';
import { blocksOf } from '../support/docs/blocks.ts';
import { commandsAt } from '../support/docs/places.ts';
import { typedIn } from '../support/docs/typed-by.ts';
import { read } from '../unit/docs/pages.ts';
import { good } from './support/certificates.ts';
import { type Access, connectTo } from './support/client.ts';
import { isConverged, isReady } from './support/conditions.ts';
import { readKey, writeKey } from './support/keys.ts';
import { whileTicking } from './support/runbooks/tell.ts';
import { line, type } from './support/runbooks/typing.ts';
import { scene } from './support/scene.ts';
import { until } from './support/until.ts';
import { ask } from './support/wire.ts';

const page = 'docs/how-to/recipes.md';
const typed = typedIn('e2e/recipes');
const stage = scene({ fleet: false });
const shown = blocksOf(page, read(page)).filter(({ kind }) => kind === 'yaml');
/** HyperShift's two namespaces, which are gone after the story. */
const hosted = () => ({ HOSTED: `${stage().namespace}-clusters`, PLANE: `${stage().namespace}-clusters-shop` });
after(async () => {
  const gone = ['delete', 'namespace', '--ignore-not-found', '--wait=false', ...Object.values(hosted())];
  await stage().kubectl(gone);
});

/** The settings that the page shows, for a reader whose namespaces and cluster have other names. */
function settingsOf(consumer: Consumer, cluster = 'orders'): string {
  const found = shown.find(({ text }) => consumerOf(text) === consumer) ?? assert.fail(`no settings of ${consumer}`);
  const { namespace } = stage();
  return found.text
    .replaceAll('payments', namespace)
    .replaceAll('namespace: clusters', `namespace: ${hosted().HOSTED}`)
    .replaceAll(/\borders\b/g, cluster);
}

function place(): Place {
  const { kube, namespace } = stage();
  return { namespace, plane: hosted().PLANE, secret: (at, name) => kube.get<Secret>(resources.secrets, at, name) };
}

const reading = (consumer: Consumer, text: string) => readAs(consumer, parse(text), place());

/** As cluster DNS leads there: by the Service that the name is of. */
async function reach({ host, port, serverName, ca, certificate, key }: Reading): Promise<Access> {
  const [name = '', namespace = '', kind] = host.split('.');
  const service = await stage().kube.get<Service>(resources.services, namespace, name);
  assert.ok(service && kind === 'svc', `no Service is called ${host}`);
  assert.ok(
    service.spec.ports?.some((each) => each.port === port),
    `${host} has no port ${port}`,
  );
  const credentials = {
    rootCertificate: Buffer.from(ca),
    certChain: Buffer.from(certificate),
    privateKey: Buffer.from(key),
  };
  return { url: urlOf('https', service.spec.clusterIP ?? '', port), serverName, credentials };
}

/** The HTTP gateway at the same address. */
function through({ url, serverName, credentials }: Access, path: string, body?: object, known = true) {
  const { hostname, port } = new URL(url);
  const of = (what: Buffer | undefined) => what?.toString() ?? '';
  const own = known && { cert: of(credentials?.certChain), key: of(credentials?.privateKey) };
  const tls = { serverName, ca: of(credentials?.rootCertificate), ...own };
  const host = hostname.replace(/^\[|\]$/g, '');
  return ask({ host, port: Number(port), path, tls, ...(body && { body: JSON.stringify(body) }) });
}

async function assertRefusedWithout(way: Access): Promise<void> {
  const { rootCertificate } = way.credentials ?? assert.fail('it has no credentials');
  await assert.rejects(writeKey({ ...way, credentials: { rootCertificate } }, 'without', 'a certificate'));
  const answer = await through(way, '/v3/kv/range', { key: 'aw==' }, false);
  assert.match('refused' in answer ? answer.refused : JSON.stringify(answer), /certificate required/);
}

/** Members know no CA that vouches for its certificate. */
async function assertUnknown(way: Access): Promise<void> {
  await assert.rejects(readKey(way, 'unknown'));
  const answer = await through(way, '/version');
  assert.match('refused' in answer ? answer.refused : JSON.stringify(answer), /alert (unknown ca|bad certificate)/);
}

test('settings of vCluster, Milvus and APISIX lead to a connection, and to none with a mistake', async (t) => {
  const { kubectl, namespace, tickUntil } = stage();
  const [cluster] = shown;
  assert.match(cluster?.text ?? '', /^kind: EtcdCluster$/m);
  const document = cluster?.text.replace('payments', namespace).replace('replicas: 3', 'replicas: 1');
  await kubectl(['apply', '--server-side', '-f', '-'], { stdin: document ?? '' });
  await tickUntil('orders', isReady);

  for (const consumer of ['values of the chart vcluster', 'values of the chart milvus'] as const) {
    const way = await reach(await reading(consumer, settingsOf(consumer)));
    await until(`${consumer}: it is served`, async () => {
      await writeKey(way, consumer, 'written');
      return true;
    });
    assert.equal(await readKey(way, consumer), 'written');
    await assertRefusedWithout(way);
  }

  const apisix = 'values of the chart apisix';
  const way = await reach(await reading(apisix, settingsOf(apisix)));
  const base64 = (text: string) => Buffer.from(text).toString('base64');
  const version = await through(way, '/version');
  assert.match('body' in version ? version.body : version.refused, /"etcdcluster":"3\.6\./);
  const key = base64('/apisix/routes/');
  const put = await through(way, '/v3/kv/put', { key, value: base64('init_dir') });
  assert.equal('status' in put && put.status, 200, JSON.stringify(put));
  const range = await through(way, '/v3/kv/range', { key });
  assert.ok('body' in range && range.body.includes(base64('init_dir')), JSON.stringify(range));
  await assertRefusedWithout(way);

  for (const [consumer, right, wrong, told] of [
    ['values of the chart vcluster', 'keyFile: /etcd-tls/tls.key', 'keyFile: /etcd-tls/key.pem', /has no key\.pem/],
    ['values of the chart vcluster', 'mountPath: /etcd-tls', 'mountPath: /tls', /no volume is mounted/],
    ['values of the chart milvus', 'secretName: orders-client-tls', 'secretName: orders-tls', /there is no Secret/],
    ['values of the chart milvus', `orders.${namespace}`, `order.${namespace}`, /no Service is called/],
    [apisix, ':2379', ':2378', /has no port 2378/],
    [apisix, 'certCAFilename: ca.crt', 'certCAFilename: ca.pem', /has no ca\.pem/],
  ] as const) {
    const text = settingsOf(consumer);
    const changed = text.replace(right, wrong);
    assert.notEqual(changed, text, right);
    await assert.rejects(async () => reach(await reading(consumer, changed)), told);
  }
  const misnamed = settingsOf(apisix).replace('sni: orders', 'sni: order');
  const answer = await through(await reach(await reading(apisix, misnamed)), '/version');
  assert.match('refused' in answer ? answer.refused : '', /ERR_TLS_CERT_ALTNAME_INVALID/);
  t.diagnostic('the programs themselves were not run');
});

describe('Kamaji', () => {
  const consumer = 'kamaji.clastix.io/v1alpha1 DataStore';
  const user = 'tenant_a';
  const now = async () => reading(consumer, settingsOf(consumer));

  /** As Kamaji signs for a control plane: the leaf alone, by the CA that its DataStore names. */
  async function signed(by: Reading): Promise<Reading> {
    const plan = { purpose: 'application', authority: 'client', secretName: '', commonName: user } as const;
    const leaf = { ...plan, dnsNames: [], ipAddresses: [], usages: ['clientAuth', 'serverAuth'] } as const;
    const { certificate, key } = await issueLeaf(leaf, by.signing ?? assert.fail('it can sign nothing'), good());
    return { ...by, certificate, key };
  }

  test('makes a user by its DataStore, and what it signs for that user reads its own keys alone', async () => {
    await type(stage(), 'orders', {}, [page, `${page}#kamaji`].flatMap(typed));
    const own = await now();
    const way = await reach(own);
    const client = connectTo(way, 5000);
    try {
      await client.user(user).create('not used');
      await client.role(user).create();
      await client.role(user).grant({ permission: 'Readwrite', range: client.range({ prefix: `/${user}/` }) });
      await client.user(user).addRole(user);
      await client.put('/tenant_b/secret').value('of b');
    } finally {
      client.close();
    }
    const tenant = await reach(await signed(own));
    await writeKey(tenant, `/${user}/registry`, 'of a');
    assert.equal(await readKey(tenant, `/${user}/registry`), 'of a');
    await assert.rejects(readKey(tenant, '/tenant_b/secret'), /permission denied/);
    await assertRefusedWithout(way);
    const wrong = settingsOf(consumer).replace(
      'orders-client-ca, keyPath: tls.key',
      'orders-client-ca, keyPath: ca.key',
    );
    await assert.rejects(reading(consumer, wrong), /orders-client-ca has no ca\.key/);
  });

  test('signs in vain during a rotation, until members have started anew with the new CA', async () => {
    const { kubectl, namespace, stepUntil, tickUntil } = stage();
    const change = (...args: string[]) => kubectl(['-n', namespace, ...args]);
    const before = await now();
    const old = await reach(await signed(before));
    await change('annotate', 'etcdclusters.etcd.ratchet.dev', 'orders', 'etcd.ratchet.dev/rotate-certificates=1');
    let during = before;
    await until('a new CA is in the Secret', async () => {
      await stepUntil('orders', () => true);
      during = await now();
      return during.signing?.certificate !== before.signing?.certificate;
    });
    const early = await reach(await signed(during));
    await assertUnknown(early);
    assert.equal(await readKey(old, `/${user}/registry`), 'of a');

    const overlap = JSON.stringify({ spec: { tls: { rotationOverlap: '1s' } } });
    await change('patch', 'etcdclusters.etcd.ratchet.dev', 'orders', '--type=merge', '-p', overlap);
    await tickUntil('orders', isConverged, 180);
    assert.equal(await readKey(await reach(await signed(await now())), `/${user}/registry`), 'of a');
    await assertUnknown(old);
  });
});

test('HyperShift reads a Secret that its own CA vouches for, and its API servers verify members', async () => {
  const { kubectl, tickUntil } = stage();
  const consumer = 'hypershift.openshift.io/v1beta1 HostedCluster';
  const { HOSTED, PLANE } = hosted();
  for (const name of [HOSTED, PLANE]) await kubectl(['create', 'namespace', name]);
  // As HyperShift makes it: RSA in PKCS#1, under both pairs of keys.
  const signer = line(
    [
      'openssl genrsa -traditional -out signer.key 2048',
      'openssl req -x509 -new -key signer.key -days 3650 -subj /OU=openshift/CN=etcd-signer -out signer.crt' +
        ' -addext basicConstraints=critical,CA:TRUE -addext keyUsage=critical,digitalSignature,keyEncipherment,keyCertSign',
      `kubectl -n ${PLANE} create secret generic etcd-signer --from-file=ca.crt=signer.crt` +
        ' --from-file=ca.key=signer.key --from-file=tls.crt=signer.crt --from-file=tls.key=signer.key',
    ].join('\n'),
  );
  const provided = commandsAt('docs/how-to/tls.md#provided-by-you').map((block) => ({
    ...block,
    text: block.text.replace(/^ca clients\n/m, ''),
  }));
  assert.match(provided[0]?.text ?? '', /^ca members$/m);
  const blocks = [
    ...typed(page),
    signer,
    ...typed(`${page}#hypershift:1`),
    ...provided,
    ...typed(`${page}#hypershift:2`),
  ];
  await whileTicking(stage(), () => type(stage(), 'hosted', { HOSTED, PLANE }, blocks));
  await tickUntil('hosted', isReady);

  const text = settingsOf(consumer, 'hosted');
  const way = await reach(await reading(consumer, text));
  await writeKey(way, '/kubernetes.io/pods/x', 'written');
  assert.equal(await readKey(way, '/kubernetes.io/pods/x'), 'written');
  await assertRefusedWithout(way);
  await assert.rejects(reading(consumer, text.replace('shop-etcd', 'shop')), /there is no Secret .*-clusters\/shop/);
});
