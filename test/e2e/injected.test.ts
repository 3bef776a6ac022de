/** Admission puts containers into the pods of this namespace: a stand-in for a mesh's injector, and for worse. */

import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import type { EtcdCluster } from '../../manifests/api/etcd-cluster.ts';
import type { PersistentVolumeClaim, Pod, StatefulSet } from '../../manifests/kube-types.ts';
import { resources } from '../../reconcile/interfaces/kube.ts';
import { makeBackupStore } from './support/backup-store.ts';
import { backupUntil, createBackup, messageOf, reasonOf } from './support/backups.ts';
import { condition, isReady, isWholeOf } from './support/conditions.ts';
import { scene } from './support/scene.ts';
import { clusterYaml } from './support/specs.ts';
import { until } from './support/until.ts';
import { startWriter } from './support/writer.ts';

const stage = scene({ fleet: false, furnish: makeBackupStore });

const policies = 'admissionregistration.k8s.io/v1';
const proxy = 'name: "proxy", image: "registry.k8s.io/pause:3.10"';
const injected = {
  container: `containers: [Object.spec.containers{${proxy}}]`,
  sidecar: `initContainers: [Object.spec.initContainers{${proxy}, restartPolicy: "Always"}]`,
};
const wrong = 'env: [Object.spec.containers.env{name: "ETCD_LISTEN_CLIENT_URLS", value: "nowhere"}]';
const broken = `containers: [Object.spec.containers{name: "proxy", image: "quay.io/coreos/etcd:v3.6.16", ${wrong}}]`;
/** The word of Istio. */
const optedOut = "object.metadata.?labels[?'sidecar.istio.io/inject'].orValue('') == 'false'";

const named = () => ({ name: `inject-${stage().namespace}` });

/** From now on, into pods of the scene's namespace. */
async function inject(part: string, { heeds }: { readonly heeds: string }): Promise<void> {
  const { kubectl, namespace } = stage();
  const marked = `metadata: Object.metadata{annotations: {"injected": "${Buffer.from(part + heeds).toString('hex')}"}}`;
  const expression = `Object{${marked}, spec: Object.spec{${part}}}`;
  const objects = [
    {
      ...{ apiVersion: policies, kind: 'MutatingAdmissionPolicy', metadata: named() },
      spec: {
        matchConstraints: {
          namespaceSelector: { matchLabels: { 'kubernetes.io/metadata.name': namespace } },
          resourceRules: [{ apiGroups: [''], apiVersions: ['v1'], operations: ['CREATE'], resources: ['pods'] }],
        },
        matchConditions: [{ name: 'in-the-mesh', expression: `!(${heeds})` }],
        reinvocationPolicy: 'IfNeeded',
        mutations: [{ patchType: 'ApplyConfiguration', applyConfiguration: { expression } }],
      },
    },
    {
      apiVersion: policies,
      kind: 'MutatingAdmissionPolicyBinding',
      metadata: named(),
      spec: { policyName: named().name },
    },
  ];
  await kubectl(['apply', '-f', '-'], { stdin: objects.map((one) => JSON.stringify(one)).join('\n---\n') });
  const probe = {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name: 'probe' },
    spec: { containers: [{ name: 'a', image: 'b' }] },
  };
  await until('the policy is at work', async () => {
    const dry = ['-n', namespace, 'create', '--dry-run=server', '-o', 'json', '-f', '-'];
    return (await kubectl(dry, { stdin: JSON.stringify(probe) })).includes(Buffer.from(part + heeds).toString('hex'));
  });
}

after(async () => {
  const kinds = ['mutatingadmissionpolicybindings', 'mutatingadmissionpolicies'];
  for (const kind of kinds) await stage().kubectl(['delete', '--ignore-not-found', kind, named().name]);
});

async function apply(name: string, fields: Readonly<Record<string, unknown>> = {}): Promise<void> {
  const { kubectl, namespace } = stage();
  await kubectl(['apply', '--server-side', '-f', '-'], { stdin: clusterYaml(name, namespace, fields) });
}

async function podsOf(cluster: string): Promise<readonly Pod[]> {
  const pods = await stage().list<Pod>(resources.pods);
  return pods.filter(({ metadata }) => metadata.labels?.['etcd.ratchet.dev/cluster'] === cluster);
}

const uids = (all: readonly { readonly metadata: { readonly uid?: string } }[]) =>
  all.map(({ metadata }) => metadata.uid).toSorted();

for (const [name, part] of Object.entries(injected)) {
  test(`members with an injected ${name} are born, left alone, and rolled one by one`, async () => {
    await inject(part, { heeds: optedOut });
    const { tickUntil, stepUntil, tick, get, access } = stage();
    await apply(name);
    await tickUntil(name, isWholeOf(3), 120);
    const pods = await podsOf(name);
    assert.equal(pods.length, 3);
    for (const { spec } of pods) assert.match(JSON.stringify([spec.containers, spec.initContainers]), /"proxy"/);
    for (let n = 0; n < 3; n++) await tick();
    assert.deepEqual(uids(await podsOf(name)), uids(pods), 'no pod was made anew');
    assert.equal((await get<StatefulSet>(resources.statefulSets, `${name}-0`))?.metadata.generation, 1);

    const writer = startWriter(await access(name), 'rolling');
    await apply(name, { podTemplate: { metadata: { annotations: { 'example.com/round': '2' } } } });
    await stepUntil(name, isWholeOf(3), 180);
    for (const { metadata } of await podsOf(name)) assert.equal(metadata.annotations?.['example.com/round'], '2');
    const { lost } = await writer.finish();
    assert.deepEqual(lost, []);
  });
}

const to = { object: 'pvc://backups/{{cluster}}/{{timestamp}}.db' };

async function backUp(name: string): Promise<readonly Pod[]> {
  await createBackup(stage(), name, { clusterName: 'container', to });
  const backup = await backupUntil(stage(), name, ({ status }) => status?.finishedAt !== undefined, 150);
  assert.equal(reasonOf(backup), 'Verified', messageOf(backup));
  const pods = await stage().list<Pod>(resources.pods);
  return pods.filter(({ metadata }) => metadata.labels?.['etcd.ratchet.dev/backup'] === name);
}

test("a backup's Jobs say that they want none, and end", async () => {
  for (const { status, spec } of await backUp('out-of-the-mesh')) {
    assert.equal(status?.phase, 'Succeeded');
    assert.doesNotMatch(JSON.stringify(spec.containers), /"proxy"/);
  }
});

test('a backup whose pods are kept from ending all the same is taken and proven', async () => {
  await inject(injected.container, { heeds: 'false' });
  await backUp('kept');
  const ofKept = async () =>
    (await stage().list<Pod>(resources.pods)).filter(
      ({ metadata }) => metadata.labels?.['etcd.ratchet.dev/backup'] === 'kept',
    );
  await until('its pods are ended', async () => (await ofKept()).length === 0, { within: 90 });
});

test('an injected container that crashes is named, and its member is not replaced', async () => {
  await inject(broken, { heeds: optedOut });
  const { kubectl, namespace, tickUntil, list, access } = stage();
  const claims = () => list<PersistentVolumeClaim>(resources.volumeClaims);
  const before = uids(await claims());
  const writer = startWriter(await access('container'), 'beside');
  await kubectl(['-n', namespace, 'delete', 'pod', 'container-1-0']);
  const isNamed = (cluster: EtcdCluster) =>
    !isReady(cluster) && /proxy/.test(condition(cluster, 'Ready')?.message ?? '');
  await tickUntil('container', isNamed, 180);
  assert.deepEqual(uids(await claims()), before);
  await inject(injected.container, { heeds: optedOut });
  await kubectl(['-n', namespace, 'delete', 'pod', 'container-1-0']);
  await tickUntil('container', isWholeOf(3), 120);
  assert.deepEqual(uids(await claims()), before);
  assert.deepEqual((await writer.finish()).lost, []);
});
