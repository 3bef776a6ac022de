import * as fc from 'fast-check';
import { volumeStates } from '../../../manifests/api/etcd-peer.ts';
import { inputsHash } from '../../../manifests/render/inputs-hash.ts';
import type { Decision } from '../../../reconcile/cluster/know/decision.ts';
import type { Lease, Membership, Observation, SharedView, Slot } from '../../../reconcile/cluster/know/observation.ts';
import type { Outcome } from '../../../reconcile/cluster/know/outcome.ts';
import type { Failure } from '../../../reconcile/requests/refusals.ts';
import {
  clusterId,
  type Differences,
  endpoint,
  healthy,
  memberId,
  members,
  noQuorum,
  prepared,
  recordFor,
  silent,
  starting,
  token,
  unsealed,
  withContainer,
  withEndpoint,
  withInputs,
  without,
  withPod,
  withRecord,
  withVolume,
} from './observations.ts';

/** Observations that may be any mixture of what can be seen, far beyond what a sound history leads to. */

type Change = (slot: Slot) => Slot;

/** Cases that are rare in life, and would end most decisions early, are rare here. */
export function mostly<T>(calm: T, rare: fc.Arbitrary<T>): fc.Arbitrary<T> {
  return fc.oneof({ weight: 12, arbitrary: fc.constant(calm) }, { weight: 1, arbitrary: rare });
}

const reasons = [
  '',
  'ContainerCreating',
  'ImagePullBackOff',
  'CrashLoopBackOff',
  'CreateContainerConfigError',
] as const;
const versions = ['3.5.35', '3.6.16', '3.6.17', '3.7.3'] as const;
const sizes = ['1Gi', '2Gi', '512Mi'] as const;

const podChange: fc.Arbitrary<Change> = fc
  .record({
    ready: fc.boolean(),
    leaving: fc.boolean(),
    upToDate: fc.constantFrom('yes', 'no', 'unknown'),
    unscheduled: fc.option(fc.constant('Unschedulable'), { nil: undefined }),
    state: fc.constantFrom('unknown', 'waiting', 'running', 'terminated'),
    reason: fc.constantFrom(...reasons),
    everStarted: fc.boolean(),
    restarts: fc.nat(5),
  })
  .map(
    ({ unscheduled, state, reason, everStarted, restarts, ...pod }) =>
      (slot) =>
        withContainer({ state, reason, everStarted, restarts })(
          withPod({ ...pod, ...(unscheduled !== undefined && { unscheduled }) })(slot),
        ),
  );

const volumeChange: fc.Arbitrary<Change> = fc
  .record({
    state: fc.constantFrom(...volumeStates),
    other: fc.boolean(),
    version: fc.constantFrom(...versions),
    bound: fc.boolean(),
    lost: fc.boolean(),
    leaving: fc.boolean(),
    size: fc.constantFrom(...sizes),
    invalid: fc.boolean(),
    invalidChance: fc.nat(9),
    told: fc.boolean(),
  })
  .map(({ state, other, version, invalid, invalidChance, told, ...volume }) => (slot) => {
    const record = {
      ...recordFor(slot.ordinal, 3, state),
      version,
      ...(other && { token: 'othertoken' }),
      ...(state === 'bootstrapping' && told && { mayHaveStarted: 'peer-0' }),
    };
    const found =
      invalid && invalidChance === 0
        ? ({ kind: 'invalid', problem: 'edited' } as const)
        : ({ kind: 'valid', record } as const);
    return withVolume({ ...volume, record: found })(slot);
  });

export const change: fc.Arbitrary<Change> = fc.oneof(
  podChange,
  volumeChange,
  fc.constantFrom('peer', 'volume', 'configMap', 'statefulSet', 'pod').map((key) => without(key)),
  fc.constant(unsealed),
  fc.constant(withEndpoint(silent)),
  fc
    .record({
      id: fc.nat(3),
      other: fc.boolean(),
      version: fc.constantFrom(...versions),
      leader: fc.constantFrom('0', 'a0', 'ff'),
    })
    .map(({ id, other, version, leader }) =>
      withEndpoint(endpoint(id, { version, leader, clusterId: other ? 'd2d2' : clusterId })),
    ),
  fc.constantFrom(...versions).map((version) => withInputs({ version })),
  fc.constantFrom(...sizes).map((size) => withInputs({ storage: { size } })),
  fc.constant(withRecord({ version: '3.5.35' })),
  fc.constantFrom<Change>(
    (slot) => ({ ...slot, ...(slot.peer && { peer: { ...slot.peer, replacingVolume: `volume-${slot.ordinal}` } }) }),
    (slot) => ({
      ...slot,
      ...(slot.configMap && { configMap: { ...slot.configMap, immutable: !slot.configMap.immutable } }),
    }),
    (slot) => ({ ...slot, ...(slot.statefulSet && { statefulSet: { ...slot.statefulSet, inputsHash: 'another' } }) }),
    (slot) => ({
      ...slot,
      ...(slot.statefulSet &&
        slot.peer && { statefulSet: { ...slot.statefulSet, inputsHash: inputsHash(slot.peer.inputs) } }),
    }),
  ),
);

const membership: fc.Arbitrary<Membership> = fc.oneof(
  fc.constant<Membership>({ kind: 'unknown', cause: 'no quorum' }),
  fc
    .record({
      other: fc.boolean(),
      listed: fc.subarray([0, 1, 2]),
      learners: fc.subarray([0, 1, 2]),
      unnamed: fc.boolean(),
      extra: fc.boolean(),
    })
    .map(
      ({ other, listed, learners, unnamed, extra }): Membership => ({
        kind: 'known',
        clusterId: other ? 'd2d2' : clusterId,
        members: members(extra ? 4 : 3)
          .members.filter((_, ordinal) => ordinal === 3 || listed.includes(ordinal))
          .map((member) => ({
            ...member,
            isLearner: learners.some((ordinal) => memberId(ordinal) === member.id),
            ...(unnamed && { name: '' }),
          })),
      }),
    ),
);

const claim = mostly<Lease>(
  { kind: 'free' },
  fc.constantFrom<Lease>(
    { kind: 'held', holder: 'a/b', until: new Date('2026-01-02T03:05:00Z') },
    { kind: 'abandoned', holder: 'a/b', action: undefined },
    { kind: 'abandoned', holder: 'a/b', action: { kind: 'start-members', peers: ['orders-0'] } },
    {
      kind: 'abandoned',
      holder: 'a/b',
      action: {
        kind: 'prepare-members',
        members: [{ name: 'orders-0', record: { ...recordFor(0, 1, 'bootstrapping'), token } }],
        inputs: { version: '3.6.16', image: {}, storage: { size: '1Gi' }, tls: { mode: 'Disabled' } },
      },
    },
  ),
);

const shared = mostly('present' as const, fc.constantFrom('missing', 'leftover', 'foreign', 'drifted'));

export const observations: fc.Arbitrary<Observation> = fc
  .record({
    begin: fc.constantFrom(healthy, healthy, prepared, starting, retained),
    size: fc.constantFrom(1, 3),
    gone: fc.subarray([0, 1, 2]),
    goneChance: mostly(false, fc.constant(true)),
    changes: fc.array(fc.tuple(fc.nat(2), change), { maxLength: 5 }),
    spec: fc.record(
      {
        replicas: fc.constantFrom(0, 1, 3, 5),
        version: fc.constantFrom(...versions),
        storage: fc.constantFrom(...sizes).map((size) => ({ size })),
        suspend: mostly(false, fc.constant(true)),
        etcd: fc.constant({ snapshotCount: 5000 }),
        service: fc.constant({ type: 'NodePort' as const }),
      },
      { requiredKeys: [] },
    ),
    membership: fc.oneof({ weight: 3, arbitrary: fc.constant(undefined) }, { weight: 1, arbitrary: membership }),
    claim,
    shared: fc.record({
      headlessService: shared,
      clientService: shared,
      disruptionBudget: shared,
      networkPolicy: shared,
      externalService: shared,
      revocations: shared,
    }),
    deleting: mostly(false, fc.constant(true)),
    whenDeleted: fc.constantFrom('Retain', 'Delete'),
    finalizer: mostly('as the policy says', fc.constantFrom('always', 'never')),
    remembers: fc.boolean(),
  })
  .map(
    ({
      begin,
      whenDeleted,
      size,
      gone,
      goneChance,
      changes,
      spec,
      membership: found,
      claim: held,
      shared: states,
      deleting,
      finalizer,
      remembers,
    }) => {
      const hasFinalizer = finalizer === 'always' || (finalizer !== 'never' && whenDeleted === 'Delete');
      const base = begin(size, {
        spec: { ...spec, volumeRetention: { whenDeleted } },
        ...(goneChance && { gone }),
        ...(found && { membership: found }),
        lease: held,
        metadata: {
          ...(deleting && { deletionTimestamp: '2026-01-02T03:00:00Z' }),
          ...(hasFinalizer && { finalizers: ['etcd.ratchet.dev/volumes'] }),
        },
        ...(remembers && { status: { observedGeneration: 2, clusterID: clusterId } }),
      });
      const changed = (slot: Slot) =>
        changes.reduce((value, [ordinal, one]) => (ordinal === slot.ordinal ? one(value) : value), slot);
      const { headlessService, clientService, disruptionBudget, networkPolicy, externalService, revocations } =
        base.shared;
      const services = {
        headlessService: { state: worse(headlessService, states.headlessService) },
        clientService: { state: worse(clientService, states.clientService) },
        disruptionBudget: { ...disruptionBudget, state: worse(disruptionBudget, states.disruptionBudget) },
        networkPolicy: { state: worse(networkPolicy, states.networkPolicy) },
        externalService: { state: worse(externalService, states.externalService) },
        revocations: { state: worse(revocations, states.revocations) },
      };
      const slots = base.slots.map(changed);
      // No list without somebody who could have given it.
      const asked = slots.some(({ pod }) => pod?.container.state === 'running');
      const heard = asked ? base.membership : ({ kind: 'unknown', cause: 'no member runs' } as const);
      return { ...base, shared: services, slots, membership: heard };
    },
  );

function worse(found: SharedView, state: SharedView['state']): SharedView['state'] {
  return state === 'present' ? found.state : state;
}

/** Only the volumes are left of it. */
function retained(size: number, differences: Differences): Observation {
  return healthy(size, {
    membership: noQuorum('no member runs'),
    ...differences,
    every: (slot) => without('peer', 'configMap', 'statefulSet', 'pod')(withEndpoint(silent)(slot)),
  });
}

const failures: fc.Arbitrary<Failure> = fc.record({
  class: fc.constantFrom('retryable', 'precondition', 'terminal'),
  reason: fc.constantFrom('Forbidden', 'Conflict', 'VolumeCannotGrow'),
  message: fc.string({ maxLength: 5000 }),
});

/** Any outcome that can follow this decision. */
export function outcomesOf(decision: Decision): fc.Arbitrary<Outcome> {
  if (decision.kind !== 'act') return fc.constant({ kind: 'none' });
  return fc.oneof(
    fc.constantFrom<Outcome>({ kind: 'none' }, { kind: 'acted' }),
    failures.map((failure): Outcome => ({ kind: 'failed', failure })),
  );
}
