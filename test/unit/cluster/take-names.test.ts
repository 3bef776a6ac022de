import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { userSecretName } from '../../../manifests/render/certificate-names.ts';
import { annotations } from '../../../manifests/render/names.ts';
import { decide } from '../../../reconcile/cluster/decide/decide.ts';
import { callsForAll } from '../../../reconcile/cluster/know/certificates/occasion.ts';
import { wantedLeaves } from '../../../reconcile/cluster/know/certificates/wanted.ts';
import type { LeafView, Observation, Slot } from '../../../reconcile/cluster/know/observation.ts';
import { situate } from '../../../reconcile/cluster/know/situation.ts';
import { leafFacts, leafView, missing } from './certificates.ts';
import { all, type Differences, healthy, withInputs, withRecord } from './observations.ts';

/** A cluster that lets in every certificate of its issuer, and is to let in names. */

const tls = {
  mode: 'CertManager',
  certManager: { issuerRef: { name: 'company' }, allowedNames: 'Own', clientNames: ['b.shop.example.com', 'a.b.c'] },
} as const;

const every = all(withRecord({ tlsMode: 'CertManager' }), withInputs({ tls: { mode: 'CertManager' } }));

function seen(
  change: (leaf: LeafView) => LeafView = (leaf) => leaf,
  metadata = {},
  differences: Differences = {},
): Observation {
  const observation = healthy(3, { spec: { tls }, every, metadata, ...differences });
  const { cluster, slots } = observation;
  const leaves = wantedLeaves(cluster, slots, 'CertManager').map((plan) => change(leafView(plan)));
  return { ...observation, certificates: { kind: 'read', authorities: {}, leaves, certManager: { kind: 'known' } } };
}

/** That leaf as it was before the names. */
const nameless = (secretName: string) => (leaf: LeafView) => {
  const { plan } = leaf;
  const facts = leafFacts(plan, undefined, { dnsNames: plan.dnsNames.filter((name) => !name.endsWith('.invalid')) });
  return plan.secretName === secretName ? { ...leaf, facts } : leaf;
};

function asked(observation: Observation) {
  const refusal = situate(observation).effective.refusals.find(({ reason }) => reason === 'NamesNotApproved');
  return refusal ?? assert.fail('nothing is told');
}

describe('names that members are to let in', () => {
  test('are approved as a whole, in whatever order the spec has them', () => {
    const { approval, cure } = asked(seen());
    assert.match(approval?.approves ?? '', /clients\.orders\.shop\.[a-z-]+\.invalid, a\.b\.c, b\.shop\.example\.com, /);
    assert.ok(cure.includes(`${annotations.takeNames}=${approval?.value}`), cure);
    const { approval: same } = asked({
      ...seen(),
      cluster: { ...seen().cluster, spec: { ...seen().cluster.spec, tls: swapped } },
    });
    assert.equal(same?.value, approval?.value);
  });

  test('are asked about once every leaf has its name, and each member presents it', () => {
    for (const secretName of ['orders-reconciler-tls', 'orders-client-tls', 'orders-2-peer-tls']) {
      const { approval, message } = asked(seen(nameless(secretName)));
      assert.equal(approval, undefined);
      assert.match(message, new RegExp(`without its name: ${secretName}$`));
    }
    const older = asked(
      seen((leaf) => (leaf.plan.secretName === 'orders-1-peer-tls' ? { ...leaf, served: 'older' } : leaf)),
    );
    assert.match(older.message, /not presented by its member yet: orders-1-peer-tls$/);
    assert.equal(asked({ ...seen(), certificates: { kind: 'unread' } }).approval, undefined);
  });

  test('do not wait for the leaf of a user that was never made, but for one without a name', () => {
    const { spec } = seen().cluster;
    const auth = { mode: 'Disabled', users: [{ name: 'reader' }] } as const;
    const reader = userSecretName('orders', 'reader');
    const withUser = (change: (leaf: LeafView) => LeafView) => {
      const observation = seen(change, {}, { spec: { tls, auth } });
      return asked({ ...observation, cluster: { ...observation.cluster, spec: { ...spec, auth } } });
    };
    assert.ok(withUser((leaf) => (leaf.plan.secretName === reader ? missing(leaf) : leaf)).approval);
    const { approval, message } = withUser(nameless(reader));
    assert.equal(approval, undefined);
    assert.match(message, new RegExp(`without its name: ${reader}$`));
  });

  test('are recorded on all volumes at once, by an approval of exactly these', () => {
    const value = asked(seen()).approval?.value ?? '';
    const given = (text: string) => seen(undefined, { annotations: { [annotations.takeNames]: text } });
    const decision = decide(given(value));
    assert.ok(decision.kind === 'act' && decision.action.kind === 'take-names', decision.message);
    assert.deepEqual(
      decision.action.volumes.map(({ name }) => name),
      ['orders-0', 'orders-1', 'orders-2'],
    );
    assert.equal(decision.action.seen.length, 6);
    const ill = seen(undefined, { annotations: { [annotations.takeNames]: value } }, { every, slots: { 2: notReady } });
    assert.notEqual(decide(ill).reason, 'TakingNames');
    assert.equal(asked(ill).approval, undefined, 'it has the approval already');
    assert.match(asked(ill).message, /until their volumes record otherwise; a person has approved it$/);
    for (const other of ['', `${value}1`, 'c2c2/0123456789ab', '__proto__']) {
      assert.notEqual(decide(given(other)).reason, 'TakingNames');
      assert.match(asked(given(other)).message, /the present approval \(.*\) is for other names, and void/);
    }
  });
});

describe('names that all volumes say', () => {
  const saying = all(every, withRecord({ allowedNames: 'Taken' }));
  const open = { ...tls, certManager: { issuerRef: tls.certManager.issuerRef } } as const;

  test('are told to no member before every leaf has its own, whatever a hand or the spec says', () => {
    for (const asks of [tls, open]) {
      const observation = seen(undefined, {}, { every: saying, spec: { tls: asks } });
      const told = situate(observation).effective.inputs.tls;
      assert.equal(told.allowedNames, 'Taken', 'all have theirs');
      for (const secretName of ['orders-reconciler-tls', 'orders-client-tls', 'orders-2-peer-tls']) {
        const lacking = seen(nameless(secretName), {}, { every: saying, spec: { tls: asks } });
        const { inputs } = situate(lacking).effective;
        assert.deepEqual([inputs.tls.mode, inputs.tls.allowedNames], ['CertManager', undefined], secretName);
      }
    }
  });

  test('stay with members that run with them, also where a leaf lacks its own', () => {
    const running = all(saying, withInputs({ tls: { mode: 'CertManager', allowedNames: 'Taken' } }));
    const lacking = seen(nameless('orders-2-peer-tls'), {}, { every: saying, slots: { 0: running } });
    assert.equal(situate(lacking).effective.inputs.tls.allowedNames, 'Taken');
  });

  test('are a reason to read every certificate until the first member is told', () => {
    const renewAfter = '2027-01-01T00:00:00Z';
    const certificates = { renewAfter, notAfter: '2027-02-01T00:00:00Z', secretName: 'orders-client-tls' };
    const isTrue = {
      status: 'True',
      reason: 'Converged',
      message: '',
      lastTransitionTime: '2026-01-01T00:00:00Z',
    } as const;
    const conditions = ['CertificatesReady', 'Available'].map((type) => ({ type, ...isTrue }));
    const status = { observedGeneration: 1, certificates, conditions };
    const calls = (members: typeof every) => {
      const metadata = { generation: 1 };
      const { cluster, slots, at } = seen(undefined, metadata, { every: members, status, spec: { tls: open } });
      return callsForAll(cluster, slots, at);
    };
    assert.equal(calls(saying), true);
    assert.equal(calls(every), false);
    assert.equal(calls(all(saying, withInputs({ tls: { mode: 'CertManager', allowedNames: 'Taken' } }))), false);
  });
});

function notReady(slot: Slot): Slot {
  return { ...slot, ...(slot.pod && { pod: { ...slot.pod, ready: false } }) };
}

const swapped = { ...tls, certManager: { ...tls.certManager, clientNames: ['a.b.c', 'b.shop.example.com', 'a.b.c'] } };
