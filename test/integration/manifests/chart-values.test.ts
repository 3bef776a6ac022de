/** The values that people know from other charts: where they arrive, and what is refused, and why. */

import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { after, describe, test } from 'node:test';
import { parseAllDocuments } from 'yaml';
import { helmFor } from '../../support/cluster/helm.ts';
import { tools } from '../../support/cluster/tools.ts';

const chart = resolve(import.meta.dirname, '../../../manifests/helm/etcd-ratchet');
const home = await mkdtemp(join(tmpdir(), 'chart-values-'));
after(() => rm(home, { recursive: true }));
const helm = helmFor(await tools.helm.provide(), home);

interface Metadata {
  readonly name: string;
  readonly labels?: Readonly<Record<string, string>>;
  readonly annotations?: Readonly<Record<string, string>>;
}

interface Pod {
  readonly metadata: Omit<Metadata, 'name'>;
  readonly spec: {
    readonly priorityClassName?: string;
    readonly imagePullSecrets?: readonly unknown[];
    readonly containers: readonly [{ readonly env: readonly Env[]; readonly securityContext: object }];
  };
}

interface Env {
  readonly name: string;
  readonly value?: string;
}

interface Rendered {
  readonly kind: string;
  readonly metadata: Metadata;
  readonly spec?: { readonly template?: Pod; readonly jobTemplate?: { readonly spec: { readonly template: Pod } } };
}

const everything = [
  ...['certManager', 'webhooks', 'page', 'pageShared', 'pagePlans', 'nodeReboots', 'storageMigration'],
  ...['shards', 'metrics', 'prometheusOperator', 'dashboards'],
].map((name) => `components.${name}.enabled=true`);
const servers = ['components.webhooks.enabled=true', 'components.page.enabled=true'];

async function render(...settings: readonly string[]): Promise<readonly Rendered[]> {
  const sets = settings.flatMap((one) => ['--set-json', one]);
  const text = await helm(['template', 'etcd-ratchet', chart, '--namespace', 'etcd-ratchet', ...sets]);
  return parseAllDocuments(text).flatMap((document) => {
    assert.deepEqual(document.errors, []);
    return (document.toJS() as Rendered | null) ?? [];
  });
}

/** The pods of CronJob, webhooks and page. */
function podsIn(objects: readonly Rendered[]): readonly Pod[] {
  const names = ['etcd-ratchet', 'etcd-ratchet-webhooks', 'etcd-ratchet-page'];
  const found = objects.filter(
    ({ kind, metadata }) => ['CronJob', 'Deployment'].includes(kind) && names.includes(metadata.name),
  );
  const pods = found.flatMap(({ spec }) => spec?.jobTemplate?.spec.template ?? spec?.template ?? []);
  assert.equal(pods.length, 3);
  return pods;
}

test('common labels and annotations are on every object, and nothing else changes', async () => {
  const common = ['commonLabels={"team":"data","x.example/y":""}', 'commonAnnotations={"x.example/why":"a: {{ b }}"}'];
  const all = [...everything, 'namespace.create=true', 'strict=true', 'components.webhooks.ingress.enabled=true'];
  const hosts = 'components.webhooks.ingress.hosts=["hooks.example.com"]';
  const plain = await render(...all, hosts);
  const marked = await render(...all, hosts, ...common);
  assert.equal(marked.length, plain.length);
  for (const [i, { kind, metadata }] of marked.entries()) {
    const before = plain[i]?.metadata;
    const at = `${kind} ${metadata.name}`;
    assert.deepEqual(metadata.labels, { ...before?.labels, team: 'data', 'x.example/y': '' }, at);
    // The pod of `helm test` is of a moment.
    if (kind !== 'Pod')
      assert.deepEqual(metadata.annotations, { ...before?.annotations, 'x.example/why': 'a: {{ b }}' }, at);
  }
  const withoutMetadata = (objects: readonly Rendered[]) => objects.map(({ metadata: _, ...others }) => others);
  assert.deepEqual(withoutMetadata(marked), withoutMetadata(plain));
});

test('CRDs are kept beside common annotations, and are not where that is asked for', async () => {
  const policies = async (...settings: string[]) => {
    const objects = await render('commonAnnotations={"a":"b"}', ...settings);
    const crds = objects.filter(({ kind }) => kind === 'CustomResourceDefinition');
    return new Set(crds.map(({ metadata }) => JSON.stringify(metadata.annotations)));
  };
  assert.deepEqual(await policies(), new Set(['{"a":"b","helm.sh/resource-policy":"keep"}']));
  assert.deepEqual(await policies('crds.keep=false'), new Set(['{"a":"b"}']));
});

test('labels, annotations, variables and security context arrive in each of our pods', async () => {
  const context = { allowPrivilegeEscalation: false, runAsUser: 1234, capabilities: { drop: ['ALL'] } };
  const objects = await render(
    ...servers,
    'podLabels={"azure.workload.identity/use":"true"}',
    'podAnnotations={"x.example/scrape":"false"}',
    'extraEnv=[{"name":"HTTPS_PROXY","value":"http://proxy:3128"},{"name":"A","valueFrom":{"fieldRef":{"fieldPath":"spec.nodeName"}}}]',
    `containerSecurityContext=${JSON.stringify({ ...context, readOnlyRootFilesystem: null })}`,
    'priorityClassName="servers"',
  );
  for (const { metadata, spec } of podsIn(objects)) {
    assert.equal(metadata.labels?.['azure.workload.identity/use'], 'true');
    assert.equal(metadata.labels?.['app.kubernetes.io/name'], 'etcd-ratchet');
    assert.equal(metadata.annotations?.['x.example/scrape'], 'false');
    const { env, securityContext } = spec.containers[0];
    assert.equal(env.find(({ name }) => name === 'HTTPS_PROXY')?.value, 'http://proxy:3128');
    assert.ok(env.some(({ name }) => /^(POD_NAMESPACE|RATCHET_PAGE)$/.test(name)));
    assert.deepEqual(securityContext, context);
  }
  const classes = podsIn(objects).map(({ spec }) => spec.priorityClassName);
  assert.deepEqual(classes.toSorted(), ['etcd-ratchet-tick', 'servers', 'servers']);
});

test('pull secrets are those of the chart, and those of a chart that has it among others', async () => {
  const secretsOf = async (...settings: string[]) =>
    new Set(podsIn(await render(...servers, ...settings)).map(({ spec }) => JSON.stringify(spec.imagePullSecrets)));
  assert.deepEqual(await secretsOf(), new Set([undefined]));
  const own = 'imagePullSecrets=[{"name":"own"}]';
  assert.deepEqual(await secretsOf(own), new Set(['[{"name":"own"}]']));
  for (const global of ['[{"name":"shared"},{"name":"own"}]', '["shared","own"]']) {
    const shared = `global={"imagePullSecrets":${global},"storageClass":"fast"}`;
    assert.deepEqual(await secretsOf(own, shared), new Set(['[{"name":"own"},{"name":"shared"}]']));
    assert.deepEqual(await secretsOf(shared), new Set([JSON.stringify([{ name: 'shared' }, { name: 'own' }])]));
  }
});

test('monitors and dashboards have the labels by which they are selected', async () => {
  const objects = await render(
    ...everything,
    'components.prometheusOperator.labels={"release":"prom"}',
    'components.dashboards.labels={"team":"grafana"}',
    'components.dashboards.annotations={"k8s-sidecar-target-directory":"etcd"}',
  );
  const having = (label: string) =>
    objects.flatMap(({ kind, metadata }) => (metadata.labels?.[label] === undefined ? [] : [kind])).toSorted();
  assert.deepEqual(having('release'), ['PodMonitor', 'PrometheusRule', 'ServiceMonitor']);
  assert.deepEqual(having('team'), ['ConfigMap']);
  const folders = objects.filter(({ metadata }) => metadata.annotations?.['k8s-sidecar-target-directory'] === 'etcd');
  assert.deepEqual(
    folders.map(({ metadata }) => metadata.name),
    ['etcd-ratchet-dashboards'],
  );
});

test('the service account of ticks has its labels and annotations, and no other account has them', async () => {
  const annotations = { 'eks.amazonaws.com/role-arn': 'arn:aws:iam::1:role/x', a: 'own' };
  const objects = await render(
    ...servers,
    'serviceAccount.labels={"for":"ticks"}',
    `serviceAccount.annotations=${JSON.stringify(annotations)}`,
    'commonAnnotations={"a":"common"}',
  );
  const accounts = objects.filter(({ kind }) => kind === 'ServiceAccount');
  assert.ok(accounts.length >= 4);
  for (const { metadata } of accounts)
    assert.deepEqual(metadata.annotations, metadata.name === 'etcd-ratchet' ? annotations : { a: 'common' });
  const labelled = accounts.filter(({ metadata }) => metadata.labels?.for === 'ticks');
  assert.deepEqual(
    labelled.map(({ metadata }) => metadata.name),
    ['etcd-ratchet'],
  );
});

for (const [component, name, path, needs] of [
  ['webhooks', 'etcd-ratchet-webhooks', '/hooks/', []],
  ['pageShared', 'etcd-ratchet-page', '/', ['components.page.enabled=true']],
] as const) {
  test(`the Ingress of ${component} leads ${path} of its hosts to its server, and nothing else`, async () => {
    const isIngress = ({ kind }: Rendered) => kind === 'Ingress';
    assert.deepEqual((await render(...needs, `components.${component}.enabled=true`)).filter(isIngress), []);
    const tls = [{ secretName: 'its-tls', hosts: ['its.example.com'] }];
    const ingress = { enabled: true, className: 'nginx', annotations: { 'cert-manager.io/issuer': 'x' }, tls };
    const hosts = ['its.example.com', '*.example.org'];
    const values = { enabled: true, ingress: { ...ingress, hosts } };
    const rendered = await render(...needs, `components.${component}=${JSON.stringify(values)}`);
    const [made, ...others] = rendered.filter(isIngress);
    assert.deepEqual(others, []);
    assert.equal(made?.metadata.name, name);
    assert.deepEqual(made.metadata.annotations, ingress.annotations);
    const paths = [{ path, pathType: 'Prefix', backend: { service: { name, port: { name: 'http' } } } }];
    assert.deepEqual(made.spec, {
      ingressClassName: 'nginx',
      rules: hosts.map((host) => ({ host, http: { paths } })),
      tls,
    });
    const { service } = paths[0]?.backend ?? assert.fail();
    assert.ok(rendered.some((one) => one.kind === 'Service' && one.metadata.name === service.name));
  });
}

describe('a hostile or impossible value is refused, by name and with the reason', () => {
  const ingress = (values: object) =>
    `components.webhooks=${JSON.stringify({ enabled: true, ingress: { enabled: true, ...values } })}`;
  for (const [setting, says] of [
    ['fullnameOverride="x"', /fullnameOverride can't be set: admission policies hold etcd-ratchet's accounts/],
    ['nameOverride="x"', /nameOverride can't be set: admission policies/],
    ['serviceAccount.name="x"', /serviceAccount\.name can't be set: admission policies/],
    ['serviceAccount.create=false', /serviceAccount\.create can't be set: the service account comes with its rights/],
    ['commonLabels={"app.kubernetes.io/name":"x"}', /commonLabels: app\.kubernetes\.io\/name is set by etcd-ratchet/],
    ['commonLabels={"app.kubernetes.io/managed-by":"etcd-ratchet"}', /managed-by can't be set here/],
    ['commonLabels={"etcd.ratchet.dev/clusters":"true"}', /etcd\.ratchet\.dev\/clusters can't be set here/],
    ['commonLabels={"a":"b\\nkind: Secret"}', /commonLabels\/a/],
    ['commonLabels={"a b":"c"}', /commonLabels'.*'a b' not allowed/],
    ['commonLabels={"a":true}', /commonLabels\/a/],
    ['commonAnnotations={"helm.sh/hook":"pre-install"}', /helm\.sh\/hook can't be set here: Helm acts/],
    ['podLabels={"sidecar.istio.io/inject":"true"}', /podLabels: sidecar\.istio\.io\/inject is set by etcd-ratchet/],
    ['podAnnotations={"linkerd.io/inject":"enabled"}', /podAnnotations: linkerd\.io\/inject is set by etcd-ratchet/],
    ['extraEnv=[{"name":"POD_NAMESPACE","value":"x"}]', /extraEnv: POD_NAMESPACE is set by etcd-ratchet itself/],
    ['extraEnv=[{"name":"RATCHET_HOSTS","value":"*"}]', /RATCHET_HOSTS can't be set here: set it by settings/],
    ['extraEnv=[{"name":"A=B"}]', /extraEnv/],
    ['extraEnv={"A":"B"}', /extraEnv/],
    ['containerSecurityContext.privileged=true', /containerSecurityContext.*privileged/s],
    ['containerSecurityContext.allowPrivilegeEscalation=true', /containerSecurityContext\/allowPrivilegeEscalation/],
    ['containerSecurityContext.capabilities={"drop":["NET_RAW"]}', /containerSecurityContext\/capabilities/],
    ['containerSecurityContext.capabilities={"drop":["ALL"],"add":["SYS_ADMIN"]}', /capabilities.*add/s],
    ['containerSecurityContext.runAsUser=0', /containerSecurityContext\/runAsUser/],
    ['podSecurityContext.runAsNonRoot=false', /podSecurityContext\/runAsNonRoot/],
    ['podSecurityContext.runAsUsr=1', /podSecurityContext.*runAsUsr/s],
    ['podSecurityContext.seccompProfile={"type":"Unconfined"}', /seccompProfile/],
    ['priorityClassName="A b"', /priorityClassName/],
    ['components.pageShared.ingress={"enabled":true,"hosts":["a.example"]}', /needs components\.pageShared\.enabled/],
    [ingress({}), /components\.webhooks\.ingress\.enabled needs components\.webhooks\.ingress\.hosts/],
    [ingress({ hosts: ['hooks.example.com/../'] }), /ingress\/hosts/],
    [ingress({ hosts: ['a.example'], tls: [{ secretName: 's', hosts: ['b.example'] }] }), /b\.example is none of/],
    [ingress({ hosts: ['a.example'], className: 'a b' }), /ingress\/className/],
    ['components.webhooks.ingress={"enabled":true,"hosts":["a.example"]}', /needs components\.webhooks\.enabled/],
  ] as const)
    test(setting.slice(0, 80), async () => {
      await assert.rejects(render(setting), says);
    });
});
