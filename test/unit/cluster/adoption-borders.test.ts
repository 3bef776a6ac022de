import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { Pod } from '../../../manifests/kube-types.ts';
import { awaitStrangers, leaveExisting } from '../../../reconcile/cluster/decide/rules/adoption/leave-existing.ts';
import { dropInherited, takeOver } from '../../../reconcile/cluster/decide/rules/adoption/take-over.ts';
import { wrongMode } from '../../../reconcile/cluster/know/adoption/existing-fitness.ts';
import { existingPodOf } from '../../../reconcile/cluster/know/adoption/existing-pod.ts';
import { inheritedIn, isAdopting } from '../../../reconcile/cluster/know/adoption/inherited.ts';
import type { Decision } from '../../../reconcile/cluster/know/decision.ts';
import type { Membership, Observation } from '../../../reconcile/cluster/know/observation.ts';
import { situate } from '../../../reconcile/cluster/know/situation.ts';
import { approved, before, beside, inherited, others } from './adoptions.ts';
import { all, members, noQuorum, silent, withEndpoint, without, withPod, withRecord } from './observations.ts';

/** Where the rules of an adoption begin and end to speak (I13). */

const metadata = { deletionTimestamp: '2026-01-02T03:00:00Z' };
const unknown = noQuorum('none answers');
const told = (decision: Decision | undefined) =>
  decision?.kind === 'act' && 'name' in decision.action ? `act ${decision.action.name}` : decision?.kind;

describe('a deletion beside members of others', () => {
  const leaving = (seen: Observation) => told(leaveExisting(situate(seen)));

  test('asks nothing of the others where there is nothing of ours, and does where a peer is', () => {
    assert.equal(leaving({ ...before(), membership: unknown }), undefined);
    assert.equal(leaving(beside(1, { metadata, membership: unknown, every: without('volume') })), 'refuse');
    assert.equal(leaving(beside(1, { metadata, membership: unknown, every: without('peer') })), 'refuse');
  });

  test('has a silent member leave where a quorum of all is healthy, or its removal was begun', () => {
    const ill = all(withEndpoint(silent), withPod({ ready: false }));
    assert.equal(leaving(beside(1, { metadata, every: ill })), 'act orders-0');
    const two = { inherited: inherited('ed2', 'silent') };
    assert.equal(leaving({ ...beside(1, { metadata, every: ill }), ...two }), 'wait');
    const begun = all(ill, withRecord({ state: 'releasing' }));
    assert.equal(leaving({ ...beside(1, { metadata, every: begun }), ...two }), 'act orders-0');
  });

  test('waits for strangers on the list only where ours vote beside them', () => {
    const { inherited: _, ...seen } = beside(1, { metadata, spec: { bootstrap: {} } });
    assert.equal(told(awaitStrangers(situate(seen))), 'refuse');
    const alone: Membership = { ...members(1), members: others() };
    assert.equal(awaitStrangers(situate({ ...seen, membership: alone })), undefined);
  });
});

test('before anything of ours was born none of the others leaves, approved or not', () => {
  const { value } = approvalIn(beside(3));
  const seen = before();
  const annotated = { ...seen.cluster, metadata: { ...seen.cluster.metadata, annotations: value } };
  const down = { ...seen, cluster: annotated, inherited: inherited('ed2', 'silent') };
  for (const one of [seen, { ...seen, cluster: annotated }, down])
    assert.deepEqual([takeOver(situate(one)), dropInherited(situate(one))], [undefined, undefined]);
});

/** As a person approves it. */
function approvalIn(seen: Observation) {
  return { value: approved(seen).cluster.metadata.annotations ?? {} };
}

test('a removal writes only a disruption budget of ours that is there', () => {
  const seen = approved(beside(3));
  const write = (disruptionBudget: Observation['shared']['disruptionBudget']) => {
    const decision = takeOver(situate({ ...seen, shared: { ...seen.shared, disruptionBudget } }));
    return decision?.kind === 'act' && 'minAvailable' in decision.action;
  };
  assert.deepEqual(
    [write({ state: 'present', minAvailable: 9 }), write({ state: 'foreign' }), write({ state: 'missing' })],
    [true, false, false],
  );
});

test('a member of others is what it says of itself, and nothing where another one answers for it', () => {
  const membership: Membership = { ...members(1), members: others() };
  const [first] = inherited('ed2', { memberId: 'ed1' });
  assert.ok(first);
  assert.equal(inheritedIn({ membership, inherited: [first] })[0]?.status, undefined);
  const [own] = inherited('ed2');
  assert.equal(inheritedIn({ membership, inherited: own ? [own] : [] })[0]?.status?.memberId, 'ed0');
});

test('an adoption is over where the last list that was seen has none of the others', () => {
  const { cluster, at } = beside(1);
  const adopts = (last?: readonly ReturnType<typeof others>[number][]) =>
    isAdopting({ cluster, at, membership: { ...unknown, ...(last && { last }) } as Membership });
  assert.deepEqual([adopts(), adopts(others()), adopts(members(1).members)], [true, true, false]);
});

test('ours join in plaintext, or by certificates that a person provides', () => {
  const { inputs } = situate(beside(1)).effective;
  const list = (scheme: string) => others().map((one) => ({ ...one, peerURLs: [`${scheme}://old.shop.svc:2380`] }));
  const fits = (mode: 'Disabled' | 'Provided' | 'Managed' | 'CertManager', scheme = 'https') =>
    wrongMode({ inputs: { ...inputs, tls: { mode } }, members: list(scheme) }) === undefined;
  assert.deepEqual(
    [fits('Disabled', 'http'), fits('Provided'), fits('Managed'), fits('CertManager')],
    [true, true, false, false],
  );
  assert.deepEqual([fits('Disabled'), fits('Provided', 'http')], [false, false]);
});

test('a pod makes its own peer certificates as etcd reads its flags and variables', () => {
  const makes = (args: readonly string[], variable?: string) => {
    const env = variable === undefined ? [] : [{ name: 'ETCD_PEER_AUTO_TLS', value: variable }];
    const spec = { containers: [{ name: 'etcd', image: 'etcd', args, env }] };
    return existingPodOf({ metadata: { name: 'old-0' }, spec } as unknown as Pod).peerAutoTls ?? false;
  };
  assert.deepEqual([makes([]), makes([], 'true'), makes([], 'false')], [false, true, false]);
  assert.deepEqual([makes(['--peer-auto-tls']), makes(['--peer-auto-tls'], 'false')], [true, true]);
  assert.deepEqual([makes(['--peer-auto-tls=true']), makes(['--peer-auto-tls=false'], 'true')], [true, false]);
  assert.equal(makes(['--peer-auto-tls', '-peer-auto-tls=0']), false, 'the last one counts');
});
