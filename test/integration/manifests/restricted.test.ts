import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { podTemplate } from '../../../manifests/render/pod-template.ts';
import { mergePodSpec } from '../../../manifests/render/pod-template-merge.ts';
import { privilegesIn } from '../../../manifests/render/privileges.ts';
import { peerOf, peerWithTemplate } from '../../unit/manifests/build-fixtures.ts';
import { shareApiServer } from '../shared-api-server.ts';

/** Whatever a podTemplate may say, by the verdict of Pod Security itself, at its newest. */
const api = await shareApiServer();
after(() => api[Symbol.asyncDispose]());

const namespace = 'restricted';
const enforced = { 'pod-security.kubernetes.io/enforce': 'restricted' };
await api.send('POST', '/api/v1/namespaces', {
  apiVersion: 'v1',
  kind: 'Namespace',
  metadata: { name: namespace, labels: enforced },
});
await api.send('POST', `/api/v1/namespaces/${namespace}/serviceaccounts`, {
  apiVersion: 'v1',
  kind: 'ServiceAccount',
  metadata: { name: 'default', namespace },
});

type Fields = Readonly<Record<string, unknown>>;

/** Ways in which a container or a pod can ask for more, and harmless ones. */
const contexts: readonly Fields[] = [
  {},
  { allowPrivilegeEscalation: true },
  { allowPrivilegeEscalation: false },
  { privileged: true },
  { capabilities: { drop: [] } },
  { capabilities: { drop: ['NET_RAW'] } },
  { capabilities: { drop: ['ALL'] } },
  { capabilities: { drop: ['ALL'], add: ['NET_BIND_SERVICE'] } },
  { capabilities: { add: ['SYS_ADMIN'] } },
  { runAsNonRoot: false },
  { runAsUser: 0 },
  { runAsUser: 2000, runAsGroup: 0 },
  { procMount: 'Unmasked' },
  { seccompProfile: { type: 'Unconfined' } },
  { seccompProfile: { type: 'RuntimeDefault' } },
  { appArmorProfile: { type: 'Unconfined' } },
  { appArmorProfile: { type: 'RuntimeDefault' } },
  { seLinuxOptions: { type: 'spc_t' } },
  { seLinuxOptions: { user: 'u' } },
  { readOnlyRootFilesystem: true },
];

const container: readonly Fields[] = [
  {},
  { ports: [{ containerPort: 8080 }] },
  { ports: [{ containerPort: 8080, hostPort: 8080 }] },
  { livenessProbe: { httpGet: { port: 80 } } },
  { livenessProbe: { httpGet: { port: 80, host: '10.0.0.1' } } },
  { readinessProbe: { tcpSocket: { port: 80, host: '10.0.0.1' } } },
  { lifecycle: { preStop: { httpGet: { port: 80, host: '10.0.0.1' } } } },
  { lifecycle: { postStart: { exec: { command: ['true'] } } } },
];

const pod: readonly Fields[] = [
  {},
  { hostNetwork: true },
  { hostPID: true },
  { hostIPC: true },
  { volumes: [{ name: 'v', hostPath: { path: '/' } }] },
  { volumes: [{ name: 'v', nfs: { server: 's', path: '/' } }] },
  { volumes: [{ name: 'v', emptyDir: {} }] },
  { volumes: [{ name: 'v', configMap: { name: 'c' } }] },
  { volumes: [{ name: 'v', downwardAPI: { items: [] } }] },
  { volumes: [{ name: 'v', projected: { sources: [{ configMap: { name: 'c' } }] } }] },
  { volumes: [{ name: 'v', image: { reference: 'r' } }] },
  { securityContext: { sysctls: [{ name: 'kernel.msgmax', value: '1' }] } },
  { securityContext: { supplementalGroups: [1] } },
  { securityContext: { runAsUser: 0 } },
  { securityContext: { runAsNonRoot: false } },
  { securityContext: { seccompProfile: { type: 'Unconfined' } } },
  { securityContext: { appArmorProfile: { type: 'Unconfined' } } },
  { securityContext: { seLinuxOptions: { role: 'r' } } },
  { securityContext: { windowsOptions: { hostProcess: true } } },
  { nodeSelector: { disk: 'ssd' } },
  { shareProcessNamespace: false },
];

const sidecars: readonly Fields[] = [...contexts.map((securityContext) => ({ securityContext })), ...container];

function* templates(): Iterable<Fields> {
  yield* pod;
  for (const fields of sidecars) {
    yield { containers: [{ name: 'etcd', ...fields }] };
    yield { containers: [{ name: 'beside', image: 'i', ...fields }] };
    yield { initContainers: [{ name: 'before', image: 'i', ...fields }] };
    yield { initContainers: [{ name: 'aside', image: 'i', restartPolicy: 'Always', ...fields }] };
  }
}

async function admitted(spec: object): Promise<{ readonly status: number; readonly message: string }> {
  const metadata = { name: 'orders-0-0', namespace };
  const path = `/api/v1/namespaces/${namespace}/pods?dryRun=All`;
  const { status, body } = await api.send('POST', path, { apiVersion: 'v1', kind: 'Pod', metadata, spec });
  return { status, message: body.message ?? '' };
}

test('a podTemplate that we take makes a pod that Pod Security’s restricted takes', async () => {
  const plain = podTemplate(peerOf()).spec;
  let taken = 0;
  let refused = 0;
  for (const spec of templates()) {
    const complaints = privilegesIn({ spec });
    if (complaints.length === 0) {
      const { status, message } = await admitted(podTemplate(peerWithTemplate(spec)).spec);
      // 422: it makes no sense, which is another matter.
      assert.ok(status === 201 || status === 422, `${JSON.stringify(spec)}: ${status} ${message}`);
      taken += status === 201 ? 1 : 0;
    } else {
      // As it would be if we let it through.
      const { status } = await admitted(mergePodSpec({ ...plain }, spec));
      refused += status === 403 ? 1 : 0;
    }
  }
  assert.ok(taken >= 40, `${taken} taken`);
  assert.ok(refused >= 40, `${refused} refused by both`);
});
