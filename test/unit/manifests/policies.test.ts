import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { parseAllDocuments } from 'yaml';
import { group } from '../../../manifests/api/group.ts';
import { labels } from '../../../manifests/render/names.ts';

/** Each of our policies is asked about other people's requests, too: this is why it stops none of them. */

const manifests = join(import.meta.dirname, '../../../manifests');

interface Kinds {
  readonly apiGroups: readonly string[];
  readonly resources: readonly string[];
}

interface Grant extends Kinds {
  readonly verbs: readonly string[];
}

interface Policy {
  readonly kind: string;
  readonly metadata: { readonly name: string };
  readonly spec: {
    readonly matchConstraints: {
      readonly objectSelector?: { readonly matchLabels?: Readonly<Record<string, string>> };
      readonly resourceRules: readonly Kinds[];
    };
    readonly matchConditions?: readonly { readonly expression: string }[];
    readonly paramKind?: object;
  };
}

interface Binding {
  readonly kind: string;
  readonly metadata: { readonly name: string };
  readonly spec: {
    readonly policyName: string;
    readonly paramRef?: { readonly namespace?: string; readonly parameterNotFoundAction: string };
    readonly matchResources?: { readonly namespaceSelector?: { readonly matchLabels?: object } };
  };
}

const objects = globSync(['install/**/*.yaml', 'knative/**/*.yaml'], { cwd: manifests }).flatMap((file) =>
  parseAllDocuments(readFileSync(join(manifests, file), 'utf8')).map((one) => one.toJS() as Policy | Binding | null),
);
const policies = objects.filter((one): one is Policy => one?.kind === 'ValidatingAdmissionPolicy');
const bindings = objects.filter((one): one is Binding => one?.kind === 'ValidatingAdmissionPolicyBinding');

test('there are nine policies, each with its binding, and no other admission', () => {
  assert.equal(policies.length, 9);
  const names = (all: readonly string[]) => all.toSorted();
  assert.deepEqual(
    names(bindings.map(({ spec }) => spec.policyName)),
    names(policies.map(({ metadata }) => metadata.name)),
  );
  const admission = objects.filter((one) => /Webhook|Mutating/.test(one?.kind ?? ''));
  assert.deepEqual(admission, []);
});

for (const { metadata, spec } of policies) {
  test(`${metadata.name} is about kinds of ours, one account of ours, or what bears our label`, () => {
    const { resourceRules, objectSelector } = spec.matchConstraints;
    const groups = resourceRules.flatMap(({ apiGroups }) => apiGroups);
    const [condition] = spec.matchConditions ?? [];
    if (objectSelector) assert.deepEqual(objectSelector.matchLabels, { [labels.managedBy]: 'etcd-ratchet' });
    else if (groups.every((one) => one === group)) assert.equal(condition, undefined);
    else
      assert.match(
        condition?.expression ?? '',
        /^request\.userInfo\.username( == |\.matches\()'\^?system:serviceaccount:/,
      );
  });
}

/** The API server looks for a parameter before it asks the conditions, and denies where there is none. */
for (const { metadata, spec } of bindings) {
  test(`${metadata.name} looks for a parameter nowhere but where we are`, () => {
    const { paramRef, matchResources } = spec;
    const { paramKind } = policies.find((one) => one.metadata.name === spec.policyName)?.spec ?? {};
    assert.equal(paramRef === undefined, paramKind === undefined);
    if (paramRef === undefined) return;
    assert.equal(paramRef.parameterNotFoundAction, 'Deny', 'without its parameter it would not be asked at all');
    // The Jobs on nodes are in a namespace of their own, and the CronJob that they are compared with is not.
    const where = paramRef.namespace === undefined ? 'etcd-ratchet' : 'etcd-ratchet-reboots';
    assert.deepEqual(matchResources?.namespaceSelector?.matchLabels, { 'kubernetes.io/metadata.name': where });
  });
}

test('the policies for our own account know it by its name, in whatever namespace it is', () => {
  const ours = policies.filter(({ spec }) =>
    spec.matchConditions?.some(({ expression }) => expression.includes('(-webhooks|-page)?$')),
  );
  assert.deepEqual(ours.map(({ metadata }) => metadata.name).toSorted(), [
    'etcd-ratchet-node-reboot-image',
    'etcd-ratchet-own-pods',
    'etcd-ratchet-own-writes',
  ]);
  const accounts = objects.filter((one) => one?.kind === 'ServiceAccount').map((one) => one?.metadata.name ?? '');
  const held = accounts.filter((name) => /^etcd-ratchet(-webhooks|-page)?$/.test(name));
  const watch = ['etcd-ratchet-metrics', 'etcd-ratchet-source'];
  const own = accounts.filter((name) => name.startsWith('etcd-ratchet') && !watch.includes(name));
  assert.deepEqual(new Set(held), new Set(own));
});

test('the account of a tick makes nothing in a namespace that no policy for it looks at', () => {
  const roles = ['cluster/role.yaml', 'components/cert-manager/role.yaml'].flatMap(grantsIn);
  const held = policies
    .filter(({ metadata }) => metadata.name === 'etcd-ratchet-own-writes')
    .flatMap(({ spec }) => spec.matchConstraints.resourceRules)
    .flatMap(({ apiGroups, resources }) => apiGroups.flatMap((one) => resources.map((kind) => `${one}/${kind}`)));
  const made = roles
    .filter(({ apiGroups, verbs }) => verbs.includes('create') && !apiGroups.includes(group))
    .flatMap(({ apiGroups, resources }) => apiGroups.flatMap((one) => resources.map((kind) => `${one}/${kind}`)));
  const harmless = ['/pods/eviction', 'events.k8s.io/events'];
  assert.ok(made.includes('cert-manager.io/certificaterequests'));
  assert.deepEqual(
    made.filter((one) => !held.includes(one) && !harmless.includes(one)),
    [],
  );
});

function grantsIn(file: string): readonly Grant[] {
  return parseAllDocuments(readFileSync(join(manifests, 'install', file), 'utf8')).flatMap(
    (one) => (one.toJS() as { readonly rules?: readonly Grant[] }).rules ?? [],
  );
}
