import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { annotations } from '../../../../manifests/render/names.ts';
import type { ActionOf } from '../../../../reconcile/cluster/know/action.ts';
import { managed } from '../certificates.ts';
import { type Differences, healthy, withRecord, withVolume } from '../observations.ts';
import { assertStopped, sentBy } from './sent.ts';

/** What the action looks at again just before volumes say that members let in names only. */

const approval = 'c1c1/0123456789ab';
const secretName = 'orders-0-peer-tls';
const certificates = managed(2);
const fingerprint = certificates.leaves.find(({ plan }) => plan.secretName === secretName)?.facts?.fingerprint ?? '';
const action: ActionOf<'take-names'> = {
  kind: 'take-names',
  approval,
  volumes: ['orders-0', 'orders-1'].map((name, ordinal) => ({ name, uid: `volume-${ordinal}` })),
  allowedNames: 'Taken',
  seen: [{ secretName, fingerprint }],
};

function sent(changed: Partial<typeof action> = {}, differences: Differences = {}) {
  const metadata = { annotations: { [annotations.takeNames]: approval } };
  return sentBy({ ...action, ...changed }, healthy(2, { certificates, metadata, ...differences }));
}

describe('volumes record that members let in names only', () => {
  test('as approved, and one that says it already is left as it is', () => {
    assert.deepEqual(sent().writes, ['writeRecord orders-0', 'writeRecord orders-1']);
    const half = sent({}, { slots: { 0: withRecord({ allowedNames: 'Taken' }) } });
    assert.deepEqual(half.writes, ['writeRecord orders-1']);
  });

  test('not once the approval was taken back, or is another one', () => {
    assertStopped(sent({}, { metadata: {} }));
    assertStopped(sent({}, { metadata: { annotations: { [annotations.takeNames]: `${approval}0` } } }));
    const { approval: _, ...beside } = action;
    const others = healthy(2, { certificates, slots: { 0: withRecord({ allowedNames: 'Own' }) } });
    assert.deepEqual(sentBy({ ...beside, allowedNames: 'Own' }, others).writes, ['writeRecord orders-1']);
  });

  test('not where a certificate is another one than was seen, or has gone', () => {
    assertStopped(sent({ seen: [{ secretName, fingerprint: 'another' }] }));
    assertStopped(sent({ seen: [{ secretName: 'orders-9-peer-tls', fingerprint }] }));
  });

  test('not on a volume that goes, or is another one', () => {
    assertStopped(sent({}, { slots: { 0: withVolume({ leaving: true }) } }));
    assertStopped(sent({}, { slots: { 0: withVolume({ uid: 'another' }) } }));
  });
});
