import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { carriedOut } from '../../../../reconcile/cluster/foresee/run.ts';
import { isStrangersWord } from '../../../../reconcile/cluster/know/certificates/authority.ts';
import type { LeafView, Observation } from '../../../../reconcile/cluster/know/observation.ts';
import { authorityFacts, foreign, managed, missingAuthority, withFacts } from '../certificates.ts';
import { healthy, prepared, token } from '../observations.ts';

describe('a CA that is made anew', () => {
  const secretName = 'orders-2-peer-tls';
  const validity = {
    notBefore: '2026-01-02T02:59:05Z',
    leafNotAfter: '2026-04-02T03:04:05Z',
    authorityNotAfter: '2036-01-02T03:04:05Z',
  };
  const madeIn = (before: Observation, trustedIn: readonly string[]) => {
    const authorities = [{ authority: 'peer' as const, trustedIn }];
    const { certificates } = carriedOut({ kind: 'make-authorities', token, authorities, leaves: [], validity }, before);
    return certificates.kind === 'read' ? (certificates.authorities.peer ?? assert.fail()) : assert.fail();
  };
  const lost = (leaf: (leaf: LeafView) => LeafView = (one) => one) => ({
    certificates: managed(3, { leaves: { [secretName]: leaf }, peer: missingAuthority }),
  });
  const trustedWith = (leaf: (leaf: LeafView) => LeafView) => {
    const { facts, record } = madeIn(healthy(3, lost(leaf)), [secretName]);
    return [facts?.authorities.slice(1).map(({ fingerprint }) => fingerprint), record?.trust !== undefined];
  };
  const one = authorityFacts('peer');
  const beside = (...authorities: (typeof one)[]) => withFacts({ authorities });

  test('trusts beside itself what a leaf of ours trusts, once', () => {
    assert.deepEqual(trustedWith(beside(one, one)), [[one.fingerprint], true]);
  });

  test('trusts nothing that has ended, is no CA, or stands in a Secret of others', () => {
    const ended = authorityFacts('peer', 3, { notAfter: new Date('2026-01-02T03:04:05Z') });
    const none = authorityFacts('peer', 4, { isAuthority: false });
    assert.deepEqual(trustedWith(beside(ended, one, none)), [[one.fingerprint], true]);
    assert.deepEqual(trustedWith(foreign), [[], true]);
  });

  test('is called a stranger to members that run where nothing says what they trust', () => {
    assert.equal(isStrangersWord(madeIn(healthy(3, lost()), []).record?.trust ?? ''), true);
    assert.equal(madeIn(prepared(3, lost()), []).record?.trust, undefined);
  });
});
