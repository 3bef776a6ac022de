import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { annotations } from '../../../manifests/render/names.ts';
import { decide } from '../../../reconcile/cluster/decide/decide.ts';
import { wantedLeaves } from '../../../reconcile/cluster/know/certificates/wanted.ts';
import type { LeafView, Observation } from '../../../reconcile/cluster/know/observation.ts';
import { situate } from '../../../reconcile/cluster/know/situation.ts';
import { leafFacts, leafView } from './certificates.ts';
import { all, healthy, withInputs, withRecord } from './observations.ts';

/** A cluster that lets in every certificate of its issuer, and is to let in names. */

const tls = {
  mode: 'CertManager',
  certManager: { issuerRef: { name: 'company' }, allowedNames: 'Own', clientNames: ['b.shop.example.com', 'a.b.c'] },
} as const;

function seen(change: (leaf: LeafView) => LeafView = (leaf) => leaf, metadata = {}): Observation {
  const every = all(withRecord({ tlsMode: 'CertManager' }), withInputs({ tls: { mode: 'CertManager' } }));
  const observation = healthy(3, { spec: { tls }, every, metadata });
  const { cluster, slots } = observation;
  const leaves = wantedLeaves(cluster, slots, 'CertManager').map((plan) => change(leafView(plan)));
  return { ...observation, certificates: { kind: 'read', authorities: {}, leaves, certManager: { kind: 'known' } } };
}

/** That leaf as it was before the names. */
const nameless = (secretName: string) => (leaf: LeafView) => {
  const { plan } = leaf;
  const facts = leafFacts(plan, undefined, { dnsNames: plan.dnsNames.filter((name) => name !== plan.ahead) });
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

  test('are recorded on all volumes at once, by an approval of exactly these', () => {
    const value = asked(seen()).approval?.value ?? '';
    const given = (text: string) => seen(undefined, { annotations: { [annotations.takeNames]: text } });
    const decision = decide(given(value));
    assert.ok(decision.kind === 'act' && decision.action.kind === 'take-names', decision.message);
    assert.deepEqual(
      decision.action.volumes.map(({ name }) => name),
      ['orders-0', 'orders-1', 'orders-2'],
    );
    assert.equal(decision.action.seen.length, 5);
    for (const other of ['', `${value}1`, 'c2c2/0123456789ab', '__proto__']) {
      assert.notEqual(decide(given(other)).reason, 'TakingNames');
      assert.match(asked(given(other)).message, /the present approval \(.*\) is for other names, and void/);
    }
  });
});

const swapped = { ...tls, certManager: { ...tls.certManager, clientNames: ['a.b.c', 'b.shop.example.com', 'a.b.c'] } };
