import assert from 'node:assert/strict';
import { test } from 'node:test';
import { failureOf } from '../../../reconcile/cluster/know/outcome.ts';
import { KubeError } from '../../../reconcile/interfaces/kube.ts';

const account = 'User "system:serviceaccount:etcd-ratchet:etcd-ratchet"';

for (const [what, status, said, cure] of [
  [
    'RBAC',
    403,
    `pods "a" is forbidden: ${account} cannot create resource "pods" in API group ""`,
    /grant the service account .* raise the quota/,
  ],
  ['no identity', 401, 'Unauthorized', /let the API server know/],
  ['a quota', 403, 'pods "a" is forbidden: exceeded quota: small, requested: pods=1', /raise the quota/],
  ['a policy', 403, 'pods "a" is forbidden: violates PodSecurity "restricted:latest"', /admission policy/],
  ['a schema', 422, 'Pod "a" is invalid', /change the part of the spec/],
] as const) {
  test(`where ${what} says no, the cure is about that`, () => {
    const facts = { class: 'terminal', status, reason: 'Forbidden' } as const;
    assert.match(failureOf(new KubeError(`POST pods: ${status} Forbidden ${said}`, facts)).message, cure);
  });
}
