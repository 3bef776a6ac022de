import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { SetDrift } from '../../../reconcile/cluster/know/observation.ts';
import { situate } from '../../../reconcile/cluster/know/situation.ts';
import { clusterSeen } from '../../../reconcile/nodes/cluster-seen.ts';
import { healthy, withSet } from '../cluster/observations.ts';

const drifts: Readonly<Record<string, SetDrift>> = {
  'another client changed': { kind: 'changed', fields: ['spec.template.spec.containers[etcd].image'], by: 'keel' },
  'can not be compared': { kind: 'unknown', cause: 'a webhook takes no dry runs' },
};

for (const [what, drift] of Object.entries(drifts)) {
  test(`no node is rebooted under a member with a StatefulSet that ${what}`, () => {
    const { busy } = clusterSeen(situate(healthy(3, { slots: { 1: withSet({ drift }) } })));
    assert.equal(busy?.kind, 'wait');
    assert.match(busy?.why ?? '', /StatefulSet orders-1/);
  });
}
