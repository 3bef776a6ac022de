import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { podTemplate } from '../../../manifests/render/pod-template.ts';
import { reservedIn } from '../../../manifests/render/pod-template-limits.ts';
import { mergePodSpec } from '../../../manifests/render/pod-template-merge.ts';
import { privilegesIn } from '../../../manifests/render/privileges.ts';
import { peerOf, peerWithTemplate } from './build-fixtures.ts';

const fixed = podTemplate(peerOf());

test('containers, env and mounts merge by name, tolerations append, other lists replace', () => {
  const base = {
    containers: [{ name: 'etcd', args: ['a', 'b'], env: [{ name: 'A', value: '1' }], image: 'i' }],
    tolerations: [{ key: 'x' }],
  };
  const over = {
    containers: [
      { name: 'sidecar', image: 's' },
      {
        name: 'etcd',
        args: ['c'],
        env: [
          { name: 'A', valueFrom: { fieldRef: { fieldPath: 'f' } } },
          { name: 'B', value: '2' },
        ],
      },
    ],
    tolerations: [{ key: 'y' }],
  };
  assert.deepEqual(mergePodSpec(base, over), {
    containers: [
      {
        name: 'etcd',
        args: ['c'],
        env: [
          { name: 'A', valueFrom: { fieldRef: { fieldPath: 'f' } } },
          { name: 'B', value: '2' },
        ],
        image: 'i',
      },
      { name: 'sidecar', image: 's' },
    ],
    tolerations: [{ key: 'x' }, { key: 'y' }],
  });
});

test('null takes a default away, and merging changes neither side', () => {
  const base = Object.freeze({ securityContext: Object.freeze({ runAsUser: 1000, runAsNonRoot: true }) });
  assert.deepEqual(mergePodSpec(base, { securityContext: { runAsUser: null } }), {
    securityContext: { runAsNonRoot: true },
  });
});

test('a stricter anti-affinity stands beside our preferred one', () => {
  const required = [{ topologyKey: 'kubernetes.io/hostname' }];
  const { spec } = podTemplate(
    peerWithTemplate({ affinity: { podAntiAffinity: { requiredDuringSchedulingIgnoredDuringExecution: required } } }),
  );
  const affinity = spec.affinity?.podAntiAffinity as Record<string, unknown>;
  assert.deepEqual(Object.keys(affinity).sort(), [
    'preferredDuringSchedulingIgnoredDuringExecution',
    'requiredDuringSchedulingIgnoredDuringExecution',
  ]);
});

test('another handler takes the place of a default probe whole: a probe can have only one', () => {
  const readinessProbe = { tcpSocket: { port: 2379 } };
  const { spec } = podTemplate(peerWithTemplate({ containers: [{ name: 'etcd', readinessProbe }] }));
  assert.deepEqual(spec.containers[0]?.readinessProbe, readinessProbe);
});

test('identity, data and the seal stay what they are, whatever the template says', () => {
  const hostile = {
    restartPolicy: 'Never',
    containers: [
      {
        name: 'etcd',
        command: ['sh'],
        args: ['-c', 'true'],
        env: [{ name: 'ETCD_INITIAL_CLUSTER_STATE', value: 'new' }],
        volumeMounts: [{ name: 'elsewhere', mountPath: '/var/lib/etcd' }],
      },
    ],
    volumes: [
      { name: 'data', emptyDir: {} },
      { name: 'elsewhere', emptyDir: {} },
    ],
  };
  const peer = peerWithTemplate(hostile, { labels: { 'etcd.ratchet.dev/peer': 'other', team: 'payments' } });
  const { metadata, spec } = podTemplate(peer);
  const [ours, given] = [fixed.spec.containers[0], spec.containers[0]];
  assert.deepEqual(given?.command, ours?.command);
  assert.deepEqual(given?.args, ours?.args);
  assert.deepEqual(given?.env, ours?.env);
  assert.deepEqual(given?.volumeMounts, ours?.volumeMounts);
  assert.equal(spec.restartPolicy, 'Always');
  assert.deepEqual(spec.volumes, [...(fixed.spec.volumes ?? []), { name: 'elsewhere', emptyDir: {} }]);
  assert.deepEqual(metadata.labels, { ...fixed.metadata.labels, team: 'payments' });

  const fields = reservedIn({ metadata: { labels: { 'etcd.ratchet.dev/peer': 'other' } }, spec: hostile });
  assert.deepEqual(
    fields.map((field) => field.split(': ')[0]),
    [
      'metadata',
      'spec.restartPolicy',
      'spec.containers[0].command',
      'spec.containers[0].args',
      'spec.containers[0].env[0]',
      'spec.containers[0].volumeMounts[0]',
      'spec.volumes[0]',
    ],
  );
});

test('whatever is in a template, building gives a pod with the etcd container and its data', () => {
  const fields = [
    'containers',
    'volumes',
    'env',
    'name',
    'etcd',
    'data',
    'volumeMounts',
    'resources',
    'limits',
    'metadata',
  ];
  const value = fc.letrec((tie) => ({
    any: fc.oneof(
      { maxDepth: 4 },
      fc.constantFrom(null, 'etcd', 'data', 1, true),
      fc.array(tie('any'), { maxLength: 3 }),
      fc.dictionary(fc.constantFrom(...fields), tie('any'), { maxKeys: 4 }),
    ),
  })).any;
  const spec = fc.dictionary(fc.constantFrom(...fields), value, { maxKeys: 5 });
  fc.assert(
    fc.property(spec, (template) => {
      const built = podTemplate(peerWithTemplate(template)).spec;
      const etcd = built.containers.find(({ name }) => name === 'etcd');
      assert.deepEqual(etcd?.args, fixed.spec.containers[0]?.args);
      assert.deepEqual(built.volumes?.[0], fixed.spec.volumes?.[0]);
      assert.ok(Array.isArray(reservedIn({ spec: template })));
      assert.ok(Array.isArray(privilegesIn({ spec: template })));
    }),
    { numRuns: 500 },
  );
});

test('a list that is none is named', () => {
  assert.deepEqual(reservedIn({ spec: { containers: 'etcd', volumes: [1] } }), [
    'spec.containers: it must be a list of objects',
    'spec.volumes: it must be a list of objects',
  ]);
});

test('an init container with the name of one of ours is refused by name', () => {
  const initContainers = [
    { name: 'set-aside', image: 'i' },
    { name: 'before', image: 'i' },
    { name: 'etcd', image: 'i' },
  ];
  assert.deepEqual(reservedIn({ spec: { initContainers } }), [
    `spec.initContainers[0]: the container "set-aside" is etcd-ratchet's own; choose another name`,
    `spec.initContainers[2]: the container "etcd" is etcd-ratchet's own; choose another name`,
  ]);
});

test('what an ordinary template sets lends no privileges and is not reserved', () => {
  const template = {
    metadata: { labels: { team: 'payments' }, annotations: { 'prometheus.io/scrape': 'true' } },
    spec: {
      priorityClassName: 'databases',
      nodeSelector: { disk: 'ssd' },
      tolerations: [{ key: 'dedicated', operator: 'Exists' }],
      securityContext: { runAsUser: null, runAsGroup: null, fsGroup: null },
      containers: [
        { name: 'etcd', resources: { limits: { memory: '4Gi' } }, env: [{ name: 'GOGC', value: '80' }] },
        {
          name: 'exporter',
          image: 'e',
          securityContext: { allowPrivilegeEscalation: false, capabilities: { drop: ['ALL'] } },
        },
      ],
      volumes: [
        { name: 'tmp', emptyDir: {} },
        { name: 'about', projected: { sources: [{ downwardAPI: { items: [] } }] } },
      ],
    },
  };
  assert.deepEqual(privilegesIn(template), []);
  assert.deepEqual(reservedIn(template), []);
});

test('an annotation that lifts AppArmor would lend our privileges', () => {
  const annotations = { 'container.apparmor.security.beta.kubernetes.io/etcd': 'unconfined' };
  assert.match(privilegesIn({ metadata: { annotations } })[0] ?? '', /lifts AppArmor/);
});

test('a container gets what restricted asks for, where it says nothing of it', () => {
  const { spec } = podTemplate(
    peerWithTemplate({
      containers: [
        { name: 'silent', image: 'i' },
        { name: 'says', image: 'i', securityContext: { readOnlyRootFilesystem: true, runAsUser: 2000 } },
      ],
      initContainers: [{ name: 'first', image: 'i' }],
    }),
  );
  const asked = { allowPrivilegeEscalation: false, capabilities: { drop: ['ALL'] } };
  const contextOf = (name: string) =>
    [...spec.containers, ...(spec.initContainers ?? [])].find((container) => container.name === name)?.securityContext;
  assert.deepEqual(contextOf('silent'), asked);
  assert.deepEqual(contextOf('first'), asked);
  assert.deepEqual(contextOf('says'), { ...asked, readOnlyRootFilesystem: true, runAsUser: 2000 });
});

test('a peer that was written by hand lends nothing: its template is left out', () => {
  const { spec } = podTemplate(peerWithTemplate({ hostPID: true, nodeSelector: { disk: 'ssd' } }));
  assert.ok(!('hostPID' in spec));
  assert.deepEqual(spec, podTemplate(peerOf()).spec);
});

const lending: readonly (readonly [field: string, spec: Record<string, unknown>])[] = [
  ['spec.hostNetwork', { hostNetwork: true }],
  ['spec.hostPID', { hostPID: true }],
  ['spec.hostIPC', { hostIPC: true }],
  ['spec.serviceAccountName', { serviceAccountName: 'admin' }],
  ['spec.serviceAccount', { serviceAccount: 'admin' }],
  ['spec.automountServiceAccountToken', { automountServiceAccountToken: true }],
  ['spec.automountServiceAccountToken', { automountServiceAccountToken: null }],
  ['spec.nodeName', { nodeName: 'control-plane' }],
  ['spec.securityContext', { securityContext: null }],
  ['spec.securityContext.runAsNonRoot', { securityContext: { runAsNonRoot: null } }],
  ['spec.securityContext.runAsUser', { securityContext: { runAsUser: 0 } }],
  ['spec.securityContext.seccompProfile', { securityContext: { seccompProfile: { type: 'Unconfined' } } }],
  ['spec.securityContext.sysctls', { securityContext: { sysctls: [{ name: 'kernel.x', value: '1' }] } }],
  ['spec.volumes[0].hostPath', { volumes: [{ name: 'v', hostPath: { path: '/' } }] }],
  ['spec.volumes[0].secret', { volumes: [{ name: 'v', secret: { secretName: 's' } }] }],
  ['spec.volumes[0].persistentVolumeClaim', { volumes: [{ name: 'v', persistentVolumeClaim: { claimName: 'c' } }] }],
  ['spec.volumes[0].nfs', { volumes: [{ name: 'v', nfs: {} }] }],
  [
    'spec.volumes[0].projected.sources[0].serviceAccountToken',
    { volumes: [{ name: 'v', projected: { sources: [{ serviceAccountToken: { path: 't' } }] } }] },
  ],
  [
    'spec.containers[0].securityContext.privileged',
    { containers: [{ name: 'x', securityContext: { privileged: true } }] },
  ],
  [
    'spec.initContainers[0].securityContext.capabilities.add',
    { initContainers: [{ name: 'x', securityContext: { capabilities: { add: ['SYS_ADMIN'] } } }] },
  ],
  [
    'spec.containers[0].ports[0].hostPort',
    { containers: [{ name: 'x', ports: [{ containerPort: 1, hostPort: 80 }] }] },
  ],
  [
    'spec.containers[0].env[0]',
    { containers: [{ name: 'x', env: [{ name: 'A', valueFrom: { secretKeyRef: { name: 's' } } }] }] },
  ],
  ['spec.shareProcessNamespace', { shareProcessNamespace: true }],
  ['spec.priorityClassName', { priorityClassName: 'system-node-critical' }],
  [
    'spec.containers[0].securityContext.capabilities.drop',
    { containers: [{ name: 'x', securityContext: { capabilities: { drop: [] } } }] },
  ],
  [
    'spec.containers[0].livenessProbe.httpGet.host',
    { containers: [{ name: 'x', livenessProbe: { httpGet: { host: '169.254.169.254', port: 80 } } }] },
  ],
  [
    'spec.initContainers[0].startupProbe.tcpSocket.host',
    { initContainers: [{ name: 'x', startupProbe: { tcpSocket: { host: 'a', port: 80 } } }] },
  ],
  [
    'spec.containers[0].lifecycle.postStart.httpGet.host',
    { containers: [{ name: 'x', lifecycle: { postStart: { httpGet: { host: 'a', port: 1 } } } }] },
  ],
  [
    'spec.containers[0].volumeMounts[0]',
    { containers: [{ name: 'x', volumeMounts: [{ name: 'server-tls', mountPath: '/t' }] }] },
  ],
  [
    'spec.initContainers[0].volumeDevices[0]',
    { initContainers: [{ name: 'x', volumeDevices: [{ name: 'data', devicePath: '/d' }] }] },
  ],
  ['spec.containers[0].envFrom[0]', { containers: [{ name: 'x', envFrom: [{ secretRef: { name: 's' } }] }] }],
];
for (const [field, spec] of lending) {
  test(`${field} of ${JSON.stringify(spec)} would lend our privileges`, () => {
    assert.deepEqual(
      privilegesIn({ spec }).map((problem) => problem.split(': ')[0]),
      [field],
    );
  });
}
