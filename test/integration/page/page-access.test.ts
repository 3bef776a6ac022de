import assert from 'node:assert/strict';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { after, test } from 'node:test';
import { parseAllDocuments } from 'yaml';
import { page } from '../../../functions/serve/page.ts';
import { connectKube } from '../../../reconcile/clients/kube.ts';
import { until } from '../../e2e/support/until.ts';
import { install, startApiServer } from '../manifests/api-server.ts';

const api = await startApiServer();
after(() => api[Symbol.asyncDispose]());

const rendered = new Map<string, string>();
for (const [name, variant, ...components] of [
  ['own', '', 'page'],
  ['shared', '', 'page', 'page-shared'],
  ['planning', '', 'page', 'page-plans'],
  ['namespaced', 'namespaced', 'page-namespaced'],
] as const) {
  rendered.set(name, await kustomized(variant, components));
}
await api.kubectl(['apply', '-f', '-'], { stdin: rendered.get('shared') ?? '' });
for (const namespace of ['payments', 'web']) {
  await api.kubectl(['create', 'namespace', namespace]);
  await api.kubectl(['apply', '-f', '-'], { stdin: JSON.stringify(specOf(namespace)) });
}
await api.kubectl(['-n', 'payments', 'create', 'serviceaccount', 'viewer']);
await api.kubectl([
  '-n',
  'payments',
  'create',
  'rolebinding',
  'viewer',
  '--clusterrole=view',
  '--serviceaccount=payments:viewer',
]);
await api.kubectl(['-n', 'web', 'create', 'serviceaccount', 'nobody']);

const us = 'system:serviceaccount:etcd-ratchet:etcd-ratchet-page';

test('the page may list fleets, clusters and reports, and nothing else', async () => {
  for (const [verb, resource, namespace, expected] of [
    ['list', 'etcdclusters.etcd.ratchet.dev', 'payments', true],
    ['list', 'etcdfleets.etcd.ratchet.dev', 'web', true],
    ['list', 'configmaps', 'etcd-ratchet', true],
    ['create', 'tokenreviews.authentication.k8s.io', '', true],
    ['create', 'subjectaccessreviews.authorization.k8s.io', '', true],
    ['list', 'configmaps', 'payments', false],
    ['get', 'secrets', 'payments', false],
    ['get', 'secrets', 'etcd-ratchet', false],
    ['list', 'pods', 'payments', false],
    ['update', 'etcdclusters.etcd.ratchet.dev', 'payments', false],
    ['update', 'etcdclusters.etcd.ratchet.dev/status', 'payments', false],
    ['delete', 'etcdclusters.etcd.ratchet.dev', 'payments', false],
    ['create', 'configmaps', 'etcd-ratchet', false],
    ['create', 'jobs.batch', 'etcd-ratchet', false],
    ['impersonate', 'serviceaccounts', 'etcd-ratchet', false],
  ] as const) {
    assert.equal(await may(us, verb, resource, namespace), expected, `${verb} ${resource} in ${namespace}`);
  }
});

test('the API server is asked about every user, who then sees what kubectl would show', async () => {
  await using opened = await openPage();
  const { get } = opened;
  assert.equal((await get('/')).status, 401);
  assert.equal((await get('/', 'forged')).status, 401);

  const viewer = await tokenOf('payments', 'viewer');
  // The controller that adds our rights to `view` has to come round once.
  const who = 'system:serviceaccount:payments:viewer';
  const seesThem = () => may(who, 'list', 'etcdclusters.etcd.ratchet.dev', 'payments');
  await until('view has our rights', seesThem, { within: 60 });
  const home = await get('/', viewer);
  assert.equal(home.status, 200);
  assert.match(home.body, /payments\/orders/);
  assert.doesNotMatch(home.body, /web\/orders/);
  assert.equal((await get('/clusters/payments/orders', viewer)).status, 200);
  assert.equal((await get('/clusters/web/orders', viewer)).status, 403);

  const nobody = await get('/', await tokenOf('web', 'nobody'));
  assert.match(nobody.body, /Nothing that you may see/);
});

test('without page-plans a cluster is shown without its plan, and says why', async () => {
  await using opened = await openPage();
  const { status, body } = await opened.get('/clusters/payments/orders', await tokenOf('payments', 'viewer'));
  assert.equal(status, 200);
  assert.match(body, /This page may not read what a plan is made from: add the component page-plans/);
});

test('with page-plans it has a plan, from an API server that runs no etcd yet', async () => {
  await api.kubectl(['apply', '-f', '-'], { stdin: rendered.get('planning') ?? '' });
  await using opened = await openPage();
  const { body } = await opened.get('/clusters/payments/orders', await tokenOf('payments', 'viewer'));
  assert.match(body, /\d+ steps: \+3 members/);
  assert.equal(await may(us, 'list', 'secrets', 'payments'), false);
  assert.equal(await may(us, 'update', 'secrets', 'payments'), false);
});

test('alone it listens on loopback without a Service; shared it authenticates users', () => {
  const own = find('own', 'Deployment');
  assert.deepEqual(environmentOf(own).RATCHET_HOST, '127.0.0.1');
  assert.equal(find('own', 'Service'), undefined);
  assert.doesNotMatch(JSON.stringify(own), /httpGet|containerPort/);
  const shared = find('shared', 'Deployment');
  assert.ok(!('RATCHET_HOST' in environmentOf(shared)));
  assert.doesNotMatch(JSON.stringify(shared), /exec/);
  assert.ok(find('shared', 'Service'));
  for (const name of rendered.keys()) assert.doesNotMatch(rendered.get(name) ?? '', /kind: Ingress/);
});

test('each variant passes restricted Pod Security', async () => {
  for (const name of rendered.keys()) {
    const { spec } = (find(name, 'Deployment') ?? assert.fail()) as { spec: { template: { spec: object } } };
    const metadata = { name: 'page', namespace: 'etcd-ratchet' };
    const pod = { apiVersion: 'v1', kind: 'Pod', metadata, spec: spec.template.spec };
    const made = await api.send('POST', '/api/v1/namespaces/etcd-ratchet/pods?dryRun=All', pod);
    assert.equal(made.status, 201, `${name}: ${made.body.message}`);
  }
});

test('the namespaced variant has nothing cluster-wide, and looks at its namespace', async () => {
  const text = rendered.get('namespaced') ?? '';
  assert.doesNotMatch(text, /kind: Cluster/);
  assert.ok('RATCHET_NAMESPACE' in environmentOf(find('namespaced', 'Deployment')));
  await api.kubectl(['apply', '--dry-run=server', '-f', '-'], { stdin: text });
});

function specOf(namespace: string) {
  return {
    apiVersion: 'etcd.ratchet.dev/v1alpha1',
    kind: 'EtcdCluster',
    metadata: { name: 'orders', namespace },
    spec: { replicas: 3, version: '3.6.16', storage: { size: '1Gi' } },
  };
}

/** The page as its pod runs it: with the rights of its service account. */
async function openPage() {
  const directory = await mkdtemp(join(tmpdir(), 'ratchet-page-'));
  const config = JSON.parse(await api.kubectl(['config', 'view', '--raw', '--minify', '-o', 'json']));
  config.users[0].user = { token: await tokenOf('etcd-ratchet', 'etcd-ratchet-page') };
  const kubeconfig = join(directory, 'kubeconfig');
  await writeFile(kubeconfig, JSON.stringify(config));
  const kube = await connectKube({ userAgent: 'etcd-ratchet/test', kubeconfig });
  const stop = new AbortController().signal;
  const { app } = await page({ kube, log: () => undefined, env: {}, version: 'test', stop });
  return {
    get: async (path: string, token?: string) => {
      const headers = token === undefined ? {} : { authorization: `Bearer ${token}` };
      const answer = await app.request(path, { headers });
      return { status: answer.status, body: await answer.text() };
    },
    [Symbol.asyncDispose]: async () => {
      kube.close();
      await rm(directory, { recursive: true });
    },
  };
}

async function tokenOf(namespace: string, name: string): Promise<string> {
  const path = `/api/v1/namespaces/${namespace}/serviceaccounts/${name}/token`;
  const { body } = await api.send('POST', path, { apiVersion: 'authentication.k8s.io/v1', kind: 'TokenRequest' });
  return (body.status as { token: string }).token;
}

async function may(user: string, verb: string, what: string, namespace: string): Promise<boolean> {
  const [resourceAndGroup = '', subresource] = what.split('/');
  const [resource = '', ...group] = resourceAndGroup.split('.');
  const resourceAttributes = { namespace, verb, resource, group: group.join('.'), subresource };
  const { status, body } = await api.send('POST', '/apis/authorization.k8s.io/v1/subjectaccessreviews', {
    apiVersion: 'authorization.k8s.io/v1',
    kind: 'SubjectAccessReview',
    spec: { user, resourceAttributes },
  });
  assert.equal(status, 201, body.message);
  return (body.status as { allowed: boolean }).allowed;
}

/** As a person would write it, beside the repository. */
async function kustomized(variant: string, components: readonly string[]): Promise<string> {
  const directory = await mkdtemp(join(tmpdir(), 'ratchet-'));
  try {
    const kustomization = {
      apiVersion: 'kustomize.config.k8s.io/v1beta1',
      kind: 'Kustomization',
      resources: [relative(directory, join(install, variant))],
      components: components.map((component) => relative(directory, join(install, 'components', component))),
    };
    await writeFile(join(directory, 'kustomization.yaml'), JSON.stringify(kustomization));
    return await api.kubectl(['kustomize', directory]);
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
}

interface Found {
  readonly kind: string;
  readonly metadata: { readonly name: string };
  readonly spec?: {
    readonly template?: {
      readonly spec: { readonly containers: readonly { env: { name: string; value?: string }[] }[] };
    };
  };
}

function find(variant: string, kind: string): Found | undefined {
  const documents = parseAllDocuments(rendered.get(variant) ?? '').map((document) => document.toJS() as Found);
  return documents.find((one) => one.kind === kind && one.metadata.name === 'etcd-ratchet-page');
}

function environmentOf(deployment: Found | undefined): Record<string, string | undefined> {
  const [container] = deployment?.spec?.template?.spec.containers ?? [];
  return Object.fromEntries((container?.env ?? []).map(({ name, value }) => [name, value]));
}
