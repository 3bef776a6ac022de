import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { parseAllDocuments } from 'yaml';
import { type Kubectl, Refusal } from '../../../functions/plugin/command.ts';
import { installed } from '../../../functions/plugin/pre/rights.ts';
import { definitions } from '../../../manifests/api/kinds.ts';
import { crdOf } from '../../../manifests/install/crd.ts';
import { type KubeObject, type Resource, resources } from '../../../reconcile/interfaces/kube.ts';
import { createFakeKube, type FakeKube } from '../../support/fakes/kube.ts';
import { noKubectl, now, saidOn } from '../../support/plugin/said.ts';

const storageClasses: Resource = {
  ...{ apiVersion: 'storage.k8s.io/v1', kind: 'StorageClass' },
  ...{ plural: 'storageclasses', clusterScoped: true },
};
const standard: KubeObject & { readonly allowVolumeExpansion: boolean } = {
  metadata: { name: 'standard', annotations: { 'storageclass.kubernetes.io/is-default-class': 'true' } },
  allowVolumeExpansion: true,
};
const stiff: KubeObject = { ...standard, ...{ allowVolumeExpansion: false } };

interface Scene {
  readonly minor: string;
  readonly served: Readonly<Record<string, string>>;
  readonly classes: readonly KubeObject[];
  readonly namespaces: readonly KubeObject[];
  readonly definitions: readonly KubeObject[];
  readonly mayNot: readonly string[];
  readonly clock: Date;
}

const fine: Scene = {
  minor: '36',
  served: {
    '/apis/admissionregistration.k8s.io/v1': '{"resources":[{"name":"validatingadmissionpolicies"}]}',
    '/apis/cert-manager.io/v1': '{"resources":[{"name":"certificates"}]}',
  },
  ...{ classes: [standard], namespaces: [], definitions: [], mayNot: [], clock: now },
};

async function checked(scene: Partial<Scene>, ...args: readonly string[]) {
  const { minor, served, classes, namespaces, definitions: crds, mayNot, clock } = { ...fine, ...scene };
  const fake = createFakeKube({ clock: () => clock, authorize: ({ resource }) => !mayNot.includes(resource.plural) });
  fake.seed(storageClasses, ...classes);
  fake.seed(resources.namespaces, ...namespaces);
  fake.seed(resources.customResourceDefinitions, ...crds);
  const create: FakeKube['create'] = async (resource, object, options) => {
    if (resource.kind !== 'SelfSubjectAccessReview') return fake.create(resource, object, options);
    const { verb = '', resource: plural = '' } = (object as unknown as Review).spec.resourceAttributes;
    return { ...object, status: { allowed: !mayNot.includes(`${verb} ${plural}`) } };
  };
  const kubectl: Kubectl = {
    ...noKubectl,
    text: async ([, , path = '']) => {
      if (path === '/version') return JSON.stringify({ major: '1', minor, gitVersion: `v1.${minor}.0` });
      if (path !== '/apis') return served[path] ?? Promise.reject(new Refusal(`kubectl get failed: ${path}`));
      const groups = Object.keys(served).map((one) => one.split('/').slice(2));
      return JSON.stringify({ groups: groups.map(([name, version]) => ({ name, versions: [{ version }] })) });
    },
  };
  return saidOn({ ...fake, create }, ['check', '--pre', ...args], {}, { kubectl });
}

interface Review {
  readonly spec: { readonly resourceAttributes: { readonly verb?: string; readonly resource?: string } };
}

test('where all is there, each line says ok, and the code is 0', async () => {
  const { code, out, err } = await checked({}, '--cert-manager');
  assert.equal(code, 0, err);
  const [heads, ...lines] = out.trimEnd().split('\n');
  assert.match(heads ?? '', /^WHAT +IS +SAYS$/);
  assert.equal(lines.length, 8);
  for (const line of lines) assert.match(line, /^\S+ +ok +\S/);
});

const namespaceWith = (labels: Readonly<Record<string, string>>, more = {}): KubeObject => ({
  metadata: { name: 'etcd-ratchet', labels, ...more },
});
const current = crdOf(definitions.EtcdCluster) as KubeObject & { readonly spec: object };
const older = { ...current, spec: { ...current.spec, versions: [{ name: 'v1alpha1', schema: {} }] } };

for (const [title, scene, line] of [
  ['Kubernetes is too old', { minor: '32+' }, /^version +do +Kubernetes v1\.32\+\.0: upgrade it to 1\.33 or newer$/m],
  ['no policies are served', { served: {} }, /^policies +do +ValidatingAdmissionPolicy is not served: /m],
  ['there is no default class', { classes: [] }, /^storage +do +there is no default StorageClass: /m],
  [
    'the default class lets no volume grow',
    { classes: [stiff] },
    /^storage +do +default StorageClass standard lets no volume grow: kubectl patch storageclass standard /m,
  ],
  [
    'the namespace enforces less',
    { namespaces: [namespaceWith({ 'pod-security.kubernetes.io/enforce': 'privileged' })] },
    /^namespace +do +namespace etcd-ratchet enforces Pod Security privileged: kubectl label --overwrite /m,
  ],
  [
    'the namespace is going',
    { namespaces: [namespaceWith({}, { deletionTimestamp: '2026-11-23T12:00:00Z' })] },
    /^namespace +do +namespace etcd-ratchet is being deleted: wait/m,
  ],
  [
    'a CRD is of another version',
    { definitions: [older] },
    /^CRDs +do +the CRDs etcdclusters are of another version: kubectl apply --server-side -k manifests\/install\/crds/m,
  ],
  [
    'this person may not make roles',
    { mayNot: ['create clusterroles', 'escalate clusterroles'] },
    /^rights +do +you may not create clusterroles, escalate clusterroles: /m,
  ],
  [
    'the clocks differ',
    { clock: new Date(now.getTime() + 90_000) },
    /^clock +do +the clock of the API server is 90 s ahead of this one: /m,
  ],
] as const)
  test(`where ${title}, its line says what to do, and the code is 3`, async () => {
    const { code, out } = await checked(scene);
    assert.match(out, line);
    assert.equal(code, 3);
  });

test('cert-manager is looked for only where clusters will need it', async () => {
  const { '/apis/cert-manager.io/v1': _, ...served } = fine.served;
  assert.equal((await checked({ served })).code, 0);
  const { code, out } = await checked({ served }, '--cert-manager');
  assert.match(out, /^cert-manager +do +cert-manager\.io\/v1 is not served: install cert-manager/m);
  assert.equal(code, 3);
});

test('what a person may not see is unknown, hides no other line, and the code is 4', async () => {
  const { code, out } = await checked({ mayNot: ['storageclasses'] }, '-o', 'json');
  const { checks } = JSON.parse(out);
  assert.deepEqual(
    checks.filter(({ verdict }: { verdict: string }) => verdict !== 'ok').map(({ what }: { what: string }) => what),
    ['storage'],
  );
  assert.equal(code, 4);
});

test('an answer that can not be had, or is none, is never taken for an answer', async () => {
  const path = '/apis/admissionregistration.k8s.io/v1';
  const kubectl: Kubectl = {
    ...noKubectl,
    text: async () => Promise.reject(new Refusal('kubectl get failed: NotFound')),
  };
  const said = await saidOn(createFakeKube(), ['check', '--pre'], {}, { kubectl });
  assert.deepEqual([said.code, said.out], [1, '']);
  assert.match(said.err, /kubectl get failed: NotFound/);
  for (const answer of ['null', '7', '{"resources":[null]}', '"validatingadmissionpolicies"', '<html>'])
    assert.match((await checked({ served: { [path]: answer } })).out, /^policies +do +/m, answer);
});

test('a cluster and --pre, or neither, is wrong usage', async () => {
  const kube = createFakeKube();
  for (const args of [['check'], ['check', 'orders', '--pre'], ['check', 'orders', '--cert-manager']])
    assert.equal((await saidOn(kube, args)).code, 2, args.join(' '));
});

test('the rights that are asked for are those of the kinds that an installation has', () => {
  const root = join(import.meta.dirname, '../../../manifests/install');
  const files = ['cluster', 'own-account', 'workload', 'crds'].flatMap((folder) =>
    globSync(`${root}/${folder}/*.yaml`),
  );
  const kinds = new Set(
    files
      .flatMap((file) => parseAllDocuments(readFileSync(file, 'utf8')).map((one) => one.toJS()))
      .map(({ kind }: { kind: string }) => kind)
      .filter((kind) => kind !== 'Kustomization'),
  );
  const pluralOf = (kind: string) => `${kind.toLowerCase().replace(/y$/, 'ie').replace(/(ss)$/, '$1e')}s`;
  const asked = [...installed.clusterWide, ...installed.inItsNamespace].map(([, plural]) => plural as string);
  assert.deepEqual(asked.toSorted(), [...kinds].map(pluralOf).toSorted());
});
