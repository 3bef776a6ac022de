import assert from 'node:assert/strict';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { after, test } from 'node:test';
import { parseAllDocuments } from 'yaml';
import { install, startApiServer } from './api-server.ts';

const api = await startApiServer();
after(() => api[Symbol.asyncDispose]());

const us = 'system:serviceaccount:etcd-ratchet:etcd-ratchet';
const verbs = ['get', 'list', 'create', 'update', 'delete'];

test('the plain installation knows nothing of cert-manager', async () => {
  for (const variant of ['', '/namespaced']) {
    const documents = parseAllDocuments(await api.kubectl(['kustomize', `${install}${variant}`]));
    const roles = documents.map((document) => document.toJS()).filter(({ kind }) => /Role/.test(kind));
    assert.ok(roles.length > 2);
    assert.doesNotMatch(JSON.stringify(roles), /cert-manager/);
  }
  await api.kubectl(['apply', '-k', install]);
  for (const verb of verbs) assert.equal(await may(verb, 'certificates'), false, verb);
});

test('with the component, etcd-ratchet may ask for Certificates and signatures only', async () => {
  await using kustomization = await withComponent('', 'cert-manager');
  await api.kubectl(['apply', '-k', kustomization.directory]);
  for (const verb of verbs) assert.equal(await may(verb, 'certificates'), true, verb);
  assert.equal(await may('watch', 'certificates'), false, 'nothing waits for one by watch');
  for (const verb of ['get', 'create', 'delete']) assert.equal(await may(verb, 'certificaterequests'), true, verb);
  for (const verb of ['list', 'update', 'watch']) assert.equal(await may(verb, 'certificaterequests'), false, verb);
  for (const other of ['issuers', 'clusterissuers', 'certificaterequests', 'certificates/status']) {
    assert.equal(await may('update', other), false, other);
  }
});

test('the namespaced component grants the same in one namespace, and nothing cluster-wide', async () => {
  await using whole = await withComponent('', 'cert-manager');
  await using namespaced = await withComponent('namespaced', 'cert-manager-namespaced');
  const [cluster, one] = await Promise.all([rulesIn(whole.directory), rulesIn(namespaced.directory)]);
  assert.equal(cluster.kind, 'ClusterRole');
  assert.equal(one.kind, 'Role');
  assert.deepEqual(one.rules, cluster.rules);
  const rendered = await api.kubectl(['kustomize', namespaced.directory]);
  assert.doesNotMatch(rendered, /kind: Cluster/);
  await api.kubectl(['apply', '--dry-run=server', '-f', '-'], { stdin: rendered });
});

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

async function rulesIn(directory: string): Promise<{ readonly kind: string; readonly rules: unknown }> {
  const documents = parseAllDocuments(await api.kubectl(['kustomize', directory])).map((document) => document.toJS());
  const [role, ...others] = documents.filter(
    ({ kind, metadata }) => /Role$/.test(kind) && metadata.name === 'etcd-ratchet-cert-manager',
  );
  assert.deepEqual(others, []);
  return role;
}

async function may(verb: string, what: string): Promise<boolean> {
  const [resource, subresource] = what.split('/');
  const resourceAttributes = { namespace: 'payments', verb, group: 'cert-manager.io', resource, subresource };
  const { status, body } = await api.send('POST', '/apis/authorization.k8s.io/v1/subjectaccessreviews', {
    apiVersion: 'authorization.k8s.io/v1',
    kind: 'SubjectAccessReview',
    spec: { user: us, resourceAttributes },
  });
  assert.equal(status, 201, body.message);
  return (body.status as { readonly allowed: boolean }).allowed;
}
