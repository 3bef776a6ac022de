import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { EtcdClusterStatus } from '../../../manifests/api/etcd-cluster-status.ts';
import { annotations } from '../../../manifests/render/names.ts';
import { authoritiesToMake, remedyFor } from '../../../reconcile/cluster/know/certificates/due.ts';
import { callsForAll, itsTurn } from '../../../reconcile/cluster/know/certificates/occasion.ts';
import type { Remedy } from '../../../reconcile/cluster/know/certificates/remedy.ts';
import { allHaveLoaded, effectiveTrust } from '../../../reconcile/cluster/know/certificates/trust.ts';
import type { LeafView } from '../../../reconcile/cluster/know/observation.ts';
import {
  authorityFacts,
  type CertificateDifferences,
  damaged,
  foreign,
  managed,
  missing,
  missingAuthority,
  rotated,
  withAuthority,
  withFacts,
} from './certificates.ts';
import { all, type Differences, healthy, token, withContainer, withInputs, without, withPod } from './observations.ts';

const at = new Date('2026-01-02T03:04:05Z');
const wanted = 'orders-1-peer-tls';
const later = (days: number) => new Date(at.getTime() + days * 86_400_000);

describe('a leaf', () => {
  const lost = { peer: withAuthority(rotated('peer', { crossed: false }), { trust: 'word' }) };
  const loaded = withPod({ trust: 'word' });
  const idle = all(withContainer({ state: 'waiting' }), withPod({ ready: false }));
  const old: CertificateDifferences['every'] = (leaf: LeafView) => leaf;

  for (const [sentence, remedy, differences, change, slots, when] of [
    ['that is well is left alone', undefined, {}, old],
    ['that is missing is issued', 'issue', {}, missing],
    ['that is damaged is issued', 'issue', {}, damaged],
    ['whose key is another is issued', 'issue', {}, withFacts({ keyMatches: false })],
    ['that is two thirds through its life is issued', 'issue', {}, old, {}, later(60)],
    ['that is almost two thirds through its life is left alone', undefined, {}, old, {}, later(58)],
    ['in the name of another is issued', 'issue', {}, withFacts({ commonName: 'orders-2' })],
    ['that lacks a name is issued', 'issue', {}, withFacts({ dnsNames: [] })],
    [
      'that has a name too many is issued',
      'issue',
      {},
      withFacts({ dnsNames: ['orders-1-0.orders-peers.shop.svc', 'other'] }),
    ],
    [
      'that tells to trust too few is given the bundle',
      'bundle',
      { peer: withAuthority(rotated('peer', { crossed: false }), { trust: 'word' }) },
      old,
    ],
    ["that is somebody else's is left alone", undefined, {}, foreign],
    ['of an earlier resource is left alone', undefined, {}, (leaf) => ({ ...missing(leaf), state: 'leftover' })],
    ['of a CA that is missing is left alone', undefined, { peer: missingAuthority }, damaged],
    ['of a CA that is over is left alone: the CA comes first', undefined, {}, damaged, {}, later(4000)],
    ['of a CA that is still to come, after a clock was set back, is left alone', undefined, {}, damaged, {}, later(-5)],
    [
      'of the old CA is issued at once by one with a cross certificate',
      'issue',
      { peer: withAuthority(rotated('peer')) },
      old,
    ],
    [
      'of the old CA stays, with both to trust, where the new one has none and is not known to all',
      'bundle',
      lost,
      old,
      { every: loaded, slots: { 2: withPod({ trust: 'older' }) } },
    ],
    ['that is missing waits as well: its member goes on with what it has', undefined, lost, missing, {}],
    ['is issued by a CA that all members were started with', 'issue', lost, old, { every: loaded }],
    [
      'is issued by a CA that all members were started with, among others',
      'issue',
      lost,
      old,
      { every: withPod({ trust: 'word.other' }) },
    ],
    [
      'is issued when the only member that does not know the CA does not run',
      'issue',
      lost,
      missing,
      { every: loaded, slots: { 1: idle } },
    ],
    [
      'is issued when the old CA is over, and nobody can rely on it',
      'issue',
      {
        peer: withAuthority(
          {
            ...rotated('peer', { crossed: false }),
            authorities: [authorityFacts('peer', 2), authorityFacts('peer', 1, { notAfter: at })],
          },
          { trust: 'word' },
        ),
      },
      old,
    ],
  ] as const satisfies readonly (readonly [
    string,
    Remedy | undefined,
    CertificateDifferences,
    (leaf: LeafView) => LeafView,
    Differences?,
    Date?,
  ])[]) {
    test(sentence, () => {
      const read = managed(3, { ...differences, leaves: { [wanted]: change } });
      const leaf = read.leaves.find(({ plan }) => plan.secretName === wanted) ?? assert.fail();
      const observation = healthy(3, { certificates: read, ...slots });
      assert.equal(remedyFor(leaf, read, { ...observation, at: when ?? at }), remedy);
    });
  }
});

describe('a leaf of a CA that an issuer signed as well, and calls by', () => {
  const ca = authorityFacts('client', 1, { keyId: 'ours' });
  const signed = { ...ca, issuer: 'CN=company', keyId: 'theirs', fingerprint: 'signed' };
  const same = { ...signed, keyId: 'ours' };
  const unnamed = (({ keyId: _, ...rest }) => rest)(signed);
  const showing = (issuerKeyId?: string) =>
    withFacts({ intermediates: [signed], ...(issuerKeyId !== undefined && { issuerKeyId }) });
  for (const [how, remedy, [first, current], leaf, name = 'orders-1-server-tls'] of [
    ['the key that the leaf names, is well', undefined, [same, true], showing('ours')],
    ['the key, is issued anew where it names none: some clients demand it', 'issue', [same, true], showing()],
    ['no key, is well where it names ours', undefined, [unnamed, true], showing('ours')],
    ['another key, is issued anew: OpenSSL follows no such chain', 'issue', [signed, true], showing('ours')],
    ['another key, is well where it names none', undefined, [signed, true], showing()],
    ['another key, is well where that was signed for the CA before it', undefined, [signed, false], showing('ours')],
    ['another key, is well for members', undefined, [signed, true], showing('ours'), 'orders-client-tls'],
  ] as const) {
    test(how, () => {
      const client = withAuthority({ ...ca, intermediate: { chain: [first], current } });
      const read = managed(3, { client, leaves: { [name]: leaf } });
      const found = read.leaves.find(({ plan }) => plan.secretName === name) ?? assert.fail();
      assert.equal(remedyFor(found, read, { ...healthy(3, { certificates: read }), at }), remedy);
    });
  }
});

describe('a CA', () => {
  for (const [sentence, makes, change, when] of [
    ['that is there is not made again', false, (view) => view],
    ['that is missing is made', true, missingAuthority],
    ['that signs nothing any more is made anew', true, ({ facts: _, ...view }) => view],
    ['that is over is made anew', true, (view) => view, later(4000)],
    ['of an earlier cluster of this name is made anew', true, (view) => ({ ...view, record: { token: 'another' } })],
    ["that is somebody else's is left alone", false, ({ facts: _, ...view }) => ({ ...view, state: 'foreign' })],
    [
      'of which somebody else has the name, with a CA in it, is left alone',
      false,
      (view) => ({ ...view, state: 'foreign' }),
    ],
  ] as const satisfies readonly (readonly [string, boolean, NonNullable<CertificateDifferences['peer']>, Date?])[]) {
    test(sentence, () => {
      const found = authoritiesToMake(
        managed(3, {
          peer: change,
          client: (view) => ({ ...view, facts: authorityFacts('client', 1, { notAfter: later(9000) }) }),
        }),
        token,
        when ?? at,
      );
      assert.deepEqual(found, makes ? ['peer'] : []);
    });
  }
});

describe('the word for what members must have loaded', () => {
  const inputs = (trust: string) => withInputs({ tls: { mode: 'Managed', trust } });
  for (const [sentence, word, certificates, differences] of [
    ['is none as long as there was but one CA', undefined, managed(3), {}],
    [
      "is that of the CAs' Secrets",
      'a.b',
      managed(3, {
        peer: withAuthority(authorityFacts('peer'), { trust: 'a' }),
        client: withAuthority(authorityFacts('client'), { trust: 'b' }),
      }),
      {},
    ],
    ['stays while nothing was looked at', 'present', { kind: 'unread' }, { every: inputs('present') }],
    ['stays while a CA is lost', 'present', managed(3, { client: missingAuthority }), { every: inputs('present') }],
    [
      "stays while somebody else's Secret has the name of a CA",
      'present',
      managed(3, { peer: (view) => ({ ...view, state: 'foreign' }) }),
      { every: inputs('present') },
    ],
  ] as const satisfies readonly (readonly [
    string,
    string | undefined,
    Parameters<typeof effectiveTrust>[0]['certificates'],
    Differences,
  ])[]) {
    test(sentence, () => {
      assert.equal(effectiveTrust(healthy(3, { ...differences, certificates })), word);
    });
  }

  test('of provided bundles differs for another set, not for another order', () => {
    const given = (trust: readonly string[]) => ({
      ...managed(3, { every: withFacts({ trust: [...trust] }) }),
      authorities: {},
    });
    const word = (trust: readonly string[]) => effectiveTrust(healthy(3, { certificates: given(trust) }));
    assert.match(word(['x']) ?? '', /^[0-9a-f]{12}$/);
    assert.notEqual(word(['x']), word(['x', 'y']));
    const half = managed(3, { leaves: { [wanted]: withFacts({ trust: ['new'] }) } });
    assert.equal(effectiveTrust(healthy(3, { certificates: { ...half, authorities: {} } })), undefined);
  });

  test('has been loaded when every pod was started with it', () => {
    const { slots } = healthy(3, { every: all(inputs('w'), withPod({ trust: 'w' })) });
    assert.ok(allHaveLoaded(slots));
    assert.ok(!allHaveLoaded(healthy(3, { every: inputs('w'), slots: { 1: withPod({ trust: 'w' }) } }).slots));
  });
});

describe('an occasion to look at all certificates', () => {
  const settled: EtcdClusterStatus = {
    observedGeneration: 3,
    conditions: ['CertificatesReady', 'Available'].map((type) => ({
      type,
      status: 'True' as const,
      reason: 'Served',
      message: '',
      observedGeneration: 3,
      lastTransitionTime: '2026-01-01T00:00:00Z',
    })),
    certificates: {
      notAfter: '2026-04-01T00:00:00Z',
      secretName: wanted,
      renewAfter: '2026-03-01T00:00:00Z',
      rotation: 'x',
    },
  };
  const asked = (value: string) => ({ annotations: { [annotations.rotateCertificates]: value } });
  const trusts = (trust: string) => all(withInputs({ tls: { mode: 'Managed', trust } }), withPod({ trust }));

  for (const [sentence, called, differences, when] of [
    ['is none when all is well', false, {}],
    ['is that nothing is known yet', true, { status: { observedGeneration: 3 } }],
    ['is another spec', true, { metadata: { generation: 4 } }],
    ['is that not all was well', true, { status: { ...settled, conditions: [] } }],
    [
      'is that no quorum answers: it may be for what we show it',
      true,
      { status: { ...settled, conditions: settled.conditions?.filter(({ type }) => type !== 'Available') ?? [] } },
    ],
    ['is that a renewal is due', true, {}, new Date('2026-03-01T00:00:00Z')],
    ['is a request for new CAs', true, { metadata: asked('y') }],
    ['is not a request that was answered', false, { metadata: asked('x') }],
    ['is a deletion', true, { metadata: { deletionTimestamp: '2026-01-02T00:00:00Z' } }],
    ['is a member without a StatefulSet', true, { slots: { 1: without('statefulSet', 'pod') } }],
    ['is a pod that is not Ready', true, { slots: { 1: withPod({ ready: false }) } }],
    ['is a pod of an older template', true, { slots: { 1: withPod({ upToDate: 'no' }) } }],
    [
      'is a pod that was not started with what it should trust',
      true,
      { slots: { 1: withInputs({ tls: { mode: 'Managed', trust: 'w' } }) } },
    ],
    ['is that members trust different CAs', true, { every: trusts('a'), slots: { 2: trusts('b') } }],
    ['is not that all trust the same second CA', false, { every: trusts('a') }],
  ] as const satisfies readonly (readonly [string, boolean, Differences, Date?])[]) {
    test(sentence, () => {
      const { cluster, slots } = healthy(3, { status: settled, certificates: { kind: 'unread' }, ...differences });
      assert.equal(callsForAll(cluster, slots, when ?? at), called);
    });
  }

  test('comes to each by turns, whatever the beat of the ticks is', () => {
    for (const seconds of [1, 2, 5, 10, 60, 120, 300, 600, 3600]) {
      for (const count of [1, 2, 3, 5, 7, 9, 11, 15]) {
        const things = Array.from({ length: count }, (_, index) => index);
        const seen = new Set<number | undefined>();
        for (let tick = 0; tick < 20 * count; tick += 1)
          seen.add(itsTurn(things, new Date(at.getTime() + tick * seconds * 1000)));
        assert.equal(seen.size, count, `${count} of them, every ${seconds} seconds`);
      }
    }
    assert.equal(itsTurn([], at), undefined);
  });
});
