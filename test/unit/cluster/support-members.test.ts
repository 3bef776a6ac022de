import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { decide } from '../../../reconcile/cluster/decide/decide.ts';
import type { Observation } from '../../../reconcile/cluster/know/observation.ts';
import { situate } from '../../../reconcile/cluster/know/situation.ts';
import { statusFor } from '../../../reconcile/cluster/report/status.ts';
import { managed } from './certificates.ts';
import { healthy, noQuorum, prepared, unborn, unsealed, withInputs, without, withVolume } from './observations.ts';

const missing = { state: 'missing' } as const;
const outside = { service: { type: 'NodePort' } } as const;

describe('Services and disruption budget', () => {
  const none = { headlessService: missing, clientService: missing, disruptionBudget: missing, networkPolicy: missing };
  for (const [what, observation, objects] of [
    [
      'before birth there is no Service for clients',
      unborn(3, { shared: none }),
      ['headless-service', 'network-policy'],
    ],
    [
      'during birth there is no Service for clients',
      prepared(3, { shared: none }),
      ['headless-service', 'network-policy'],
    ],
    [
      'while one member is not sealed there is no Service for clients',
      healthy(3, { slots: { 2: unsealed }, shared: none }),
      ['headless-service', 'network-policy'],
    ],
    [
      'during birth there is no Service for clients from outside either',
      prepared(3, { shared: none, spec: outside }),
      ['headless-service', 'network-policy'],
    ],
    [
      'while one member is not sealed there is no Service for clients from outside',
      healthy(3, { slots: { 2: unsealed }, shared: none, spec: outside }),
      ['headless-service', 'network-policy'],
    ],
    ['once all are sealed clients from outside come in', healthy(3, { spec: outside }), ['external-service']],
    [
      'a Service for clients from outside that drifted is put back',
      healthy(3, { spec: outside, shared: { externalService: { state: 'drifted' } } }),
      ['external-service'],
    ],
    [
      'a Service for clients from outside that the spec does not want any more goes',
      healthy(3, { shared: { externalService: { state: 'present' } } }),
      ['no-external-service'],
    ],
    ['once all are sealed it opens', healthy(3, { shared: { clientService: missing } }), ['client-service']],
    [
      'a single member has no budget, or its node could never be drained',
      unborn(1, { shared: none }),
      ['headless-service', 'network-policy'],
    ],
    [
      'once all are sealed the cluster has a quorum to keep, and gets its budget',
      healthy(3, { shared: { disruptionBudget: missing } }),
      ['disruption-budget'],
    ],
    [
      'a budget that somebody loosened is put back',
      healthy(3, { shared: { disruptionBudget: { state: 'present', minAvailable: 1 } } }),
      ['disruption-budget'],
    ],
    [
      'a network policy that was deleted is made again',
      healthy(3, { shared: { networkPolicy: missing } }),
      ['network-policy'],
    ],
    [
      'a network policy that was opened is put back',
      healthy(3, { shared: { networkPolicy: { state: 'drifted' } } }),
      ['network-policy'],
    ],
    [
      'a network policy that the spec does not want any more goes',
      healthy(3, { spec: { networkPolicy: { mode: 'Disabled' } } }),
      ['no-network-policy'],
    ],
    [
      'the list of refused clients is there before members that read it',
      prepared(3, { certificates: managed(3), spec: { tls: { mode: 'Managed', revokedClientSerials: [] } } }),
      ['revocations'],
    ],
    [
      'a list of refused clients that was changed is put back',
      healthy(3, {
        certificates: managed(3),
        shared: { revocations: { state: 'drifted' } },
        spec: { tls: { mode: 'Managed', revokedClientSerials: ['0a'] } },
      }),
      ['revocations'],
    ],
    [
      'a list of refused clients that nobody reads any more goes',
      healthy(3, { shared: { revocations: { state: 'present' } } }),
      ['no-revocations'],
    ],
    [
      'a Service that drifted is put back',
      healthy(3, { shared: { clientService: { state: 'drifted' } } }),
      ['client-service'],
    ],
  ] as const) {
    test(what, () => assert.deepEqual(sharedBy(observation).objects, objects));
  }

  test('clients wait for a ConfigMap that is not sealed yet, although its volume is', () => {
    const observation = healthy(3, {
      slots: {
        1: (slot) => ({ ...slot, ...(slot.configMap && { configMap: { ...slot.configMap, immutable: false } }) }),
      },
      shared: { clientService: missing },
    });
    assert.deepEqual(actionOf(observation), { kind: 'follow-volumes', peers: ['orders-1'] });
  });

  for (const [size, minAvailable] of [
    [2, 2],
    [3, 2],
    [4, 3],
    [5, 3],
    [7, 4],
  ] as const) {
    test(`of ${size} members a quorum of ${minAvailable} is kept`, () => {
      assert.equal(sharedBy(healthy(size, { shared: { disruptionBudget: missing } })).minAvailable, minAvailable);
    });
  }
});

test('the budget comes with the Service for clients, in the step that seals the last member', () => {
  const seals = (of: Parameters<typeof healthy>[1]) => {
    const action = actionOf(healthy(3, { every: unsealed, ...of }));
    return action?.kind === 'seal-members' ? [action.opens, action.minAvailable] : assert.fail(action?.kind);
  };
  const closed = { clientService: missing, disruptionBudget: missing } as const;
  assert.deepEqual(seals({ shared: closed }), [true, 2]);
  const present = { ...closed, disruptionBudget: { state: 'present', minAvailable: 2 } } as const;
  assert.deepEqual(seals({ shared: present }), [true, undefined]);
});

test('a cluster that has lost its quorum keeps its budget: a drain of a survivor waits', () => {
  const lost = healthy(3, { membership: noQuorum('no quorum answers'), shared: { disruptionBudget: missing } });
  assert.deepEqual([sharedBy(lost).objects, sharedBy(lost).minAvailable], [['disruption-budget'], 2]);
});

describe('what a drain may do', () => {
  for (const [size, word, minAvailable, drainable] of [
    [1, undefined, 0, 'True QuorumLossAllowed'],
    [1, 'Allow', 0, 'True QuorumLossAllowed'],
    [1, 'Refuse', 1, 'False QuorumNeedsEveryMember'],
    [2, undefined, 2, 'False QuorumNeedsEveryMember'],
    [2, 'Refuse', 2, 'False QuorumNeedsEveryMember'],
    [2, 'Allow', 1, 'True QuorumLossAllowed'],
    [3, undefined, 2, undefined],
    [3, 'Allow', 2, undefined],
    [5, 'Refuse', 3, undefined],
  ] as const) {
    const spec = word && { spec: { disruption: { whenQuorumIsLost: word } } };
    test(`of ${size}, with the word ${word ?? 'left out'}: ${minAvailable} must be there, and it is said`, () => {
      const stale = { disruptionBudget: { state: 'present', minAvailable: 9 } } as const;
      assert.equal(sharedBy(healthy(size, { ...spec, shared: stale })).minAvailable, minAvailable);
      const kept = { disruptionBudget: minAvailable === 0 ? missing : ({ state: 'present', minAvailable } as const) };
      const situation = situate(healthy(size, { ...spec, shared: kept }));
      const decision = decide(situation);
      assert.equal(decision.reason, 'Converged');
      const { conditions = [] } = statusFor(situation, decision, { kind: 'none' });
      const said = conditions.find(({ type }) => type === 'Drainable');
      assert.equal(said && `${said.status} ${said.reason}`, drainable);
    });
  }
});

describe('bootstrap ConfigMaps follow their volumes', () => {
  test('a missing one is made', () => {
    assert.deepEqual(actionOf(healthy(3, { slots: { 1: without('configMap') } })), {
      kind: 'follow-volumes',
      peers: ['orders-1'],
    });
  });

  test('one that still names a member whose volume is sealed is sealed before all else', () => {
    const observation = healthy(3, {
      slots: { 1: (slot) => ({ ...unsealed(slot), ...(slot.volume && { volume: slot.volume }) }) },
    });
    assert.deepEqual(actionOf(observation), { kind: 'follow-volumes', peers: ['orders-1'] });
  });

  test('one that is sealed in words, but could still be changed, is made immutable', () => {
    const observation = healthy(3, {
      slots: {
        1: (slot) => ({ ...slot, ...(slot.configMap && { configMap: { ...slot.configMap, immutable: false } }) }),
      },
    });
    assert.deepEqual(actionOf(observation), { kind: 'follow-volumes', peers: ['orders-1'] });
  });

  test('a sealed one is never unsealed, whatever the volume says', () => {
    const observation = healthy(3, {
      slots: { 1: (slot) => ({ ...unsealed(slot), ...(slot.configMap && { configMap: slot.configMap }) }) },
    });
    assert.partialDeepStrictEqual(decide(observation), { kind: 'refuse', reason: 'SealBroken' });
  });
});

describe('volumes grow', () => {
  test('those that are too small, and only those', () => {
    const observation = healthy(3, { spec: { storage: { size: '2Gi' } }, slots: { 0: grown } });
    assert.deepEqual(actionOf(observation), {
      kind: 'grow-volumes',
      volumes: [1, 2].map((n) => ({ name: `orders-${n}`, uid: `volume-${n}`, size: '2Gi' })),
    });
  });

  test('one that grew before its peer was told is told of it', () => {
    const observation = healthy(3, {
      spec: { storage: { size: '2Gi' } },
      every: grown,
      slots: { 1: withVolume({ size: '2Gi' }) },
    });
    const half = {
      ...observation,
      slots: observation.slots.map((slot) =>
        slot.ordinal === 1 ? withInputs({ storage: { size: '1Gi' } })(slot) : slot,
      ),
    };
    assert.deepEqual(actionOf(half), {
      kind: 'grow-volumes',
      volumes: [{ name: 'orders-1', uid: 'volume-1', size: '2Gi' }],
    });
  });

  test('not one that was never bound: it is made anew', () => {
    const observation = prepared(1, { spec: { storage: { size: '2Gi' } } });
    assert.partialDeepStrictEqual(decide(observation), { action: { kind: 'replace-unbound-volume' } });
  });

  test('not one that is being deleted', () => {
    const observation = healthy(3, { spec: { storage: { size: '2Gi' } }, every: withVolume({ leaving: true }) });
    assert.notEqual(decide(observation).reason, 'GrowingVolumes', 'its member is replaced');
  });
});

function grown(slot: Parameters<typeof unsealed>[0]) {
  return withInputs({ storage: { size: '2Gi' } })(withVolume({ size: '2Gi' })(slot));
}

function actionOf(observation: Observation) {
  const decision = decide(observation);
  if (decision.kind !== 'act') assert.fail(`${decision.kind} ${decision.reason}: ${decision.message}`);
  return decision.action;
}

function sharedBy(observation: Observation) {
  const action = actionOf(observation);
  // A birth brings what it needs itself.
  if (action.kind === 'prepare-members') return action.shared ?? assert.fail('nothing that is shared');
  if (action.kind !== 'apply-shared') assert.fail(action.kind);
  return action;
}
