import type { KubeObject, Resource } from '../../../reconcile/interfaces/kube.ts';
import type { Asked } from '../command.ts';

interface AccessReview extends KubeObject {
  readonly spec: { readonly resourceAttributes: Readonly<Record<string, string>> };
  readonly status?: { readonly allowed: boolean };
}

const reviews: Resource = {
  apiVersion: 'authorization.k8s.io/v1',
  kind: 'SelfSubjectAccessReview',
  plural: 'selfsubjectaccessreviews',
  clusterScoped: true,
};

/** What an installation for the whole cluster is made of; a test holds it against manifests/install. */
export const installed = {
  clusterWide: [
    ['apiextensions.k8s.io', 'customresourcedefinitions'],
    ['', 'namespaces'],
    ['rbac.authorization.k8s.io', 'clusterroles'],
    ['rbac.authorization.k8s.io', 'clusterrolebindings'],
    ['admissionregistration.k8s.io', 'validatingadmissionpolicies'],
    ['admissionregistration.k8s.io', 'validatingadmissionpolicybindings'],
    ['scheduling.k8s.io', 'priorityclasses'],
  ],
  inItsNamespace: [
    ['', 'serviceaccounts'],
    ['batch', 'cronjobs'],
    ['networking.k8s.io', 'networkpolicies'],
    ['rbac.authorization.k8s.io', 'roles'],
    ['rbac.authorization.k8s.io', 'rolebindings'],
  ],
} as const satisfies Record<string, readonly (readonly [string, string])[]>;

/** Of the rights that an installation takes, those that this person has not, as `create clusterroles`. */
export async function rightsLacking({ kube, stop }: Asked, namespace: string): Promise<readonly string[]> {
  const rights = [
    ...installed.clusterWide.flatMap(([group, resource]) => creating({ group, resource })),
    ...installed.inItsNamespace.flatMap(([group, resource]) => creating({ group, resource, namespace })),
    // Else RBAC lets a person grant only what that person has.
    { group: 'rbac.authorization.k8s.io', resource: 'clusterroles', verb: 'escalate' },
    { group: 'rbac.authorization.k8s.io', resource: 'clusterroles', verb: 'bind' },
  ];
  const lacking = await Promise.all(
    rights.map(async (resourceAttributes) => {
      const review: AccessReview = { metadata: { name: '' }, spec: { resourceAttributes } };
      const { status } = await kube.create(reviews, review, { signal: stop });
      return status?.allowed ? [] : [`${resourceAttributes.verb} ${resourceAttributes.resource}`];
    }),
  );
  return lacking.flat();
}

function creating(what: { readonly group: string; readonly resource: string; readonly namespace?: string }) {
  return ['create', 'patch'].map((verb) => ({ ...what, verb }));
}
