import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { issuedSecretName } from '../../../../manifests/render/certificate-names.ts';
import type { Action, ActionOf } from '../../../../reconcile/cluster/know/action.ts';
import type { AuthorityView, IssuedView, LeafView, Slot } from '../../../../reconcile/cluster/know/observation.ts';
import {
  authorityFacts,
  damaged,
  foreign,
  leafFacts,
  managed,
  missing,
  missingAuthority,
  plansOf,
  rotated,
  withAuthority,
} from '../certificates.ts';
import { healthy, token } from '../observations.ts';
import { assertStopped, type Sent, sentBy } from './sent.ts';

/** Each guard of an action about certificates by itself: the world is as no rule would begin it. */

const [plan = assert.fail()] = plansOf(3).filter(({ secretName }) => secretName === 'orders-2-peer-tls');
const issuedName = issuedSecretName(plan);
const validity = {
  notBefore: '2026-01-02T02:59:05Z',
  leafNotAfter: '2026-04-02T03:04:05Z',
  authorityNotAfter: '2036-01-02T03:04:05Z',
};

interface Change {
  readonly leaf?: (leaf: LeafView) => LeafView;
  readonly peer?: (view: AuthorityView) => AuthorityView;
  readonly slot?: (slot: Slot) => Slot;
  readonly deleting?: true;
}

function world({ leaf = same, peer = same, slot = same, deleting }: Change = {}) {
  return healthy(3, {
    certificates: managed(3, { leaves: { [plan.secretName]: leaf }, peer }),
    slots: { 2: slot },
    ...(deleting && { metadata: { deletionTimestamp: '2026-01-02T03:00:00Z' } }),
  });
}

function same<T>(value: T): T {
  return value;
}

/** What others have for the leaf. */
function having(change: Partial<IssuedView>, beside: (leaf: LeafView) => LeafView = same) {
  const facts = leafFacts(plan, authorityFacts('peer', 2));
  const certificate = {
    state: 'ours',
    uid: 'asked',
    asked: names,
    current: false,
    createdAt: new Date(0),
    said: issuing,
  } as const;
  const issued: IssuedView = { name: issuedName, certificate, secret: 'ours', owned: false, facts, defects: [] };
  return (leaf: LeafView): LeafView => ({ ...beside(leaf), issued: { ...issued, ...change } });
}

function withPeer(change: Partial<NonNullable<Slot['peer']>>) {
  return (slot: Slot): Slot => (slot.peer ? { ...slot, peer: { ...slot.peer, ...change } } : slot);
}

const names = { issuerRef: { name: 'company' }, names: [] } as const;
const issuing = { state: 'issuing', reason: 'NotObserved', message: '' } as const;
const foreignAuthority = (view: AuthorityView): AuthorityView => ({ ...view, state: 'foreign' });
const unreadable = ({ facts: _, ...view }: AuthorityView): AuthorityView => view;

const issue: Action = {
  kind: 'issue-certificates',
  leaves: [{ plan, remedy: 'issue', peerUid: 'peer-2' }],
  validity,
};
const make: ActionOf<'make-authorities'> = {
  kind: 'make-authorities',
  token,
  authorities: [{ authority: 'peer', trustedIn: [] }],
  leaves: [],
  validity,
};
const rotate: ActionOf<'rotate-authorities'> = { kind: 'rotate-authorities', authorities: ['peer'], validity };
const note: Action = { kind: 'note-served', authorities: ['peer'], since: '2026-01-02T03:04:05Z' };
const retire: Action = { kind: 'retire-authorities', authorities: ['peer'] };
const remove: Action = { kind: 'delete-authorities', secrets: [{ name: 'orders-peer-ca', uid: 'orders-peer-ca-uid' }] };
const request: Action = {
  kind: 'request-certificates',
  requests: [{ plan, issuerRef: { name: 'company' }, lifetime: 9e9, peerUid: 'peer-2' }],
};
const handOver: ActionOf<'hand-over-certificates'> = {
  kind: 'hand-over-certificates',
  at: '2026-01-02T03:04:05Z',
  trust: [{ authority: 'peer', fingerprints: ['peer-ca-2'], sources: [issuedName] }],
  leaves: [{ plan, fingerprint: `${plan.secretName} of peer-ca-2`, source: issuedName, peerUid: 'peer-2' }],
  adopt: [],
};
const onlyTrust = { ...handOver, leaves: [{ plan, peerUid: 'peer-2' }] };
const adopt = { ...handOver, trust: [], leaves: [], adopt: [{ name: issuedName, certificateUid: 'asked' }] };

describe('is written:', () => {
  for (const [what, action, change, writes] of [
    ['a leaf', issue, {}, ['signLeaf orders-2-peer-tls']],
    ['a leaf that has gone', issue, { leaf: missing }, ['signLeaf orders-2-peer-tls']],
    ['a CA that is missing', make, { peer: missingAuthority }, ['makeAuthority orders-peer-ca']],
    ['a CA that signs nothing', make, { peer: unreadable }, ['makeAuthority orders-peer-ca']],
    ['a CA of an earlier birth', { ...make, token: 'another' }, {}, ['makeAuthority orders-peer-ca']],
    ['the next CA', rotate, {}, ['succeedAuthority orders-peer-ca']],
    ['since when it is served', note, {}, ['writeAuthorityRecord orders-peer-ca']],
    ['that only the newest is trusted', retire, {}, ['trustOnlyNewest orders-peer-ca']],
    ['that a CA goes with its cluster', remove, { deleting: true }, ['deleteAuthority orders-peer-ca']],
    ['a Certificate', request, { leaf: having({}) }, [`orderCertificate ${issuedName}`]],
    ['a leaf of others', handOver, { leaf: having({}) }, ['handOverLeaf orders-2-peer-tls']],
    ['what to trust', onlyTrust, { leaf: having({}) }, ['handOverLeaf orders-2-peer-tls']],
    ['whose a Secret is', adopt, { leaf: having({}) }, [`adoptIssued ${issuedName}`]],
  ] as const satisfies readonly (readonly [string, Action, Change, readonly string[]])[]) {
    test(what, () => {
      const { writes: sent, ended } = sentBy(action, world(change));
      assert.deepEqual([sent, ended], [writes, 'done']);
    });
  }
});

describe('nothing is written, and the step ends, where', () => {
  const anotherPeer = withPeer({ uid: 'another' });
  const leaving = withPeer({ leaving: true });
  const another = having({ facts: leafFacts(plan, authorityFacts('peer', 2), { fingerprint: 'renewed' }) });
  const mixed = having({ facts: { ...leafFacts(plan, authorityFacts('peer', 2)), keyMatches: false } });
  const unknown = { ...handOver, trust: [{ authority: 'peer' as const, fingerprints: ['lost'], sources: [] }] };
  for (const [what, action, change] of [
    ['the peer of a leaf was made anew', issue, { slot: anotherPeer }],
    ['the peer of a leaf is leaving', issue, { slot: leaving }],
    ['the CA that is to sign has gone', issue, { peer: missingAuthority }],
    ['the CA that is to sign cannot', issue, { peer: unreadable }],
    ['the CA that is to be followed has gone', rotate, { peer: missingAuthority }],
    ['the CA that is to be followed cannot sign', rotate, { peer: unreadable }],
    ['the CA that is served has gone', note, { peer: missingAuthority }],
    ['the CA that is to be trusted alone has gone', retire, { peer: missingAuthority }],
    ['the CA that is to be trusted alone cannot be read', retire, { peer: unreadable }],
    ['the cluster is not deleted', remove, {}],
    ['the Secret of an earlier Certificate is still there', request, { leaf: having({ secret: 'leftover' }) }],
    ['the peer of a request was made anew', request, { leaf: having({}), slot: anotherPeer }],
    ['another leaf was issued since', handOver, { leaf: another }],
    ['key and certificate are no pair', handOver, { leaf: mixed }],
    ['what was issued has gone', handOver, { leaf: having({ secret: 'missing' }) }],
    ['a CA to trust is nowhere', unknown, { leaf: having({}) }],
    ['the peer of a leaf of others was made anew', handOver, { leaf: having({}), slot: anotherPeer }],
    ['the leaf to trust beside has gone', onlyTrust, { leaf: having({}, missing) }],
    ['the leaf to trust beside cannot be read', onlyTrust, { leaf: having({}, damaged) }],
  ] as const satisfies readonly (readonly [string, Action, Change])[]) {
    test(what, () => assertStopped(sentBy(action, world(change))));
  }
});

describe('is left to a person where the name is taken:', () => {
  const taken: Sent = { writes: [], ended: 'NameTaken', asked: [] };
  for (const [what, action, change] of [
    ['a leaf', issue, { leaf: foreign }],
    ['a leaf of others', handOver, { leaf: having({}, foreign) }],
    ['a CA to make', make, { peer: foreignAuthority }],
    ['a CA to sign with', issue, { peer: foreignAuthority }],
    ['a CA to follow', rotate, { peer: foreignAuthority }],
    ['a CA that is served', note, { peer: foreignAuthority }],
    ['a CA to trust alone', retire, { peer: foreignAuthority }],
    ['a Certificate', request, { leaf: having({ certificate: { state: 'foreign' } }) }],
    ['the Secret of a Certificate', request, { leaf: having({ secret: 'foreign' }) }],
  ] as const satisfies readonly (readonly [string, Action, Change])[]) {
    test(what, () => assert.deepEqual({ ...sentBy(action, world(change)), asked: [] }, taken));
  }
});

describe('is there already, and stays:', () => {
  const served = withAuthority(authorityFacts('peer'), { servedSince: '2026-01-01T00:00:00Z' });
  const answered = withAuthority(authorityFacts('peer'), { rotation: 'x' });
  const asked = {
    state: 'ours',
    uid: 'asked',
    asked: names,
    current: true,
    createdAt: new Date(0),
    said: issuing,
  } as const;
  for (const [what, action, change] of [
    ['a CA of this birth', make, {}],
    ['a CA beside the one before it', rotate, { peer: withAuthority(rotated('peer')) }],
    ['a CA that answers the request', { ...rotate, request: 'x' }, { peer: answered }],
    ['since when a CA is served', note, { peer: served }],
    ['a Certificate that asks for this', request, { leaf: having({ certificate: asked }) }],
    ['a Secret with its owner', adopt, { leaf: having({ owned: true }) }],
    ["a Secret that is another's", adopt, { leaf: having({ secret: 'foreign' }) }],
    ["another's CA", remove, { deleting: true, peer: foreignAuthority }],
    ['a CA that was made since', remove, { deleting: true, peer: (view) => ({ ...view, uid: 'another' }) }],
  ] as const satisfies readonly (readonly [string, Action, Change])[]) {
    test(what, () => assert.deepEqual({ ...sentBy(action, world(change)), asked: [] }, { ...nothing, asked: [] }));
  }
});

const nothing = { writes: [], ended: 'done' };
