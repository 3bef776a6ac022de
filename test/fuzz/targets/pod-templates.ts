import fc from 'fast-check';
import { validateDocument } from '../../../manifests/api/validate.ts';
import { distorted } from '../mutate.ts';
import { target } from '../target.ts';

const template = {
  metadata: { labels: { team: 'a' }, annotations: { 'example.com/a': 'b' } },
  spec: {
    nodeSelector: { disk: 'ssd' },
    tolerations: [{ key: 'a', operator: 'Exists', effect: 'NoSchedule' }],
    volumes: [
      { name: 'scratch', emptyDir: { sizeLimit: '1Gi' } },
      { name: 'settings', configMap: { name: 'settings' } },
    ],
    containers: [
      {
        name: 'sidecar',
        image: 'registry.example.com/sidecar:1',
        env: [{ name: 'A', value: 'b' }],
        ports: [{ containerPort: 8080 }],
        volumeMounts: [{ name: 'scratch', mountPath: '/scratch' }],
        securityContext: { allowPrivilegeEscalation: false, capabilities: { drop: ['ALL'] } },
      },
    ],
  },
};

/** What would lend a pod the node, wherever in a template it stands, and how often a person might try. */
const greedy = [
  { hostNetwork: true },
  { hostPID: true },
  { hostIPC: true },
  { volumes: [{ name: 'root', hostPath: { path: '/' } }] },
  { containers: [{ name: 'a', image: 'b', securityContext: { privileged: true } }] },
  { initContainers: [{ name: 'a', image: 'b', securityContext: { capabilities: { add: ['SYS_ADMIN'] } } }] },
  { containers: [{ name: 'a', image: 'b', volumeDevices: [{ name: 'data', devicePath: '/dev/x' }] }] },
] as const;

const inputs = fc
  .tuple(distorted(fc.constant(template)), fc.option(fc.constantFrom(...greedy), { nil: undefined }))
  .map(([text, more]): unknown => {
    const made: unknown = JSON.parse(text || 'null');
    const isObject = typeof made === 'object' && made !== null && !Array.isArray(made);
    if (!more || !isObject) return made;
    const { spec } = made as { readonly spec?: unknown };
    const rest = typeof spec === 'object' && spec !== null && !Array.isArray(spec) ? spec : {};
    return { ...made, spec: { ...rest, ...more } };
  });

export const podTemplateTarget = target<unknown>({
  name: 'podTemplates',
  inputs,
  try: async (podTemplate) => {
    const problems = validateDocument({
      apiVersion: 'etcd.ratchet.dev/v1alpha1',
      kind: 'EtcdCluster',
      metadata: { name: 'orders', namespace: 'payments' },
      spec: { replicas: 3, version: '3.6.16', storage: { size: '1Gi' }, podTemplate },
    });
    if (problems.length > 20) throw new Error(`${problems.length} problems`);
    for (const { message } of problems) if (message === '') throw new Error('a problem without words');
    const text = JSON.stringify(podTemplate);
    const isGreedy =
      /"(hostNetwork|hostPID|hostIPC|privileged)":true/.test(text) || /"(hostPath)":\{"path"|"SYS_ADMIN"\]/.test(text);
    const hasSpec = typeof podTemplate === 'object' && podTemplate !== null && 'spec' in podTemplate;
    if (isGreedy && hasSpec && problems.length === 0) throw new Error('it would lend the node');
  },
});
