import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import * as fc from 'fast-check';
import type { Authority } from '../../../manifests/render/certificate-names.ts';
import { annotations } from '../../../manifests/render/names.ts';
import { decide } from '../../../reconcile/cluster/decide/decide.ts';
import type { AuthorityView, LeafView, Observation, Slot } from '../../../reconcile/cluster/know/observation.ts';
import { situate } from '../../../reconcile/cluster/know/situation.ts';
import { statusFor } from '../../../reconcile/cluster/report/status.ts';
import { change, mostly } from './arbitrary.ts';
import {
  authorityFacts,
  damaged,
  foreign,
  managed,
  missing,
  missingAuthority,
  ofTheNew,
  plansOf,
  rotated,
  withAuthority,
  withFacts,
} from './certificates.ts';
import { healthy, prepared, starting, withInputs, withPod } from './observations.ts';

/** Clusters under TLS, with any mixture of what can be wrong with certificates and members. */

type LeafChange = (leaf: LeafView) => LeafView;
type AuthorityChange = (view: AuthorityView) => AuthorityView;

const leafChange: fc.Arbitrary<LeafChange> = fc.constantFrom<LeafChange>(
  missing,
  damaged,
  foreign,
  (leaf) => foreign(damaged(leaf)),
  (leaf) => ({ ...missing(leaf), state: 'leftover' }),
  ofTheNew(),
  ofTheNew({ crossed: false }),
  withFacts({ keyMatches: false }),
  withFacts({ notBefore: new Date('2025-10-01T00:00:00Z'), notAfter: new Date('2026-01-20T00:00:00Z') }),
  withFacts({ commonName: 'somebody' }),
  (leaf) => ({ ...leaf, served: 'another' }),
);

const authorityChange = (which: Authority): fc.Arbitrary<AuthorityChange> =>
  mostly<AuthorityChange>(
    (view) => view,
    fc.constantFrom<AuthorityChange>(
      missingAuthority,
      ({ facts: _, ...view }) => view,
      ({ facts: _, ...view }) => ({ ...view, state: 'foreign' }),
      (view) => ({ ...view, state: 'foreign' }),
      (view) => ({ ...view, record: { token: 'another' } }),
      withAuthority(rotated(which)),
      withAuthority(rotated(which), { servedSince: '2026-01-02T00:00:00Z' }),
      withAuthority(rotated(which, { crossed: false }), { trust: 'word' }),
      withAuthority(authorityFacts(which, 2), { trust: 'word' }),
      withAuthority(authorityFacts(which, 1, { notAfter: new Date('2026-01-01T12:00:00Z') })),
      withAuthority(authorityFacts(which, 1, { notBefore: new Date('2026-01-03T00:00:00Z') })),
      withAuthority(authorityFacts(which, 1, { notBefore: new Date('2010-01-01T00:00:00Z') })),
    ),
  );

function inRotation(which: Authority): AuthorityChange {
  return withAuthority(rotated(which), { rotation: 'x', servedSince: '2026-01-02T00:00:00Z' });
}

const trusting: fc.Arbitrary<(slot: Slot) => Slot> = fc
  .constantFrom('word', 'other.word', 'other')
  .chain((trust) => fc.constantFrom(withPod({ trust }), withInputs({ tls: { mode: 'Managed', trust } })));

const observations: fc.Arbitrary<Observation> = fc
  .record({
    begin: fc.constantFrom(healthy, healthy, prepared, starting),
    leaves: fc.array(fc.tuple(fc.constantFrom(...plansOf(3).map(({ secretName }) => secretName)), leafChange), {
      maxLength: 4,
    }),
    every: mostly<LeafChange>((leaf) => leaf, leafChange),
    peer: authorityChange('peer'),
    client: authorityChange('client'),
    slots: fc.array(fc.tuple(fc.nat(2), fc.oneof(change, trusting)), { maxLength: 4 }),
    all: mostly<(slot: Slot) => Slot>((slot) => slot, trusting),
    asks: fc.boolean(),
    rotating: fc.constantFrom(false, false, true),
    deleting: mostly(false, fc.constant(true)),
    empty: fc.boolean(),
  })
  .map(({ begin, leaves, every, peer, client, slots, all, asks, rotating, deleting, empty }) => {
    const base = begin(3, {
      certificates: managed(3, {
        every: (leaf) => every(rotating ? ofTheNew()(leaf) : leaf),
        peer: (view) => peer(rotating ? inRotation('peer')(view) : view),
        client: (view) => client(rotating ? inRotation('client')(view) : view),
        leaves: Object.fromEntries(leaves),
      }),
      metadata: {
        ...(asks && { annotations: { [annotations.rotateCertificates]: 'x' } }),
        ...(deleting && { deletionTimestamp: '2026-01-02T03:00:00Z', finalizers: ['etcd.ratchet.dev/volumes'] }),
      },
      ...(deleting && { spec: { volumeRetention: { whenDeleted: 'Delete' as const } } }),
    });
    const changed = (slot: Slot) =>
      slots.reduce((value, [ordinal, one]) => (ordinal === slot.ordinal ? one(value) : value), all(slot));
    return { ...base, slots: deleting && empty ? [] : base.slots.map(changed) };
  });

function everyAction(check: (observation: Observation, action: Action) => void, about?: Action['kind']): void {
  let acted = 0;
  fc.assert(
    fc.property(observations, (observation) => {
      const decision = decide(observation);
      if (decision.kind !== 'act') return;
      if (about === undefined || decision.action.kind === about) acted += 1;
      check(observation, decision.action);
    }),
    { numRuns: 4000 },
  );
  assert.ok(acted > (about === undefined ? 500 : 5), `only ${acted} actions were looked at`);
}

type Action = Extract<ReturnType<typeof decide>, { kind: 'act' }>['action'];

describe('whatever is observed of certificates', () => {
  test('no decision and no status has any part of a certificate or a key in it', () => {
    fc.assert(
      fc.property(observations, (observation) => {
        const decision = decide(observation);
        const told = JSON.stringify([decision, statusFor(situate(observation), decision, { kind: 'none' })]);
        assert.doesNotMatch(told, /BEGIN |PRIVATE|tls\.key"|"der"|fingerprint|keyMatches/);
      }),
      { numRuns: 2000 },
    );
  });

  test('no action names a foreign Secret, to write it, to delete it or to trust it', () => {
    everyAction(({ certificates }, action) => {
      const { leaves, authorities } = certificates.kind === 'read' ? certificates : assert.fail();
      const touched = new Set(secretsOf(action));
      for (const { plan, state } of leaves)
        assert.ok(state !== 'foreign' || !touched.has(plan.secretName), plan.secretName);
      for (const { name, state } of Object.values(authorities))
        assert.ok(state !== 'foreign' || !touched.has(name), name);
    });
  });

  test('no leaf is issued by a CA that a member that runs could not follow', () => {
    everyAction(({ certificates, slots }, action) => {
      if (action.kind !== 'issue-certificates') return;
      const { authorities } = certificates.kind === 'read' ? certificates : assert.fail();
      for (const { plan } of action.leaves.filter(({ remedy }) => remedy === 'issue')) {
        const { facts, record } = authorities[plan.authority] ?? {};
        if (!facts || facts.crossed || facts.trust.length < 2) continue;
        for (const { name, peer, pod } of slots) {
          if (!peer?.current || pod?.container.state !== 'running') continue;
          assert.ok(
            pod.trust?.split('.').includes(record?.trust ?? ''),
            `${name} does not know the new ${plan.authority} CA`,
          );
        }
      }
    }, 'issue-certificates');
  });

  test('no member starts without its certificates, and at a birth none before all have them', () => {
    everyAction((observation, action) => {
      if (action.kind !== 'start-members') return;
      const { certificates } = observation;
      const { leaves } = certificates.kind === 'read' ? certificates : assert.fail();
      const birth = situate(observation).life.stage === 'birth';
      for (const { plan, state, facts, defects } of leaves) {
        if (plan.peer === undefined ? !birth : !action.peers.includes(plan.peer)) continue;
        assert.equal(state, 'ours', plan.secretName);
        assert.ok(facts, plan.secretName);
        assert.ok(
          defects.every(({ severity }) => severity !== 'fatal'),
          plan.secretName,
        );
      }
    }, 'start-members');
  });

  test('no CA is given up while a leaf of another one is shown, or a member is not healthy', () => {
    everyAction(({ certificates, slots }, action) => {
      if (action.kind !== 'retire-authorities') return;
      const { leaves, authorities } = certificates.kind === 'read' ? certificates : assert.fail();
      for (const { plan, facts, served } of leaves) {
        if (!action.authorities.includes(plan.authority)) continue;
        assert.equal(facts?.issuer, authorities[plan.authority]?.facts?.subject);
        if (plan.peer !== undefined) assert.equal(served, facts?.fingerprint);
      }
      assert.ok(slots.every(({ pod }) => pod?.ready));
    }, 'retire-authorities');
  });

  test('CAs are deleted only with the cluster, when no volume and no member is left', () => {
    everyAction(({ cluster, slots }, action) => {
      if (action.kind !== 'delete-authorities') return;
      assert.notEqual(cluster.metadata.deletionTimestamp, undefined);
      assert.ok(slots.every(({ pod, peer, volume }) => !pod && !peer && !volume));
    }, 'delete-authorities');
  });
});

/** Every Secret that an action would read for its content, write or delete. */
function secretsOf(action: Action): readonly string[] {
  switch (action.kind) {
    case 'issue-certificates':
      return action.leaves.map(({ plan }) => plan.secretName);
    case 'make-authorities':
      return [
        ...action.leaves.map(({ plan }) => plan.secretName),
        ...action.authorities.flatMap(({ authority, trustedIn }) => [`orders-${authority}-ca`, ...trustedIn]),
      ];
    case 'rotate-authorities':
    case 'retire-authorities':
    case 'note-served':
      return action.authorities.map((authority) => `orders-${authority}-ca`);
    case 'delete-authorities':
      return action.secrets.map(({ name }) => name);
    default:
      return [];
  }
}
