import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { until } from '../../e2e/support/until.ts';
import { type Binaries, provisionBinaries } from '../../support/cluster/binaries.ts';
import { type Kubectl, kubectlFor } from '../../support/cluster/kubectl.ts';
import { type RunningCluster, startCluster } from './run.ts';

let cluster: RunningCluster;
let kubectl: Kubectl;
let binaries: Binaries;

before(async () => {
  binaries = await provisionBinaries();
  cluster = await startCluster();
  kubectl = kubectlFor(binaries.kubernetes.kubectl, cluster.kubeconfigPath);
});

after(async () => {
  cluster.child.kill('SIGTERM');
  await cluster.ended;
});

test('there are three Ready nodes', async () => {
  const ready = '{.items[*].status.conditions[?(@.type=="Ready")].status}';
  await until('nodes', async () => (await kubectl(['get', 'nodes', '-o', `jsonpath=${ready}`])) === 'True True True');
});

test('one storage class is the default, and volumes wait for their pod', async () => {
  const columns = 'NAME:.metadata.name,MODE:.volumeBindingMode,GROWS:.allowVolumeExpansion';
  const classes = await kubectl(['get', 'sc', '--no-headers', '-o', `custom-columns=${columns}`]);
  assert.deepEqual(
    classes
      .trim()
      .split('\n')
      .map((line) => line.split(/\s+/)),
    [
      ['bounded', 'WaitForFirstConsumer', 'true'],
      ['missing-provisioner', 'WaitForFirstConsumer', 'true'],
      ['no-expansion', 'WaitForFirstConsumer', 'false'],
      ['standard', 'WaitForFirstConsumer', 'true'],
    ],
  );
  assert.match(await kubectl(['get', 'sc']), /standard \(default\)/);
});

test('RBAC decides: a service account without a role may read nothing, with one what it says', async () => {
  const as = ['--as', 'system:serviceaccount:default:reader'];
  await assert.rejects(kubectl(['get', 'secrets', ...as]), /User "system:serviceaccount:default:reader" cannot list/);
  await kubectl(['create', 'role', 'reader', '--verb=list', '--resource=secrets']);
  await kubectl(['create', 'rolebinding', 'reader', '--role=reader', '--serviceaccount=default:reader']);
  await until('the role holds', () =>
    kubectl(['get', 'secrets', ...as]).then(
      () => true,
      () => false,
    ),
  );
  await assert.rejects(kubectl(['get', 'secrets', '-n', 'kube-system', ...as]), /in the namespace "kube-system"/);
});

test('a stranger is turned away', async () => {
  await assert.rejects(
    kubectl(['get', 'nodes', '--token=wrong', '--kubeconfig=/dev/null', ...(await address())]),
    /Unauthorized|logged in/,
  );
});

test('Pod Security is enforced where a namespace asks for it', async () => {
  // Born with its label: of one that comes later, admission would learn a moment later.
  const labels = { 'pod-security.kubernetes.io/enforce': 'restricted' };
  const namespace = { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'strict', labels } };
  await kubectl(['create', '-f', '-'], { stdin: JSON.stringify(namespace) });
  const run = kubectl(['run', 'loose', '-n', 'strict', '--image=registry.k8s.io/pause:3.10', '--privileged']);
  await assert.rejects(run, /violates PodSecurity "restricted/);
});

test('controllers, scheduler and node together make a StatefulSet with a PVC a Ready pod', async () => {
  await kubectl(['apply', '-f', '-'], { stdin: JSON.stringify(statefulSet) });
  await kubectl(['rollout', 'status', 'statefulset/sample', '--timeout=120s'], { timeoutMilliseconds: 130_000 });
  assert.equal(await kubectl(['get', 'pvc', 'data-sample-0', '-o', 'jsonpath={.status.phase}']), 'Bound');
});

test('garbage collection removes what belonged to a deleted owner', async () => {
  await kubectl(['create', 'configmap', 'owner']);
  const uid = await kubectl(['get', 'configmap', 'owner', '-o', 'jsonpath={.metadata.uid}']);
  const metadata = { name: 'owned', ownerReferences: [{ apiVersion: 'v1', kind: 'ConfigMap', name: 'owner', uid }] };
  await kubectl(['create', '-f', '-'], { stdin: JSON.stringify({ apiVersion: 'v1', kind: 'ConfigMap', metadata }) });
  await kubectl(['delete', 'configmap', 'owner']);
  await until('it is gone', async () => (await kubectl(['get', 'configmap', 'owned', '--ignore-not-found'])) === '');
});

async function address(): Promise<string[]> {
  const server = await kubectl(['config', 'view', '-o', 'jsonpath={.clusters[0].cluster.server}']);
  return ['--server', server, '--insecure-skip-tls-verify'];
}

const statefulSet = {
  apiVersion: 'apps/v1',
  kind: 'StatefulSet',
  metadata: { name: 'sample' },
  spec: {
    serviceName: 'sample',
    selector: { matchLabels: { app: 'sample' } },
    template: {
      metadata: { labels: { app: 'sample' } },
      spec: {
        terminationGracePeriodSeconds: 1,
        containers: [
          {
            name: 'pause',
            image: 'registry.k8s.io/pause:3.10',
            volumeMounts: [{ name: 'data', mountPath: '/data' }],
          },
        ],
      },
    },
    volumeClaimTemplates: [
      {
        metadata: { name: 'data' },
        spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Mi' } } },
      },
    ],
  },
};
