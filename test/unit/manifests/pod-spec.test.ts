import assert from 'node:assert/strict';
import { test } from 'node:test';
import { refusedInPods } from '../../../manifests/api/pod-template.ts';
import { validateDocument } from '../../../manifests/api/validate.ts';

function said(spec: object): string[] {
  return refusedInPods({ spec: spec as Record<string, unknown> }, ['spec', 'podTemplate']).map(
    ({ message }) => message,
  );
}

for (const [slip, spec, message] of [
  [
    'a field of the pod',
    { tolerationz: [] },
    'spec.podTemplate.spec.tolerationz is not a field of Kubernetes 1.36; did you mean tolerations?',
  ],
  [
    'the name etcd',
    { containers: [{ name: 'etcdd', resources: {} }] },
    'spec.podTemplate.spec.containers[0].image: it is required; did you mean etcd?',
  ],
  [
    'a field of a container',
    { containers: [{ name: 'etcd', livenesProbe: {} }] },
    'spec.podTemplate.spec.containers[0].livenesProbe is not a field of Kubernetes 1.36; did you mean livenessProbe?',
  ],
  [
    'a word of an enum',
    { dnsPolicy: 'clusterfirst' },
    'spec.podTemplate.spec.dnsPolicy must be one of ClusterFirst, ClusterFirstWithHostNet, Default, None, is "clusterfirst"; did you mean ClusterFirst?',
  ],
  [
    'a number in quotes',
    { terminationGracePeriodSeconds: '60' },
    'spec.podTemplate.spec.terminationGracePeriodSeconds must be an integer, is "60"',
  ],
  [
    'a key of a list that is missing',
    { tolerations: [{ key: 'a', effekt: 'NoSchedule' }] },
    'spec.podTemplate.spec.tolerations[0].effekt is not a field of Kubernetes 1.36; did you mean effect?',
  ],
  [
    'a quantity',
    { containers: [{ name: 'etcd', resources: { limits: { cpu: 'one' } } }] },
    'spec.podTemplate.spec.containers[0].resources.limits.cpu must be a quantity like 500m or 8Gi; it is "one"',
  ],
  [
    'what an init container runs from',
    { initContainers: [{ name: 'before' }] },
    'spec.podTemplate.spec.initContainers[0].image: it is required',
  ],
] as const) {
  test(`a slip in ${slip} is named, with its place`, () => {
    assert.deepEqual(said(spec), [message]);
  });
}

test('what merging brings from our defaults need not be said', () => {
  const spec = {
    nodeSelector: { disk: 'ssd' },
    priorityClassName: 'db',
    securityContext: { seccompProfile: { type: 'RuntimeDefault' }, runAsUser: null },
    topologySpreadConstraints: [{ topologyKey: 'topology.kubernetes.io/zone' }],
    tolerations: [{ key: 'etcd', operator: 'Exists', effect: 'NoSchedule' }],
    containers: [
      {
        name: 'etcd',
        resources: { requests: { cpu: 0.5, memory: '1Gi' } },
        lifecycle: { preStop: { sleep: {} } },
        startupProbe: { httpGet: { path: '/livez', port: 'metrics' }, failureThreshold: 120 },
      },
      { name: 'log', image: 'registry.example.com/log:1', args: ['-v'], ports: [{ containerPort: 9000 }] },
    ],
    volumes: [{ name: 'scratch', emptyDir: { sizeLimit: '1Gi' } }],
    affinity: null,
  };
  assert.deepEqual(said(spec), []);
});

test('of a place that is refused already nothing more is said', () => {
  assert.deepEqual(said({ hostNetwork: 'yes' }).length, 1);
  assert.deepEqual(said({ containers: 'etcd' }), ['spec.podTemplate.spec.containers: it must be a list of objects']);
});

test('of a template of five hundred slips only the first are told', () => {
  const spec = Object.fromEntries(Array.from({ length: 500 }, (_, n) => [`field${n}`, {}]));
  const document = {
    apiVersion: 'etcd.ratchet.dev/v1alpha1',
    kind: 'EtcdCluster',
    metadata: { name: 'orders', namespace: 'payments' },
    spec: { replicas: 3, version: '3.6.16', storage: { size: '1Gi' }, podTemplate: { spec } },
  };
  assert.equal(validateDocument(document).length, 20);
});
