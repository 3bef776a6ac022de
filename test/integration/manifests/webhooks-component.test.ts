import assert from 'node:assert/strict';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { after, test } from 'node:test';
import { parseAllDocuments } from 'yaml';
import { install, startApiServer } from './api-server.ts';

const api = await startApiServer();
after(() => api[Symbol.asyncDispose]());

const server = 'system:serviceaccount:etcd-ratchet:etcd-ratchet-webhooks';

test('the plain installation listens to nothing', async () => {
  for (const variant of ['', '/namespaced']) {
    const kinds = kindsIn(await api.kubectl(['kustomize', `${install}${variant}`]));
    assert.ok(!kinds.includes('Deployment') && !kinds.includes('Service'), kinds.join());
  }
});

test('applying the component a second time changes nothing', async () => {
  await using made = await withComponent('', 'webhooks');
  await api.kubectl(['apply', '-k', made.directory]);
  const lines = (await api.kubectl(['apply', '-k', made.directory])).trim().split('\n');
  for (const line of lines) assert.match(line, / unchanged$/);
  for (const [verb, resource, name, group, namespace] of allowed) {
    assert.equal(await may(verb, resource, name, group, namespace), true, `${verb} ${resource} ${name}`);
  }
  for (const [verb, resource, name, group, namespace] of denied) {
    assert.equal(await may(verb, resource, name, group, namespace), false, `${verb} ${resource} ${name}`);
  }
});

const allowed = [
  ['list', 'etcdfleets', '', 'etcd.ratchet.dev', 'payments'],
  ['get', 'secrets', 'webhook', '', 'etcd-ratchet'],
  ['get', 'cronjobs', 'etcd-ratchet', 'batch', 'etcd-ratchet'],
  ['list', 'jobs', '', 'batch', 'etcd-ratchet'],
  ['create', 'jobs', '', 'batch', 'etcd-ratchet'],
] as const;

const denied = [
  ['get', 'secrets', 'git-credentials', '', 'etcd-ratchet'],
  ['get', 'secrets', 'orders-peer-ca', '', 'payments'],
  ['list', 'secrets', '', '', 'etcd-ratchet'],
  ['update', 'etcdfleets', 'production', 'etcd.ratchet.dev', 'etcd-ratchet'],
  ['list', 'etcdclusters', '', 'etcd.ratchet.dev', 'payments'],
  ['update', 'cronjobs', 'etcd-ratchet', 'batch', 'etcd-ratchet'],
  ['create', 'jobs', '', 'batch', 'payments'],
  ['delete', 'jobs', 'x', 'batch', 'etcd-ratchet'],
  ['create', 'pods', '', '', 'etcd-ratchet'],
  ['impersonate', 'serviceaccounts', 'fleet', '', 'etcd-ratchet'],
] as const;

test("the server's pod passes the namespace's restricted Pod Security", async () => {
  const { body } = await api.send('GET', '/apis/apps/v1/namespaces/etcd-ratchet/deployments/etcd-ratchet-webhooks');
  const { spec } = body as { spec: { template: { spec: object } } };
  const pod = {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name: 'webhooks', namespace: 'etcd-ratchet' },
    spec: spec.template.spec,
  };
  const made = await api.send('POST', '/api/v1/namespaces/etcd-ratchet/pods?dryRun=All', pod);
  assert.equal(made.status, 201, made.body.message);
});

test('the namespaced component has nothing that is cluster-wide, and looks at one namespace', async () => {
  await using made = await withComponent('namespaced', 'webhooks-namespaced');
  const rendered = await api.kubectl(['kustomize', made.directory]);
  assert.doesNotMatch(rendered, /kind: (Cluster|ValidatingAdmission)/);
  assert.match(rendered, /RATCHET_NAMESPACE/);
  await api.kubectl(['apply', '--dry-run=server', '-f', '-'], { stdin: rendered });
});

test("what manifests/knative adds beside Knative's own kinds is taken by the server", async () => {
  const rendered = await api.kubectl(['kustomize', join(install, '../knative')]);
  const plain = parseAllDocuments(rendered).filter((one) => !String(one.get('apiVersion')).includes('knative.dev'));
  assert.ok(plain.length >= 6);
  await api.kubectl(['apply', '--dry-run=server', '-f', '-'], { stdin: plain.map(String).join('\n---\n') });
});

function kindsIn(rendered: string): readonly string[] {
  return parseAllDocuments(rendered).map((document) => String(document.get('kind')));
}

/** As a person would write it, beside the repository. */
async function withComponent(variant: string, component: string): Promise<AsyncDisposable & { directory: string }> {
  const directory = await mkdtemp(join(tmpdir(), 'ratchet-'));
  const kustomization = {
    apiVersion: 'kustomize.config.k8s.io/v1beta1',
    kind: 'Kustomization',
    resources: [relative(directory, join(install, variant))],
    components: [relative(directory, join(install, 'components', component))],
  };
  await writeFile(join(directory, 'kustomization.yaml'), JSON.stringify(kustomization));
  return { directory, [Symbol.asyncDispose]: () => rm(directory, { recursive: true, force: true }) };
}

async function may(verb: string, resource: string, name: string, group: string, namespace: string): Promise<boolean> {
  const { status, body } = await api.send('POST', '/apis/authorization.k8s.io/v1/subjectaccessreviews', {
    apiVersion: 'authorization.k8s.io/v1',
    kind: 'SubjectAccessReview',
    spec: { user: server, resourceAttributes: { namespace, verb, resource, name, group } },
  });
  assert.equal(status, 201, body.message);
  return (body.status as { allowed: boolean }).allowed;
}
