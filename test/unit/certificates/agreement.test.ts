import assert from 'node:assert/strict';
import { test } from 'node:test';
import { clusterLeaves, type LeafPlan, memberLeaves } from '../../../manifests/render/certificate-names.ts';
import { agreementDefects, type HeldLeaf } from '../../../reconcile/x509/agreement.ts';
import { type Authority, createAuthority, issueLeaf } from '../../../reconcile/x509/issue.ts';
import { leafData } from '../../../reconcile/x509/secret-data.ts';
import { days, leafFacts, now } from './forge.ts';

const life = { notBefore: now, notAfter: days(365) };
const old = await createAuthority({ commonName: 'old', ...life });
const next = await createAuthority({ commonName: 'new', ...life, previous: old });
const { cross: _, ...uncrossed } = next;
const names = { namespace: 'payments', cluster: 'c' };
const [peer0, server0] = memberLeaves(names, 'c-0');
const [peer1, server1] = memberLeaves(names, 'c-1');
const [peer2] = memberLeaves(names, 'c-2');
const [reconciler, application] = clusterLeaves('c');

test('leaves of one CA agree', async () => {
  const plans = [peer0, peer1, peer2, server0, server1, reconciler, application];
  assert.deepEqual(judge(await Promise.all(plans.map((plan) => held(plan, old, [old])))), []);
});

test('at every stage of a rotation all agree, whichever have been reached', async () => {
  const stages: readonly (readonly [signer: Authority, trust: readonly Authority[]])[] = [
    [old, [old]],
    [next, [next, old]],
  ];
  const plans = [peer0, peer1, server0, reconciler];
  for (let mask = 0; mask < 2 ** plans.length; mask++) {
    const leaves = plans.map((plan, n) => {
      const [signer, trust] = stages[(mask >> n) & 1] ?? [old, [old]];
      return held(plan, signer, trust);
    });
    assert.deepEqual(judge(await Promise.all(leaves)), [], `leaves ${mask.toString(2)} are of the new CA`);
  }
  // The last stage: some trust the new CA only, all leaves are its own.
  const last = plans.map((plan, n) => held(plan, next, n % 2 === 0 ? [next] : [next, old]));
  assert.deepEqual(judge(await Promise.all(last)), []);
});

test('a peer of another CA is named once, with the members that would refuse it', async () => {
  const defects = judge(
    await Promise.all([held(peer0, old, [old]), held(peer1, uncrossed, [next]), held(peer2, old, [old])]),
  );
  assert.deepEqual(
    defects.map(({ reason, severity, secretName, key }) => ({ reason, severity, secretName, key })),
    ['c-0-peer-tls', 'c-1-peer-tls', 'c-2-peer-tls'].map((secretName) => ({
      reason: 'AuthoritiesDisagree',
      severity: 'fatal',
      secretName,
      key: 'tls.crt',
    })),
  );
  assert.match(
    defects[1]?.message ?? '',
    /^tls\.crt of Secret c-1-peer-tls cannot be verified with ca\.crt of c-0-peer-tls, c-2-peer-tls: /,
  );
  assert.match(defects[1]?.cure ?? '', /add the CA of c-1-peer-tls to ca\.crt of c-0-peer-tls, c-2-peer-tls/);
});

test('trust on one side only is a defect of the side that is not trusted', async () => {
  const defects = judge(await Promise.all([held(server0, old, [old]), held(reconciler, uncrossed, [old, next])]));
  assert.deepEqual(
    defects.map(({ secretName }) => secretName),
    ['c-reconciler-tls'],
  );
});

test('peers and clients need not trust each other, nor two clients', async () => {
  const leaves = [held(peer0, old, [old]), held(server0, uncrossed, [next]), held(reconciler, uncrossed, [next])];
  assert.deepEqual(judge(await Promise.all(leaves)), []);
});

test('one Secret shared by all members is not held against itself', async () => {
  const shared = await held(peer0, uncrossed, [old]);
  const plan = (of: LeafPlan): HeldLeaf => ({ ...shared, plan: { ...of, secretName: shared.plan.secretName } });
  assert.deepEqual(judge([plan(peer0), plan(peer1), plan(peer2)]), []);
});

test('a long list of Secrets is cut short', async () => {
  const members = Array.from({ length: 6 }, (_, n) => memberLeaves(names, `c-${n}`)[0]);
  const leaves = await Promise.all(members.map((plan, n) => held(plan, n === 0 ? uncrossed : old, [old])));
  assert.match(judge(leaves)[0]?.message ?? '', /c-1-peer-tls, c-2-peer-tls, c-3-peer-tls and 2 more: /);
});

function judge(leaves: readonly HeldLeaf[]) {
  return agreementDefects({ leaves, now });
}

async function held(plan: LeafPlan, signer: Authority, trust: readonly Authority[]): Promise<HeldLeaf> {
  const issued = await issueLeaf(plan, signer, { notBefore: now, notAfter: days(90) });
  const data = leafData(
    issued,
    trust.map(({ certificate }) => certificate),
  );
  return { plan, facts: leafFacts(data) };
}
