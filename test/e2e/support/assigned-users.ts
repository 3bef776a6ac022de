import type { Container, Pod } from '../../../manifests/kube-types.ts';
import type { Kubectl } from '../../support/cluster/kubectl.ts';
import { until } from './until.ts';

/** As OpenShift's default policy for pods, of which this is a stand-in: by an annotation of the namespace. */

export const firstUser = 1_000_650_000;
const rangeAnnotation = 'openshift.io/sa.scc.uid-range';
const annotations = { [rangeAnnotation]: `${firstUser}/10000` };
const range = `namespaceObject.metadata.annotations['${rangeAnnotation}'].split('/')`;
const variables = [
  { name: 'first', expression: `int(${range}[0])` },
  { name: 'size', expression: `int(${range}[1])` },
];

/** Of one pod: what it asks for itself, or else what is the namespace's. */
const ofPod = (field: string) => `object.spec.?securityContext.?${field}`;
function filled(list: 'containers' | 'initContainers'): string {
  const user = `one.?securityContext.?runAsUser.or(${ofPod('runAsUser')}).orValue(variables.first)`;
  const one = `Object.spec.${list}{name: one.name, securityContext: Object.spec.${list}.securityContext{runAsUser: ${user}}}`;
  return `${list}: object.spec.?${list}.orValue([]).map(one, ${one})`;
}
const mutation = `Object{
  metadata: Object.metadata{annotations: {"openshift.io/scc": "restricted-v2"}},
  spec: Object.spec{
    securityContext: Object.spec.securityContext{fsGroup: ${ofPod('fsGroup')}.orValue(variables.first)},
    ${filled('containers')},
    ${filled('initContainers')}
  }
}`;

const isIn = (id: string) => `${id} >= variables.first && ${id} < variables.first + variables.size`;
const outside = 'is outside of the range of the namespace';
const validations = [
  {
    expression: `object.spec.containers.all(one, ${isIn('one.securityContext.runAsUser')})`,
    messageExpression: `"the user " + string(object.spec.containers[0].securityContext.runAsUser) + " ${outside}"`,
  },
  {
    expression: isIn('object.spec.securityContext.fsGroup'),
    messageExpression: `"the group " + string(object.spec.securityContext.fsGroup) + " ${outside}"`,
  },
];

interface Place {
  readonly kubectl: Kubectl;
  readonly namespace: string;
}

const nameIn = (namespace: string) => `assigns-${namespace}`;

/** No namespace takes them along. */
export async function assignNoMore({ kubectl, namespace }: Place): Promise<void> {
  for (const kind of ['mutatingadmissionpolicy', 'validatingadmissionpolicy'])
    for (const one of [`${kind}binding`, kind]) await kubectl(['delete', '--ignore-not-found', one, nameIn(namespace)]);
}

/** From now on, for pods of that namespace. */
export async function assignUsers({ kubectl, namespace }: Place): Promise<void> {
  const name = nameIn(namespace);
  const apiVersion = 'admissionregistration.k8s.io/v1';
  const matchConstraints = {
    namespaceSelector: { matchLabels: { 'kubernetes.io/metadata.name': namespace } },
    resourceRules: [{ apiGroups: [''], apiVersions: ['v1'], operations: ['CREATE'], resources: ['pods'] }],
  };
  const mutations = [{ patchType: 'ApplyConfiguration', applyConfiguration: { expression: mutation } }];
  const made = (kind: string, spec: object) => ({ apiVersion, kind, metadata: { name }, spec });
  const objects = [
    { apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace, annotations } },
    made('MutatingAdmissionPolicy', { matchConstraints, variables, reinvocationPolicy: 'IfNeeded', mutations }),
    made('MutatingAdmissionPolicyBinding', { policyName: name }),
    made('ValidatingAdmissionPolicy', { matchConstraints, variables, validations }),
    made('ValidatingAdmissionPolicyBinding', { policyName: name, validationActions: ['Deny'] }),
  ];
  const stdin = objects.map((one) => JSON.stringify(one)).join('\n---\n');
  await kubectl(['apply', '--server-side', '-f', '-'], { stdin });
  await until('users are assigned, and others refused', async () => {
    const ours = await tried({ kubectl, namespace }, {});
    const others = await tried({ kubectl, namespace }, { runAsUser: 1000 });
    return ours.includes(String(firstUser)) && others.includes(`1000 ${outside}`);
  });
}

/** The pod that would be, or why none. */
function tried({ kubectl, namespace }: Place, securityContext: object): Promise<string> {
  const spec = { containers: [{ name: 'a', image: 'b' }], securityContext };
  const pod = { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'tried' }, spec };
  return kubectl(['-n', namespace, 'create', '--dry-run=server', '-o', 'json', '-f', '-'], {
    stdin: JSON.stringify(pod),
  }).catch(String);
}

/** As what a kubelet runs its containers, and to which group its volumes belong. */
export function usersOf({ spec }: Pod): { readonly users: readonly unknown[]; readonly group: unknown } {
  const all: readonly Container[] = [...spec.containers, ...(spec.initContainers ?? [])];
  const users = all.map(({ securityContext }) => securityContext?.runAsUser ?? spec.securityContext?.runAsUser);
  return { users: [...new Set(users)], group: spec.securityContext?.fsGroup };
}
