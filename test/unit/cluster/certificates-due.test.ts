import assert from 'node:assert/strict';
import { test } from 'node:test';
import { clusterLeaves } from '../../../manifests/render/certificate-names.ts';
import type { Certificates } from '../../../reconcile/cluster/know/observation.ts';
import { situate } from '../../../reconcile/cluster/know/situation.ts';
import { certificatesStatement } from '../../../reconcile/cluster/report/certificates.ts';
import type { LeafFacts } from '../../../reconcile/x509/inspect.ts';
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

test('while the cluster is suspended, a certificate that nears its end is named', () => {
  const managed = { mode: 'Managed' } as const;
  const observation = healthy(3, {
    spec: { tls: managed, suspend: true },
    every: (slot) => withRecord({ tlsMode: 'Managed' })(withInputs({ tls: managed })(slot)),
  });
  const [statement] = certificatesStatement(situate({ ...observation, certificates }));
  assert.partialDeepStrictEqual(statement, { status: 'False', reason: 'RenewalDue' });
  assert.match(
    statement?.message ?? '',
    /orders-reconciler-tls is due, and no certificate is renewed while the cluster is suspended/,
  );
});
