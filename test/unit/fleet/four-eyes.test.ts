import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { EtcdFleet } from '../../../manifests/api/etcd-fleet.ts';
import { annotations, approvals, approverOf } from '../../../manifests/render/names.ts';
import { refusedApprovals } from '../../../reconcile/fleet/four-eyes.ts';
import { planPrune } from '../../../reconcile/fleet/prune.ts';
import { approvalsGiven, withoutRefused } from '../../../reconcile/objects/approvals.ts';

const url = 'https://git.example.com/etcd.git';
const revision = `main@sha1:${'a'.repeat(40)}`;
const people = [
  { usernames: ['ada', 'oidc:ada'], signers: ['ada@example.com'] },
  { usernames: ['grace'], signers: ['grace@example.com'] },
  { usernames: ['linus'] },
];

function fleet(spec: Partial<EtcdFleet['spec']> = {}, status: Partial<EtcdFleet['status']> = {}): EtcdFleet {
  return {
    apiVersion: 'etcd.ratchet.dev/v1alpha1',
    kind: 'EtcdFleet',
    metadata: { namespace: 'platform', name: 'production' },
    spec: {
      git: { url, ref: 'main', verify: { configMapName: 'signers' } },
      approvals: { notByAuthor: { people } },
      ...spec,
    },
    status: {
      observedGeneration: 1,
      revision: { attempted: revision },
      verification: { revision, url, mode: 'Head', signedBy: 'ada@example.com', key: 'K' },
      ...status,
    },
  };
}

function approved(by?: string, annotation: string = annotations.rollBack) {
  return {
    metadata: {
      name: 'orders',
      annotations: { mine: 'stays', [annotation]: 'c1/1', ...(by !== undefined && { [approverOf(annotation)]: by }) },
    },
  };
}

const why = (by: string | undefined, of = fleet()) => refusedApprovals(approved(by), of)[0]?.why;

test('the signer of the commit approves nothing of it by any account, and another person does', () => {
  assert.match(why('ada') ?? '', /^ada gave it, and signed main@sha1:a{40} as ada@example\.com$/);
  assert.match(why('oidc:ada') ?? '', /^oidc:ada gave it, and signed/);
  for (const another of ['grace', 'linus']) assert.equal(why(another), undefined);
});

for (const annotation of approvals)
  test(`${annotation} of its author is refused, and without a name`, () => {
    for (const by of ['ada', undefined]) {
      const object = approved(by, annotation);
      const refused = refusedApprovals(object, fleet());
      assert.deepEqual(
        refused.map((one) => one.annotation),
        [annotation],
      );
      assert.match(refused[0]?.cure ?? '', /another person .* approves it anew, by kubectl ratchet approve/);
      assert.deepEqual(approvalsGiven(withoutRefused(object, refused)), []);
    }
    assert.deepEqual(refusedApprovals(approved('grace', annotation), fleet()), []);
  });

test('what is not known refuses: the name, the person, the signer, the commit', () => {
  assert.equal(why(undefined), 'the name of the person that gave it is missing');
  for (const by of ['mallory', 'system:serviceaccount:platform:fleet', 'Ada', 'grace ', ''])
    assert.match(why(by) ?? '', /^.* gave it, and spec\.approvals.* does not list that name$/, by);
  const stranger = { revision, url, mode: 'Head', signedBy: 'web-flow', key: 'K' };
  assert.match(why('grace', fleet({}, { verification: stranger })) ?? '', /does not list web-flow, the signer of/);
  const { verify: _, ...git } = fleet().spec.git;
  const { verification: __, ...unverified } = fleet().status ?? assert.fail();
  const others: readonly EtcdFleet[] = [
    { ...fleet(), status: unverified },
    fleet({}, { revision: { attempted: `main@sha1:${'b'.repeat(40)}` } }),
    fleet({ git: { ...fleet().spec.git, url: 'https://git.example.com/other.git' } }),
    fleet({ git: { ...fleet().spec.git, verify: { mode: 'Tag', configMapName: 'signers' } } }),
    fleet({ git }),
    fleet({}, { revision: {} }),
  ];
  for (const other of others) assert.match(why('grace', other) ?? '', /is not verified/, JSON.stringify(other));
});

test('a fleet that does not ask for it refuses no approval, also not of before there were names', () => {
  const { approvals: _, ...spec } = fleet().spec;
  for (const other of [{ ...fleet(), spec }, fleet({ approvals: {} })])
    for (const by of ['ada', undefined]) assert.equal(why(by, other), undefined);
});

test('what is refused is gone, and all else of the object is as it was', () => {
  const object = approved('ada');
  const bare = withoutRefused(object, refusedApprovals(object, fleet()));
  const { [annotations.rollBack]: __, ...rest } = object.metadata.annotations as Record<string, string>;
  assert.deepEqual(bare.metadata.annotations, rest);
  assert.equal(withoutRefused(object, []), object);
});

test('objects are pruned after the confirmation of another person only', () => {
  const unlisted = ['a', 'b'].map((name) => ({
    ...{ apiVersion: 'etcd.ratchet.dev/v1alpha1', kind: 'EtcdCluster' as const },
    metadata: { namespace: 'payments', name, uid: name },
    spec: { replicas: 3, version: '3.6.16', storage: { size: '1Gi' } },
  }));
  const source = { url, ref: 'main', path: '.' };
  const inventory = unlisted.map(({ metadata }) => ({ ...metadata, generation: 1, source: `${metadata.name}.yaml` }));
  const tree = { specs: [{}], problems: [], files: new Set<string>(), complete: true, notes: [] };
  const planned = (given: Record<string, string>) => {
    const of = fleet({ prune: true }, { source, inventory });
    const asking = { ...of, metadata: { ...of.metadata, annotations: given } };
    return planPrune(unlisted as never, { fleet: asking, revision, tree, fleets: [asking] } as never);
  };
  const { confirmation = assert.fail('nothing is asked') } = planned({});
  const given = (by?: string) => planned(approved(by, annotations.confirmPrune).metadata.annotations);
  assert.equal(given('grace').refused, undefined, 'of another value');
  const confirmed = (by: string) =>
    planned({ [annotations.confirmPrune]: confirmation, [approverOf(annotations.confirmPrune)]: by });
  const refused = confirmed('ada');
  assert.deepEqual([refused.prune, refused.keep.length, refused.confirmation], [[], 2, confirmation]);
  assert.match(refused.refused?.why ?? '', /^ada gave it, and signed/);
  assert.equal(confirmed('grace').prune.length, 2);
});
