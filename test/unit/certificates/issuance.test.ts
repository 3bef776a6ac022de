import assert from 'node:assert/strict';
import { test } from 'node:test';
import { clusterLeaves } from '../../../manifests/render/certificate-names.ts';
import { issuanceTrouble } from '../../../reconcile/cluster/know/certificates/issuance.ts';
import type { LeafView } from '../../../reconcile/cluster/know/observed/certificates.ts';
import { healthy } from '../cluster/observations.ts';

test('a certificate that its issuer does not renew is named, with the words of the issuer', () => {
  const at = new Date('2026-06-01T00:00:00Z');
  const [plan] = clusterLeaves('orders');
  const said = { state: 'ready', renewalFailed: { reason: 'Denied', message: 'the order was denied' } } as const;
  const certificate = { state: 'ours', uid: 'u', asked: {}, current: true, createdAt: at, said };
  const issued = { name: 'orders-client-tls', certificate, secret: 'ours', owned: false, defects: [] };
  const leaf = { plan, state: 'ours', defects: [], issued } as unknown as LeafView;
  const tls = { mode: 'CertManager', certManager: { issuerRef: { name: 'corporate' } } } as const;
  const trouble = issuanceTrouble(healthy(1, { spec: { tls } }).cluster, leaf, at);
  assert.equal(trouble?.reason, 'RenewalFailed');
  assert.match(trouble?.message ?? '', /corporate does not renew orders-client-tls: Denied: the order was denied$/);
});
