import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { plan } from '../../../reconcile/cluster/foresee/plan.ts';
import { type CertificateDifferences, managed, missing, missingAuthority, withFacts } from './certificates.ts';
import { healthy, members, noQuorum, silent, withEndpoint } from './observations.ts';

/**
 * etcd loads its CAs when it starts: a member that has not loaded the present ones refuses us, however well it serves.
 */

const names = ['orders-0', 'orders-1', 'orders-2'] as const;

function planned(certificates: CertificateDifferences, seen: Parameters<typeof healthy>[1] = {}) {
  const { steps, end } = plan(healthy(3, { ...seen, certificates: managed(3, certificates) }));
  return { end: `${end.kind} ${end.reason}`, steps: steps.map(({ action, target }) => `${action} ${target}`) };
}

describe('of members that run, a plan says what becomes of them without', () => {
  test('any Secret: we are refused, and each is restarted with the CAs that are made anew', () => {
    const { end, steps } = planned({ every: missing, peer: missingAuthority, client: missingAuthority });
    assert.equal(end, 'done Converged');
    assert.deepEqual(
      steps.filter((step) => !step.startsWith('issue')),
      [
        'make-authorities peer, client',
        ...['change-template orders-0', 'restart-member orders-0'],
        ...['change-template orders-1', 'restart-member orders-1'],
        // The two others are a quorum by now, and it is none of it.
        'reconfigure-members orders-2',
      ],
    );
  });

  test('the Secrets by which they know each other: they serve us, and a person is told', () => {
    const every: CertificateDifferences['every'] = (leaf) => (leaf.plan.purpose === 'peer' ? missing(leaf) : leaf);
    const { end, steps } = planned({ every, peer: missingAuthority });
    assert.equal(end, 'refused AuthorityLost');
    assert.deepEqual(steps, ['make-authorities peer', ...names.map((one) => `change-template ${one}`)]);
  });

  test('a CA that is valid: we are refused, and each is restarted with the one that is made', () => {
    const notAfter = new Date(0);
    const expired: CertificateDifferences['peer'] = (view) => ({
      ...view,
      ...(view.facts && { facts: { ...view.facts, notAfter } }),
    });
    const every: CertificateDifferences['every'] = (leaf) => {
      const authorities = leaf.facts?.authorities.map((one) => ({ ...one, notAfter })) ?? [];
      return withFacts({ notAfter, authorities })(leaf);
    };
    const ended = { every, peer: expired, client: expired };
    const { end, steps } = planned(ended, { every: withEndpoint(silent), membership: noQuorum('refused') });
    assert.equal(end, 'done Converged');
    assert.deepEqual(
      steps.filter((step) => !step.startsWith('issue')),
      ['make-authorities peer, client', ...names.flatMap((one) => [`change-template ${one}`, `restart-member ${one}`])],
    );
  });

  test('nothing: nothing is done', () => {
    assert.deepEqual(planned({}, { membership: members(3) }), { end: 'done Converged', steps: [] });
  });
});
