import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdtemp, realpath, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join, relative, resolve } from 'node:path';
import { after, describe, test } from 'node:test';
import { promisify } from 'node:util';
import { parseAllDocuments } from 'yaml';
import { packageChart } from '../../../functions/package-chart.ts';
import { type Component, kustomizationOf } from '../../../manifests/helm/chart.ts';
import { version } from '../../../manifests/release.ts';
import { provisionBinaries } from '../../support/cluster/binaries.ts';
import { helmFor } from '../../support/cluster/helm.ts';
import { kubectlFor } from '../../support/cluster/kubectl.ts';
import { tools } from '../../support/cluster/tools.ts';

const manifests = resolve(import.meta.dirname, '../../../manifests');
const chart = join(manifests, 'helm/etcd-ratchet');

const { kubernetes } = await provisionBinaries();
const kubectl = kubectlFor(kubernetes.kubectl, '/dev/null');
const home = await realpath(await mkdtemp(join(tmpdir(), 'chart-')));
after(() => rm(home, { recursive: true }));

interface Manifest {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: {
    readonly name: string;
    readonly namespace?: string;
    readonly annotations?: Readonly<Record<string, string>>;
  };
}

const helm = helmFor(await tools.helm.provide(), home);

type Objects = Map<string, Manifest>;

function template(...settings: readonly string[]): Promise<string> {
  return templateIn('etcd-ratchet', ...settings);
}

function templateIn(namespace: string, ...settings: readonly string[]): Promise<string> {
  const sets = settings.flatMap((one) => ['--set-json', one]);
  return helm(['template', 'etcd-ratchet', chart, '--namespace', namespace, '--skip-tests', ...sets]);
}

function objectsIn(text: string): Objects {
  const found = new Map<string, Manifest>();
  for (const document of parseAllDocuments(text)) {
    assert.deepEqual(document.errors, []);
    const object = document.toJS() as Manifest | null;
    if (object === null) continue;
    const { apiVersion, kind, metadata } = object;
    const key = `${apiVersion} ${kind} ${metadata.namespace ?? ''}/${metadata.name}`;
    assert.ok(!found.has(key), `${key} is there twice`);
    found.set(key, object);
  }
  return found;
}

/** What only Helm reads. */
function withoutPolicy(object: Manifest): Manifest {
  const { annotations, ...metadata } = object.metadata;
  if (object.kind !== 'CustomResourceDefinition') return object;
  assert.deepEqual(annotations, { 'helm.sh/resource-policy': 'keep' });
  return { ...object, metadata };
}

const usual = 'etcd-ratchet';

async function kustomized(namespaced: boolean, on: readonly Component[], namespace = usual): Promise<Objects> {
  const { resources, components } = kustomizationOf(namespaced, on);
  const directory = await mkdtemp(join(home, 'own-'));
  const from = (paths: readonly string[]) => paths.map((path) => relative(directory, join(manifests, path)));
  const content = { resources: from(resources), components: from(components) };
  const moved = namespace === usual ? content : { ...content, namespace };
  await writeFile(join(directory, 'kustomization.yaml'), JSON.stringify(moved));
  return objectsIn(await kubectl(['kustomize', directory]));
}

async function charted(namespaced: boolean, on: readonly Component[], namespace = usual): Promise<Objects> {
  const rendered = await templateIn(
    namespace,
    ...(namespaced ? ['namespaced=true'] : ['namespace={"create":true}']),
    ...on.map((name) => `components.${name}.enabled=true`),
  );
  return new Map([...objectsIn(rendered)].map(([key, object]) => [key, withoutPolicy(object)]));
}

function subsets<T>(all: readonly T[]): T[][] {
  const [first, ...others] = all;
  if (first === undefined) return [[]];
  return subsets(others).flatMap((set) => [set, [first, ...set]]);
}

const everywhere: readonly Component[] = ['certManager', 'webhooks', 'page', 'pageShared'];
const clusterWide: readonly Component[] = ['pagePlans', 'nodeReboots'];

for (const namespaced of [false, true]) {
  test(`with any components ${namespaced ? 'in one namespace' : 'everywhere'}, the chart renders what kustomize does`, async () => {
    const all = subsets(namespaced ? everywhere : [...everywhere, ...clusterWide]).filter(
      (on) => on.includes('page') || !(on.includes('pageShared') || on.includes('pagePlans')),
    );
    assert.equal(all.length, namespaced ? 12 : 40);
    for (const on of all) {
      const [ours, theirs] = await Promise.all([charted(namespaced, on), kustomized(namespaced, on)]);
      assert.deepEqual([...ours.keys()].toSorted(), [...theirs.keys()].toSorted(), on.join());
      for (const [key, object] of theirs) assert.deepEqual(ours.get(key), object, `${on.join()}: ${key}`);
    }
  });
}

const further: readonly Component[] = ['storageMigration', 'shards', 'metrics', 'prometheusOperator', 'dashboards'];

test('with each further component, and with all, the chart renders what kustomize does', async () => {
  for (const on of [...further.map((one) => [one]), [...everywhere, ...clusterWide, ...further]]) {
    const [ours, theirs] = await Promise.all([charted(false, on), kustomized(false, on)]);
    assert.deepEqual([...ours.keys()].toSorted(), [...theirs.keys()].toSorted(), on.join());
    for (const [key, object] of theirs) assert.deepEqual(ours.get(key), object, `${on.join()}: ${key}`);
  }
});

/** Its second namespace makes kustomize refuse `namespace`. */
const movable = clusterWide.filter((name) => name !== 'nodeReboots');

for (const namespaced of [false, true]) {
  test(`in another namespace the chart renders what kustomize does${namespaced ? ', for that one only' : ''}`, async () => {
    const on = namespaced ? [...everywhere, 'shards' as const] : [...everywhere, ...movable, ...further];
    const [ours, theirs] = await Promise.all([charted(namespaced, on, 'moved'), kustomized(namespaced, on, 'moved')]);
    // kustomize does not know that policies belong to no namespace, and the API server passes over it.
    const known = [...theirs].map(([key, object]) =>
      isPolicy(object) ? inNoNamespace(object) : ([key, object] as const),
    );
    assert.deepEqual([...ours.keys()].toSorted(), known.map(([key]) => key).toSorted());
    for (const [key, object] of known) assert.deepEqual(ours.get(key), object, key);
  });
}

function isPolicy({ kind }: Manifest): boolean {
  return kind.startsWith('ValidatingAdmissionPolicy');
}

function inNoNamespace(object: Manifest): readonly [string, Manifest] {
  const { namespace: _, ...metadata } = object.metadata;
  return [`${object.apiVersion} ${object.kind} /${metadata.name}`, { ...object, metadata }];
}

test('by default it is the whole installation but the Namespace, which Helm makes before', async () => {
  const ours = [...objectsIn(await template()).keys()];
  const theirs = [...(await kustomized(false, [])).keys()];
  assert.deepEqual(
    theirs.filter((key) => !ours.includes(key)),
    ['v1 Namespace /etcd-ratchet'],
  );
  assert.deepEqual(
    ours.filter((key) => !theirs.includes(key)),
    [],
  );
});

test('in another namespace nothing names etcd-ratchet’s usual one', async () => {
  const all = [
    'certManager',
    'webhooks',
    'page',
    'pageShared',
    'pagePlans',
    'nodeReboots',
    'storageMigration',
    'shards',
  ];
  const sets = all.flatMap((name) => ['--set', `components.${name}.enabled=true`]);
  const rendered = await helm([
    'template',
    'x',
    chart,
    '--namespace',
    'elsewhere',
    '--set',
    'namespace.create=true',
    ...sets,
  ]);
  const objects = [...objectsIn(rendered).values()];
  assert.doesNotMatch(rendered, /namespace: "?etcd-ratchet"?$/m);
  assert.ok(objects.some(({ kind, metadata }) => kind === 'Namespace' && metadata.name === 'elsewhere'));
});

test('each value that is set arrives where the schema says that it may', async () => {
  const rendered = await template(
    `image={"repository":"registry.example.com/ours","digest":"sha256:${'a'.repeat(64)}","pullPolicy":"Always"}`,
    'imagePullSecrets=[{"name":"pull"}]',
    'tick={"schedule":"*/5 * * * *","priorityClassName":"","resources":{"limits":{"memory":"1Gi"}}}',
    'nodeSelector={"pool":"infra: {{ .Values }}"}',
    'tolerations=[{"key":"infra","operator":"Exists","effect":"NoSchedule"}]',
    'affinity={"nodeAffinity":{"requiredDuringSchedulingIgnoredDuringExecution":{"nodeSelectorTerms":[]}}}',
    'settings={"RATCHET_HOSTS":"git.example.com *.example.com"}',
    'components.webhooks={"enabled":true,"secretNames":["one","two"],"from":[{"ipBlock":{"cidr":"10.0.0.0/8"}}]}',
    'components.page.enabled=true',
  );
  const objects = objectsIn(rendered);
  const cronJob = objects.get('batch/v1 CronJob etcd-ratchet/etcd-ratchet') as unknown as CronJob;
  assert.equal(cronJob.spec.schedule, '*/5 * * * *');
  const pods = [
    cronJob.spec.jobTemplate.spec,
    ...['webhooks', 'page'].map(
      (name) => (objects.get(`apps/v1 Deployment etcd-ratchet/etcd-ratchet-${name}`) as unknown as CronJob).spec,
    ),
  ].map(({ template }) => template.spec);
  for (const pod of pods) {
    assert.deepEqual(pod.nodeSelector, { pool: 'infra: {{ .Values }}' });
    assert.deepEqual(pod.imagePullSecrets, [{ name: 'pull' }]);
    assert.equal(pod.tolerations.length, 1);
    assert.ok(pod.affinity);
    assert.equal(pod.containers[0].image, `registry.example.com/ours@sha256:${'a'.repeat(64)}`);
    assert.equal(pod.containers[0].imagePullPolicy, 'Always');
  }
  assert.equal(pods[0]?.priorityClassName, '');
  assert.equal(pods[0]?.containers[0].resources.limits.memory, '1Gi');
  const role = objects.get('rbac.authorization.k8s.io/v1 Role etcd-ratchet/etcd-ratchet-webhooks');
  assert.deepEqual((role as unknown as { rules: [{ resourceNames: string[] }] }).rules[0].resourceNames, [
    'one',
    'two',
  ]);
  const settings = objects.get('v1 ConfigMap etcd-ratchet/etcd-ratchet-settings');
  assert.deepEqual((settings as unknown as { data: object }).data, { RATCHET_HOSTS: 'git.example.com *.example.com' });
});

interface CronJob {
  readonly spec: PodOwner & { readonly schedule: string; readonly jobTemplate: { readonly spec: PodOwner } };
}

interface PodOwner {
  readonly template: {
    readonly spec: {
      readonly nodeSelector: object;
      readonly imagePullSecrets: readonly object[];
      readonly tolerations: readonly object[];
      readonly affinity: object;
      readonly priorityClassName?: string;
      readonly containers: readonly [
        {
          readonly image: string;
          readonly imagePullPolicy: string;
          readonly resources: { readonly limits: { readonly memory: string } };
        },
      ];
    };
  };
}

test('strict has a list that is not set allow nothing, beside the settings that are', async () => {
  const data = async (...settings: string[]) => {
    const found = objectsIn(await template(...settings)).get('v1 ConfigMap etcd-ratchet/etcd-ratchet-settings');
    return (found as unknown as { data?: object } | undefined)?.data;
  };
  assert.equal(await data(), undefined);
  assert.deepEqual(await data('strict=true'), { RATCHET_STRICT: 'Enabled' });
  const listed = { RATCHET_IMAGES: 'quay.io/coreos/etcd' };
  const settings = `settings=${JSON.stringify(listed)}`;
  assert.deepEqual(await data(settings, 'strict=true'), { ...listed, RATCHET_STRICT: 'Enabled' });
  assert.deepEqual(await data('settings={"RATCHET_STRICT":"Enabled"}', 'strict=true'), { RATCHET_STRICT: 'Enabled' });
});

describe('a wrong value is refused by name', () => {
  for (const [setting, says] of [
    ['components.webhook={"enabled":true}', /components.*webhook/s],
    ['components.webhooks.enabled="yes"', /components\/webhooks\/enabled/],
    ['components.webhooks.secretNames=[]', /secretNames/],
    ['image.digest="latest"', /image\/digest/],
    ['image.tag="v1 --x"', /image\/tag/],
    ['image.tag="ü"', /image\/tag/],
    [`image.tag="${'v'.repeat(129)}"`, /image\/tag/],
    ['image.repository=""', /image\/repository/],
    ['tick.schedule="hourly"', /tick\/schedule/],
    ['tick.resources={"memory":"1Gi"}', /tick\/resources/],
    ['tolerations={"key":"a"}', /tolerations/],
    ['settings={"RATCHET_HOSTS":["a"]}', /settings\/RATCHET_HOSTS/],
    ['settings={"ratchet-hosts":"a"}', /settings.*ratchet-hosts/],
    ['crds.keep="false"', /crds\/keep/],
    ['replicas=2', /replicas/],
    ['components.pageShared.enabled=true', /components\.pageShared\.enabled needs components\.page\.enabled/],
    ['components.pagePlans.enabled=true', /components\.pagePlans\.enabled needs components\.page\.enabled/],
  ] as const) {
    test(setting.slice(0, 60), async () => {
      await assert.rejects(template(setting), says);
    });
  }

  for (const name of ['nodeReboots', 'pagePlans', 'storageMigration'] as const) {
    test(`${name} is not for one namespace`, async () => {
      await assert.rejects(
        template('namespaced=true', 'components.page.enabled=true', `components.${name}.enabled=true`),
        new RegExp(`components\\.${name}\\.enabled .* set one of the two`),
      );
    });
  }
});

test('the CRDs go with the release only where that is asked for', async () => {
  const crds = async (...settings: string[]) =>
    [...objectsIn(await template(...settings)).values()].filter(({ kind }) => kind === 'CustomResourceDefinition');
  assert.equal((await crds()).length, 7);
  assert.equal((await crds('crds.enabled=false')).length, 0);
  assert.equal((await crds('namespaced=true')).length, 0);
  for (const { metadata } of await crds('crds.keep=false')) assert.equal(metadata.annotations, undefined);
});

test('what npm run package packs is the chart, with its licence', async () => {
  const archive = await packageChart(home);
  assert.equal(basename(archive), `etcd-ratchet-${version}.tgz`);
  const packed = await helm(['template', 'etcd-ratchet', archive, '--namespace', 'etcd-ratchet', '--skip-tests']);
  assert.equal(packed, await template());
  const listed = await promisify(execFile)('tar', ['-tzf', archive]);
  assert.match(listed.stdout, /^etcd-ratchet\/LICENSE$/m);
  assert.match(await helm(['show', 'chart', archive]), new RegExp(`^appVersion: ${version}$`, 'm'));
});

test('helm lint finds nothing to say', async () => {
  assert.match(await helm(['lint', '--strict', chart]), /0 chart\(s\) failed/);
});
