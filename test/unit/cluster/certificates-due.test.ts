import assert from 'node:assert/strict';
import { test } from 'node:test';
import { clusterLeaves } from '../../../manifests/build/certificate-names.ts';
import type { LeafFacts } from '../../../reconcile/certificates/inspect.ts';
import { certificatesStatement } from '../../../reconcile/cluster/certificates/status.ts';
import { situate } from '../../../reconcile/cluster/decide.ts';
import type { Certificates } from '../../../reconcile/cluster/observation.ts';
import { cluster, healthy, withInputs, withRecord } from './observations.ts';

/** Two thirds of its life are over at the time of the observation. */
const due = {
  notBefore: new Date('2025-12-01T00:00:00Z'),
  notAfter: new Date('2026-01-10T00:00:00Z'),
  trust: [],
} as unknown as LeafFacts;

const certificates: Certificates = {
  kind: 'read',
  authorities: {},
  leaves: [{ plan: clusterLeaves(cluster)[0], state: 'ours', facts: due, defects: [] }],
};

test('a certificate that nobody renews is told while the cluster is suspended, before it ends', () => {
  const managed = { mode: 'Managed' } as const;
  const observation = healthy(3, {
    spec: { tls: managed, suspend: true },
    every: (slot) => withRecord({ tlsMode: 'Managed' })(withInputs({ tls: managed })(slot)),
  });
  const [statement] = certificatesStatement(situate({ ...observation, certificates }));
  assert.partialDeepStrictEqual(statement, { status: 'False', reason: 'RenewalDue' });
  assert.match(
    statement?.message ?? '',
    /orders-reconciler-tls is due, and nothing is renewed while the cluster is suspended/,
  );
});
