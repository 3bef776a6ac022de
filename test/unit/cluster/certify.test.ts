import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { authorityRecordOf } from '../../../manifests/render/certificate-secret.ts';
import { inputsHash } from '../../../manifests/render/inputs-hash.ts';
import { annotations } from '../../../manifests/render/names.ts';
import { decide } from '../../../reconcile/cluster/decide/decide.ts';
import type { LeafView, Observation, ReadCertificates, Slot } from '../../../reconcile/cluster/know/observation.ts';
import { situate } from '../../../reconcile/cluster/know/situation.ts';
import type { Inputs } from '../../../reconcile/cluster/know/spec/inputs.ts';
import { statusFor } from '../../../reconcile/cluster/report/status.ts';
import { fatal } from '../../../reconcile/x509/defect.ts';
import {
  authorityFacts,
  damaged,
  foreign,
  managed,
  missing,
  missingAuthority,
  nothingYet,
  ofTheNew,
  rotated,
  withAuthority,
  withFacts,
} from './certificates.ts';
import {
  all,
  type Differences,
  healthy,
  noQuorum,
  prepared,
  silent,
  withEndpoint,
  withInputs,
  withPod,
} from './observations.ts';

const at = new Date('2026-01-02T03:04:05Z');
const leftover = (leaf: LeafView): LeafView => ({ ...missing(leaf), state: 'leftover' });

function decided(certificates: ReadCertificates, differences: Differences = {}) {
  return decide(healthy(3, { ...differences, certificates }));
}

/** Its peer, its template and its pod are of these inputs. */
function startedOn(inputs: Inputs): (slot: Slot) => Slot {
  const { trust } = inputs.tls;
  return (slot) => {
    const changed = all(withInputs(inputs), withPod(trust === undefined ? {} : { trust }))(slot);
    return {
      ...changed,
      ...(changed.statefulSet && { statefulSet: { ...changed.statefulSet, inputsHash: inputsHash(inputs) } }),
    };
  };
}

function ordersIn(decision: ReturnType<typeof decide>): readonly string[] {
  assert.equal(decision.kind, 'act', decision.message);
  const action = decision.kind === 'act' && 'leaves' in decision.action ? decision.action : assert.fail();
  return action.leaves.map((leaf) => `${'remedy' in leaf ? leaf.remedy : ''} ${leaf.plan.secretName}`);
}

describe('before the first start', () => {
  test('both CAs are made, and everything that they sign, in one step', () => {
    const decision = decide(prepared(3, { certificates: nothingYet(3) }));
    assert.partialDeepStrictEqual(decision, {
      reason: 'MakingAuthorities',
      action: {
        kind: 'make-authorities',
        authorities: [
          { authority: 'peer', trustedIn: [] },
          { authority: 'client', trustedIn: [] },
        ],
        validity: { notBefore: '2026-01-02T02:59:05.000Z' },
      },
    });
    assert.equal(ordersIn(decision).length, 9);
  });

  test('what is missing when both CAs are there is issued, and no member is started before', () => {
    const certificates = managed(3, { leaves: { 'orders-1-peer-tls': missing } });
    assert.deepEqual(ordersIn(decide(prepared(3, { certificates }))), ['issue orders-1-peer-tls']);
    assert.equal(decide(prepared(3, { certificates: managed(3) })).reason, 'StartingMembers');
  });

  for (const [sentence, certificates, name] of [
    ['a leaf', managed(3, { leaves: { 'orders-client-tls': foreign } }), 'orders-client-tls'],
    [
      'a CA',
      {
        ...nothingYet(3),
        authorities: managed(3, { peer: ({ name, uid: _ }) => ({ name, state: 'foreign' }) }).authorities,
      },
      'orders-peer-ca',
    ],
  ] as const) {
    test(`a foreign Secret in the place of ${sentence} is named, with a cure, and left alone`, () => {
      let decision = decide(prepared(3, { certificates }));
      // What does not depend on it is made first.
      if (decision.kind === 'act') {
        assert.ok(!JSON.stringify(decision.action).includes(name));
        const client = certificates.authorities.client ?? assert.fail();
        const rest = managed(3, { every: (leaf) => (leaf.plan.authority === 'peer' ? missing(leaf) : leaf) });
        decision = decide(
          prepared(3, { certificates: { ...rest, authorities: { ...certificates.authorities, client } } }),
        );
      }
      assert.equal(decision.kind, 'refuse');
      assert.equal(decision.reason, 'NameTaken');
      assert.match(decision.message, new RegExp(name));
    });
  }

  test("a foreign Secret of a leaf's name is not trusted", () => {
    const certificates = managed(3, {
      client: missingAuthority,
      leaves: { 'orders-client-tls': foreign },
      every: (leaf) => (leaf.plan.authority === 'client' ? missing(leaf) : leaf),
    });
    const named = {
      ...certificates,
      leaves: certificates.leaves.map((leaf) =>
        leaf.plan.secretName === 'orders-client-tls'
          ? { ...managed(3).leaves[1], ...foreign(managed(3).leaves[1] ?? leaf) }
          : leaf,
      ),
    };
    assert.partialDeepStrictEqual(decide(prepared(3, { certificates: named })), {
      action: { kind: 'make-authorities', authorities: [{ authority: 'client', trustedIn: [] }] },
    });
  });

  test('Secrets of an earlier resource are waited for', () => {
    const certificates = managed(3, { leaves: { 'orders-0-peer-tls': leftover } });
    assert.equal(decide(prepared(3, { certificates })).reason, 'OldObjectsLeaving');
  });

  test('a leaf that no CA can sign at this time is waited for', () => {
    const peer = withAuthority(authorityFacts('peer', 1, { notBefore: new Date('2026-01-02T05:00:00Z') }));
    const decision = decide(
      prepared(3, { certificates: managed(3, { peer, leaves: { 'orders-0-peer-tls': damaged } }) }),
    );
    assert.equal(decision.kind, 'wait');
    assert.equal(decision.reason, 'AwaitingCertificates');
  });
});

describe('under a running cluster', () => {
  test('all leaves that are due are renewed in one step, without a quorum and with members down', () => {
    const due = managed(3, {
      every: withFacts({ notBefore: new Date('2025-11-01T00:00:00Z'), notAfter: new Date('2026-01-20T00:00:00Z') }),
    });
    for (const differences of [
      {},
      { membership: noQuorum('down') },
      { slots: { 1: all(withPod({ ready: false }), withEndpoint(silent)) } },
    ]) {
      const decision = decided(due, differences);
      assert.equal(decision.reason, 'RenewingCertificates');
      assert.equal(ordersIn(decision).length, 9);
    }
  });

  test('a lost CA is made anew, trusted beside the one that members know, and signs nothing yet', () => {
    const decision = decided(managed(3, { peer: missingAuthority }));
    assert.partialDeepStrictEqual(decision, {
      action: {
        kind: 'make-authorities',
        authorities: [
          { authority: 'peer', trustedIn: ['orders-0-peer-tls', 'orders-1-peer-tls', 'orders-2-peer-tls'] },
        ],
        leaves: [],
      },
    });
    assert.match(decision.message, /was lost/);
  });

  test('a CA that is made answers the request that stands', () => {
    const metadata = { annotations: { [annotations.rotateCertificates]: 'x' } };
    assert.partialDeepStrictEqual(decided(managed(3, { peer: missingAuthority }), { metadata }), {
      action: { request: 'x' },
    });
  });

  test("a foreign Secret in the place of the applications' keeps no member from restarting", () => {
    const certificates = managed(3, { leaves: { 'orders-client-tls': foreign } });
    const sealedAndDown = healthy(3, {
      certificates,
      slots: { 1: ({ statefulSet: _, pod: __, ...slot }) => ({ ...slot, endpoint: silent }) },
    });
    assert.equal(decide(sealedAndDown).reason, 'StartingMembers');
  });

  test('a taken Secret is named when all else is well; what is not well is named before a wait', () => {
    assert.equal(decided(managed(3, { leaves: { 'orders-client-tls': foreign } })).reason, 'NameTaken');
    const down = all(withPod({ ready: false }), withEndpoint(silent));
    const decision = decided(managed(3, { leaves: { 'orders-1-peer-tls': foreign } }), { slots: { 1: down } });
    assert.equal(decision.reason, 'NameTaken');
    assert.match(decision.message, /orders-1-peer-tls/);
    const other = decided(managed(3, { leaves: { 'orders-1-peer-tls': foreign } }), { slots: { 2: down } });
    assert.notEqual(other.reason, 'NameTaken', 'that is not why');
  });

  test('a member that does not yet present its new leaf is waited for', () => {
    const certificates = managed(3, {
      leaves: { 'orders-1-peer-tls': (leaf) => ({ ...leaf, served: 'the old one' }) },
    });
    assert.equal(decided(certificates).reason, 'AwaitingCertificates');
    assert.equal(decided(managed(3)).reason, 'Converged');
  });
});

describe('new CAs', () => {
  const asked = { metadata: { annotations: { [annotations.rotateCertificates]: 'x' } } };
  const both = {
    peer: withAuthority(rotated('peer'), { rotation: 'x' }),
    client: withAuthority(rotated('client'), { rotation: 'x' }),
  };
  const since = (servedSince: string) => ({
    peer: withAuthority(rotated('peer'), { rotation: 'x', servedSince }),
    client: withAuthority(rotated('client'), { rotation: 'x', servedSince }),
  });

  for (const [sentence, expected, certificates, differences] of [
    ['are made on request, for both', 'rotate-authorities peer,client', managed(3), asked],
    [
      'are not made for a request that was answered',
      'done Converged',
      managed(3, {
        peer: withAuthority(authorityFacts('peer'), { rotation: 'x' }),
        client: withAuthority(authorityFacts('client'), { rotation: 'x' }),
      }),
      asked,
    ],
    [
      'are made for the one that an invocation died before',
      'rotate-authorities client',
      managed(3, { peer: both.peer, every: (leaf) => (leaf.plan.authority === 'peer' ? ofTheNew()(leaf) : leaf) }),
      asked,
    ],
    [
      'are made when two thirds of a life are over',
      'rotate-authorities peer',
      managed(3, {
        peer: withAuthority(
          authorityFacts('peer', 1, {
            notBefore: new Date('2020-01-01T00:00:00Z'),
            notAfter: new Date('2028-01-01T00:00:00Z'),
          }),
        ),
      }),
      {},
    ],
    [
      'are not begun while a member is down',
      'wait EndpointSilent',
      managed(3),
      { ...asked, slots: { 1: withEndpoint(silent) } },
    ],
    ['have all leaves issued at once', 'issue-certificates 9', managed(3, both), asked],
    [
      'are waited for until each leaf is seen',
      'wait LoadingAuthorities',
      managed(3, {
        ...both,
        every: ofTheNew(),
        leaves: { 'orders-2-peer-tls': (leaf) => ({ ...leaf, served: 'the old one' }) },
      }),
      asked,
    ],
    [
      'begin their overlap when everybody was served',
      'note-served peer,client',
      managed(3, { ...both, every: ofTheNew() }),
      asked,
    ],
    [
      'are trusted beside the old ones for the overlap',
      'wait RotatingAuthorities',
      managed(3, { ...since('2026-01-02T03:00:00Z'), every: ofTheNew() }),
      asked,
    ],
    [
      'are trusted alone after the overlap',
      'retire-authorities peer,client',
      managed(3, { ...since('2026-01-02T02:50:00Z'), every: ofTheNew() }),
      asked,
    ],
    [
      'are trusted alone after the overlap also when another request is waiting',
      'retire-authorities peer,client',
      managed(3, { ...since('2026-01-02T02:50:00Z'), every: ofTheNew() }),
      { metadata: { annotations: { [annotations.rotateCertificates]: 'y' } } },
    ],
    [
      'are not trusted alone while a member is down',
      'wait EndpointSilent',
      managed(3, { ...since('2026-01-02T02:50:00Z'), every: ofTheNew() }),
      { slots: { 1: withEndpoint(silent) } },
    ],
    [
      "do not wait for what is somebody else's: that is named",
      'refuse NameTaken',
      managed(3, {
        ...both,
        every: ofTheNew(),
        leaves: {
          'orders-client-tls': (leaf) => ({ ...foreign(leaf), facts: managed(3).leaves[1]?.facts ?? assert.fail() }),
        },
      }),
      asked,
    ],
  ] as const satisfies readonly (readonly [string, string, ReadCertificates, Differences])[]) {
    test(sentence, () => {
      const decision = decided(certificates, differences);
      const { kind, reason } = decision;
      const what = kind !== 'act' ? `${kind} ${reason}` : `${decision.action.kind} ${subject(decision.action)}`;
      assert.equal(what, expected, decision.message);
    });
  }

  function subject(action: Extract<ReturnType<typeof decide>, { kind: 'act' }>['action']): string {
    if (action.kind === 'issue-certificates') return String(action.leaves.length);
    return 'authorities' in action ? action.authorities.map(String).join() : '';
  }

  test('that stand alone are loaded by one member after the other, the leader last', () => {
    const certificates = managed(3, { peer: withAuthority(authorityFacts('peer'), { trust: 'w' }) });
    const { inputs } = situate(healthy(3, { certificates })).effective;
    const next = (slots: Differences['slots'] = {}) => {
      const decision = decided(certificates, { slots });
      return decision.kind === 'act' && decision.action.kind === 'change-template'
        ? decision.action.peer.name
        : decision.reason;
    };
    const done = startedOn(inputs);
    assert.equal(next(), 'orders-1');
    assert.equal(next({ 1: done }), 'orders-2');
    assert.equal(next({ 1: done, 2: done }), 'orders-0', 'the leader');
  });

  test('are loaded last by a member whose Secret is gone: it could not come back', () => {
    const lostTwice = managed(3, {
      peer: withAuthority(rotated('peer', { crossed: false }), { trust: 'w' }),
      every: (leaf) =>
        leaf.plan.authority === 'peer'
          ? { ...leaf, ...(leaf.facts && { facts: { ...leaf.facts, trust: rotated('peer').trust } }) }
          : leaf,
      leaves: { 'orders-1-peer-tls': missing },
    });
    assert.partialDeepStrictEqual(decided(lostTwice), {
      action: { kind: 'change-template', peer: { name: 'orders-2' } },
    });
  });
});

describe('the status', () => {
  function told(certificates: Observation['certificates'], differences: Differences = {}) {
    const observation = healthy(3, { ...differences, certificates });
    const status = statusFor(situate(observation), decide(observation), { kind: 'none' });
    const condition = status.conditions?.find(({ type }) => type === 'CertificatesReady');
    return {
      said: `${condition?.status} ${condition?.reason}`,
      message: condition?.message ?? '',
      certificates: status.certificates,
    };
  }

  test('says of a suspended cluster what is due, a CA as well, and what helps when it has ended', () => {
    const spec = { suspend: true };
    const since = { notBefore: new Date('1996-01-01T00:00:00Z') };
    const old = managed(3, { peer: withAuthority(authorityFacts('peer', 1, since)) });
    assert.match(told(old, { spec }).message, /^the CA in orders-peer-ca is due, and no certificate is renewed while/);
    const ended = managed(3, { leaves: { 'orders-1-server-tls': expired } });
    assert.equal(told(ended, { spec }).said, 'False Expired');
    assert.match(told(ended, { spec }).message, /To go on: resume the cluster/);
  });

  test('names the first certificate to end, the next one due, and the answered request', () => {
    const early = managed(3, {
      leaves: { 'orders-1-server-tls': withFacts({ notAfter: new Date('2026-03-01T00:00:00Z') }) },
      peer: withAuthority(authorityFacts('peer'), { rotation: 'x' }),
      client: withAuthority(authorityFacts('client'), { rotation: 'x' }),
    });
    assert.deepEqual(told(early).certificates, {
      notAfter: '2026-03-01T00:00:00Z',
      secretName: 'orders-1-server-tls',
      renewAfter: '2026-02-09T08:00:00Z',
      rotation: 'x',
    });
    const half = managed(3, { peer: withAuthority(authorityFacts('peer'), { rotation: 'x' }) });
    assert.equal(told(half).certificates?.rotation, undefined);
  });

  for (const [sentence, said, certificates, differences] of [
    ['that all is well', 'True Served', managed(3), {}],
    ['plaintext', 'False Disabled', { kind: 'none' }, {}],
    ['that something could not be read', 'Unknown NotRead', { kind: 'unknown', cause: 'no' }, {}],
    [
      'what is being made, not that a person should make it',
      'False Issuing',
      managed(3, { leaves: { 'orders-1-peer-tls': missing } }),
      {},
    ],
    ['that a CA is missing', 'False Issuing', managed(3, { peer: missingAuthority }), {}],
    [
      'that CAs are being rotated',
      'False RotatingAuthorities',
      managed(3, {
        peer: withAuthority(rotated('peer')),
        every: (leaf) => (leaf.plan.authority === 'peer' ? ofTheNew()(leaf) : leaf),
      }),
      {},
    ],
    [
      'that a Secret still says to trust a retired CA',
      'False LoadingAuthorities',
      managed(3, { leaves: { 'orders-1-peer-tls': withFacts({ trust: ['old', 'new'] }) } }),
      {},
    ],
    [
      'that a member has not loaded what it should',
      'False LoadingAuthorities',
      managed(3, { peer: withAuthority(authorityFacts('peer'), { trust: 'w' }) }),
      {},
    ],
    [
      'that a member does not yet present its leaf',
      'False Propagating',
      managed(3, { leaves: { 'orders-1-peer-tls': (leaf) => ({ ...leaf, served: 'old' }) } }),
      {},
    ],
  ] as const satisfies readonly (readonly [string, string, Observation['certificates'], Differences])[]) {
    test(`says ${sentence}`, () => {
      assert.equal(told(certificates, differences).said, said);
    });
  }

  test('stays as it was when nothing was looked at', () => {
    const before = {
      type: 'CertificatesReady',
      status: 'True',
      reason: 'Served',
      message: 'well',
      observedGeneration: 3,
      lastTransitionTime: '2026-01-01T00:00:00Z',
    } as const;
    const certificates = { notAfter: '2026-04-01T00:00:00Z', secretName: 's', renewAfter: '2026-03-01T00:00:00Z' };
    const found = told({ kind: 'unread' }, { status: { observedGeneration: 3, conditions: [before], certificates } });
    assert.equal(found.said, 'True Served');
    assert.deepEqual(found.certificates, certificates);
  });
});

test('an edited time on a CA counts as none', () => {
  const secret = (since: string) => ({
    metadata: { name: 'x', annotations: { [annotations.token]: 't', [annotations.servedSince]: since } },
  });
  assert.deepEqual(authorityRecordOf(secret('soon')), { token: 't' });
  assert.deepEqual(authorityRecordOf(secret(at.toISOString())), { token: 't', servedSince: at.toISOString() });
});

function expired(leaf: LeafView): LeafView {
  const problem = 'ended at 2026-01-01T00:00:00.000Z';
  const flaw = {
    reason: 'Expired',
    secretName: leaf.plan.secretName,
    key: 'tls.crt',
    problem,
    cure: 'issue it again',
  } as const;
  return { ...leaf, defects: [fatal(flaw)] };
}
