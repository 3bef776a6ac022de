import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { targetOf } from '../../../reconcile/cluster/act/act.ts';
import { decide, rules } from '../../../reconcile/cluster/decide/decide.ts';
import { passings } from '../../../reconcile/cluster/decide/what-may-go-on.ts';
import { plan } from '../../../reconcile/cluster/foresee/plan.ts';
import type { Action, ActionKind } from '../../../reconcile/cluster/know/action.ts';
import type { Decision } from '../../../reconcile/cluster/know/decision.ts';
import type { Observation, Slot } from '../../../reconcile/cluster/know/observation.ts';
import { moved, needsPerson } from '../../../reconcile/cluster/know/outcome.ts';
import { keyOf, setAsideNow } from '../../../reconcile/cluster/know/set-aside.ts';
import { managed, missing, missingAuthority, rotated, withAuthority } from './certificates.ts';
import {
  all,
  type Differences,
  endpoint,
  healthy,
  members,
  prepared,
  recordFor,
  silent,
  withContainer,
  withEndpoint,
  withInputs,
  without,
  withPod,
  withRecord,
  withSet,
  withVolume,
} from './observations.ts';
import { failingUntil, failureFor, refusalOf, refusedUntil, withRefused } from './refused.ts';

/** Every "no" that stays one. */
const answers = [
  refusalOf(403, 'Forbidden'),
  refusalOf(404, 'NotFound'),
  needsPerson('NameTaken', 'there is a Service named orders already. To go on: rename or delete it').failure,
  refusalOf(422, 'Invalid'),
];

/** Every answer that may pass by itself, and does not. */
const passing = [
  failureFor(500, 'InternalError'),
  failureFor(409, 'Conflict'),
  moved('ConfigMap orders-3 does not say what its volume says').failure,
  { class: 'retryable', reason: 'EtcdDidNotAnswer', message: 'etcd did not answer in time' },
] as const;

const gone = all(without('volume', 'pod'), withEndpoint(silent));
const down = all(withPod({ ready: false }), withEndpoint(silent));
const longAgo = '2026-01-02T01:00:00Z';
const ill = (...ordinals: readonly number[]) =>
  ordinals.map((ordinal) => ({ name: `orders-${ordinal}`, healthy: false, unhealthySince: longAgo }));

/** How orders-3, or the cluster, is so that this is decided before healing. */
type Occasion = Differences & { readonly beside?: (seen: Observation) => Observation };

/** Of every kind of action: where it comes before healing; or why it does not, or why healing has to wait for it. */
const occasions: Readonly<Record<ActionKind, Occasion | string>> = {
  'set-finalizer': { spec: { volumeRetention: { whenDeleted: 'Delete' } } },
  'apply-shared': { shared: { clientService: { state: 'missing' }, headlessService: { state: 'drifted' } } },
  'follow-volumes': { slots: { 3: without('configMap') } },
  'delete-volumes': { more: [stray(6)] },
  'grow-volumes': { spec: { storage: { size: '2Gi' } } },
  'prepare-members': { slots: { 3: all(without('peer', 'configMap', 'statefulSet', 'pod'), withEndpoint(silent)) } },
  'start-members': { slots: { 3: all(without('statefulSet', 'pod'), withEndpoint(silent)) } },
  'wake-members': {
    slots: { 3: all(without('statefulSet', 'pod'), withEndpoint(silent), withRecord({ state: 'hibernating' })) },
  },
  'reconfigure-members': { spec: { etcd: { snapshotCount: 5000 } }, slots: { 3: down } },
  'put-back-templates': {
    slots: {
      3: withSet({ drift: { kind: 'changed', fields: ['spec.replicas'], by: 'kubectl (scale)', replicas: 0 } }),
    },
  },
  'change-template': {
    slots: {
      3: all(withInputs({ version: '3.7.3' }), withPod({ version: '3.6.16', leaving: true }), withEndpoint(silent)),
    },
  },
  'recreate-pod': { slots: { 3: all(down, withContainer({ state: 'waiting', reason: 'ContainerCreating' })) } },
  'seal-members': {
    slots: { 3: unsealedLearner },
    shared: { disruptionBudget: { state: 'present', minAvailable: 4 } },
  },
  'restore-labels': { slots: { 2: withVolume({ unlabelled: true }), 3: withVolume({ unlabelled: true }) } },
  'bar-members': {
    slots: {
      3: all(
        withVolume({ disk: { pv: 'pv-9', state: 'unknown', homes: 'unknown' } }),
        withRecord({ disk: { pv: 'pv-3' } }),
      ),
    },
  },
  'retire-member': { more: [departed(5)] },
  'make-authorities': { certificates: managed(5, { client: missingAuthority }) },
  'issue-certificates': {
    certificates: managed(5, { leaves: { 'orders-3-peer-tls': missing, 'orders-3-server-tls': missing } }),
  },
  'retire-authorities': { certificates: managed(5, { peer: (view) => withAuthority(ended())(view) }) },
  'outvote-members': {
    slots: { 0: withRecord({ outvoted: [{ name: 'orders-7', memberId: 'a7' }] }) },
    more: [{ ...departed(7), volume: { ...present(departed(7).volume), unmarked: true } }],
  },
  'delete-recovery-job': {
    beside: (seen) => ({
      ...seen,
      recovery: {
        kind: 'known',
        job: { name: 'orders-0-recovery', uid: 'job', leaving: false, attempt: '0123456789ab/1', failed: false },
        pods: [],
        nodes: {},
      },
    }),
  },
  'remove-member': 'a removal that was begun is finished before anybody else comes or goes (I2)',
  'remove-inherited': 'adoption-goes-on.test.ts: dead members of another origin leave after what is dead of ours',
  'add-learner': 'part of healing',
  'promote-learner': 'part of healing',
  'replace-unbound-volume': 'only at a birth, where nobody is healed',
  'delete-peers': 'only where the cluster is deleted',
  'delete-authorities': 'only where the cluster is deleted',
  'note-disks': 'after healing',
  'take-names': 'after healing',
  'delete-replaced-volume': 'after healing',
  'accept-disks': 'the recovery itself',
  'read-logs': 'before a recovery: no quorum is left that heals',
  'begin-recovery': 'the recovery itself',
  'stop-members': 'the recovery itself',
  'force-new-cluster': 'the recovery itself',
  'conclude-recovery': 'the recovery itself',
  'restore-snapshot': 'the birth itself: there is no member yet',
  'conclude-restore': 'the birth itself: there is no member yet',
  'begin-rollback': 'roll-back.test.ts: refused, the present cluster is healed on',
  'call-off-rollback': 'roll-back.test.ts: refused, the present cluster is healed on',
  'drop-peers': 'the rollback itself: the cluster that is given up has ended',
  'restart-member':
    'after healing; before it only where members trust a CA that has ended (reload-authorities.test.ts)',
  'request-certificates': 'world/cert-manager.test.ts: forbidden, it goes on and says so',
  'hand-over-certificates': 'world/cert-manager.test.ts: forbidden, it goes on and says so',
  'hibernate-members': 'after healing',
  'note-versions': 'after healing',
  'back-up': 'after healing',
  'advance-log': 'after healing',
  'keep-users': 'after healing',
  'enable-auth': 'after healing',
  'disable-auth': 'after healing',
  'rotate-authorities': 'after healing',
  'note-served': 'after healing',
  'request-intermediate': 'after healing',
  'take-intermediate': 'after healing',
  compact: 'only while every member is well',
  'defragment-member': 'only while every member is well',
  'disarm-alarm': 'only while every member is well',
  'disarm-corrupt': 'only where every member that votes agrees; a member that is gone is healed first',
};

const kinds = Object.keys(occasions) as ActionKind[];

describe('where an action is refused for good', () => {
  for (const kind of kinds) {
    const occasion = occasions[kind];
    if (typeof occasion === 'string') continue;

    test(`${kind}: a dead member is replaced all the same`, () => {
      for (const failure of answers) {
        const decisions = refusedUntil(seenWith(occasion, 4), isHealing, failure);
        assert.equal(kindOf(decisions[0]), kind, decisions.map(told).join('\n'));
        const last = decisions.at(-1);
        assert.ok(last && isHealing(last), decisions.map(told).join('\n'));
        assert.ok(
          last.besides?.some(({ cure }) => cure !== ''),
          'and who has to see to the other is told',
        );
      }
    });

    test(`${kind}: a lost quorum is told, with its cure`, () => {
      for (const failure of answers) {
        const lost = { ...seenWith(occasion, 1, 2, 4), membership: noQuorum };
        const decisions = refusedUntil(lost, isOffer, failure);
        assert.ok(isOffer(decisions.at(-1) ?? assert.fail()), decisions.map(told).join('\n'));
      }
    });
  }

  test('every other kind has a reason why not', () => {
    const reasons = kinds.filter((kind) => typeof occasions[kind] === 'string');
    for (const kind of reasons) assert.notEqual(occasions[kind], '', kind);
  });

  test('a removal that was begun holds other members; a pod is made anew all the same', () => {
    const stuck = all(down, withContainer({ reason: '' }));
    const leaving = { slots: { 2: withRecord({ state: 'releasing' }), 3: stuck } };
    const decisions = refusedUntil(seenWith(leaving), () => false);
    assert.deepEqual(decisions.map(kindOf), ['remove-member', 'recreate-pod', undefined]);
    assert.deepEqual([decisions[2]?.kind, decisions[2]?.reason], ['refuse', 'Forbidden']);
    const waiting = refusedUntil(seenWith(leaving, 4), () => false);
    assert.deepEqual(waiting.map(kindOf), ['recreate-pod', undefined]);
    assert.equal(waiting[1]?.reason, 'RemovalUnsafe');
  });

  test('an action about several members is tried for each of them alone', () => {
    const { slots = {} } = { slots: { 1: notStarted, 3: notStarted } };
    const decisions = refusedUntil(seenWith({ slots }, 4), isHealing);
    const starts = decisions.flatMap((one) =>
      one.kind === 'act' && one.action.kind === 'start-members' ? [one.action.peers] : [],
    );
    assert.deepEqual(starts, [['orders-1', 'orders-3'], ['orders-1'], ['orders-3']]);
  });

  test('no change is begun while something above the gate is left to a person', () => {
    const missing = { clientService: { state: 'missing' } } as const;
    const decisions = refusedUntil(
      healthy(3, { shared: missing, spec: { replicas: 5, version: '3.6.17' } }),
      () => false,
    );
    assert.deepEqual(
      decisions.map(({ kind, reason }) => `${kind} ${reason}`),
      ['act ApplyingServices', 'refuse Forbidden'],
    );
  });

  test('a size that volumes may not have holds up no other change, and is told in the end', () => {
    const observation = healthy(3, { spec: { storage: { size: '2Gi' }, etcd: { snapshotCount: 5000 } } });
    const [growing, rolling] = refusedUntil(observation, ({ reason }) => reason === 'RollingConfiguration');
    assert.equal(growing?.reason, 'GrowingVolumes');
    assert.partialDeepStrictEqual(rolling, { kind: 'act', action: { inputs: { storage: { size: '1Gi' } } } });
    const rest = healthy(3, { spec: { storage: { size: '2Gi' } } });
    const failure = needsPerson('VolumeCannotGrow', 'volume orders-0 can not grow. To go on: set it back').failure;
    assert.partialDeepStrictEqual(decide(withRefused(rest, decide(rest), failure)), {
      kind: 'refuse',
      reason: 'VolumeCannotGrow',
      message: 'volume orders-0 can not grow',
      cure: 'set it back',
    });
  });

  test('a configuration that is refused is given to no member that comes', () => {
    const decisions = refusedUntil(healthy(3, { spec: { replicas: 5, etcd: { snapshotCount: 5000 } } }), () => false);
    assert.deepEqual(
      decisions.map(({ kind }) => kind),
      ['act', 'refuse'],
    );
  });

  test('a deletion stops, and nothing is built up', () => {
    const metadata = { deletionTimestamp: longAgo, finalizers: ['etcd.ratchet.dev/volumes'] };
    const decisions = refusedUntil(
      seenWith({ metadata, spec: { volumeRetention: { whenDeleted: 'Delete' } } }, 4),
      isHealing,
    );
    assert.deepEqual(
      decisions.map(({ kind }) => kind),
      ['act', 'refuse'],
    );
  });

  test('a birth stops: none starts before all are recorded', () => {
    const decisions = refusedUntil(prepared(3, { gone: [2] }), () => false);
    assert.deepEqual(
      decisions.map(({ reason }) => reason),
      ['PreparingMembers', 'Forbidden'],
    );
  });
});

describe('where an action fails for ever in a way that may pass by itself', () => {
  for (const kind of kinds) {
    const occasion = occasions[kind];
    if (typeof occasion === 'string') continue;

    test(`${kind}: a dead member is replaced all the same`, () => {
      for (const failure of passing) {
        const decisions = failingUntil(seenWith(occasion, 4), isHealing, failure);
        assert.equal(kindOf(decisions[0]), kind, decisions.map(told).join('\n'));
        const last = decisions.at(-1);
        assert.ok(last && isHealing(last), decisions.map(told).join('\n'));
        assert.ok(
          last.besides?.some(({ cure }) => cure !== ''),
          'and who has to see to the other is told',
        );
      }
    });
  }

  const missing = { shared: { clientService: { state: 'missing' } } } as const;
  const broken = failureFor(500, 'InternalError');
  const reasons = (decisions: readonly Decision[]) => decisions.map(({ reason }) => reason);

  test('it steps aside after five failures in a row over five minutes, for at most five', () => {
    const decisions = reasons(failingUntil(healthy(3, missing), () => false, broken, 40));
    assert.deepEqual(decisions.slice(0, 7), [...Array(6).fill('ApplyingServices'), 'InternalError']);
    const tries = decisions.flatMap((reason, minute) => (reason === 'ApplyingServices' ? [minute] : []));
    for (const [index, minute] of tries.entries()) assert.ok((tries[index + 1] ?? 40) - minute <= 6, tries.join(' '));
    assert.ok(tries.length < 20, tries.join(' '));
  });

  test('five failures within a minute are no reason to step aside', () => {
    let seen = healthy(3, missing);
    for (let tries = 0; tries < 20; tries += 1) seen = withRefused(seen, decide(seen), broken);
    assert.equal(decide(seen).reason, 'ApplyingServices');
  });

  test('another reason counts from the beginning', () => {
    let seen = healthy(3, missing);
    for (let tries = 0; tries < 20; tries += 1) {
      seen = withRefused(seen, decide(seen), tries % 4 === 0 ? failureFor(409, 'Conflict') : broken);
      seen = { ...seen, at: new Date(seen.at.getTime() + 60_000) };
    }
    assert.equal(decide(seen).reason, 'ApplyingServices');
  });

  test('healing itself is tried at every look where nothing else can be done, and is told', () => {
    for (const failure of passing) {
      const decisions = failingUntil(seenWith({}, 4), () => false, failure);
      assert.ok(decisions.every(isHealing), decisions.map(told).join('\n'));
      assert.match(decisions.at(-1)?.besides?.[0]?.cure ?? '', /it is retried by itself/);
    }
  });

  test('a recovery, a birth and a deletion are not held up by their own failures', () => {
    const metadata = { deletionTimestamp: longAgo, finalizers: ['etcd.ratchet.dev/volumes'] };
    const deleted = seenWith({ metadata, spec: { volumeRetention: { whenDeleted: 'Delete' } } });
    for (const seen of [deleted, prepared(3, { gone: [2] })]) {
      const decisions = failingUntil(seen, () => false, broken, 30);
      assert.deepEqual(new Set(decisions.map(kindOf)).size, 1, decisions.map(told).join('\n'));
    }
  });

  test('a plan counts on it to pass', () => {
    let seen = healthy(3, missing);
    for (let look = 0; decide(seen).kind === 'act' && look < 20; look += 1) {
      seen = withRefused(seen, decide(seen), broken);
      seen = { ...seen, at: new Date(seen.at.getTime() + (decide(seen).kind === 'act' ? 60_000 : 0)) };
    }
    assert.equal(decide(seen).kind, 'refuse');
    assert.equal(plan(seen).end.kind, 'done');
  });
});

describe('a rule that refuses for the sake of something else', () => {
  const cases: Readonly<Record<string, Occasion>> = {
    'a Service of somebody else with our labels': { shared: { clientService: { state: 'foreign' } } },
    'a Service of a deleted namesake that does not go': { shared: { clientService: { state: 'leftover' } } },
    'a seal that its volume denies': { slots: { 3: sealDenied } },
    "somebody else's Secret where a certificate is needed to start": {
      certificates: managed(5, { leaves: { 'orders-3-peer-tls': (leaf) => ({ ...missing(leaf), state: 'foreign' }) } }),
      slots: { 3: notStarted },
    },
    'a certificate that is blamed for a member that is ill': {
      certificates: managed(5, { leaves: { 'orders-3-peer-tls': (leaf) => ({ ...leaf, state: 'foreign' }) } }),
      slots: { 3: down },
    },
  };
  for (const [what, occasion] of Object.entries(cases)) {
    test(`${what}: a dead member is replaced all the same`, () => {
      const decisions = refusedUntil(seenWith(occasion, 4), isHealing);
      assert.ok(isHealing(decisions.at(-1) ?? assert.fail()), decisions.map(told).join('\n'));
    });
  }

  test('it is told once nothing else is to be done, and no change is begun', () => {
    const foreign = { shared: { clientService: { state: 'foreign' } }, spec: { replicas: 5 } } as const;
    assert.partialDeepStrictEqual(decide(healthy(3, foreign)), { kind: 'refuse', reason: 'NameTaken' });
    assert.equal(decide(healthy(3, foreign)).besides, undefined);
  });

  test('each rule that may be passed over is one of the rules', () => {
    for (const rule of passings.keys()) assert.ok((rules as readonly unknown[]).includes(rule), rule.name);
  });
});

describe('what was refused is tried again', () => {
  const missing = { shared: { clientService: { state: 'missing' } } } as const;
  const first = healthy(3, missing);
  const refused = withRefused(first, decide(first));
  const reasonAt = (observation: Observation) => decide(observation).reason;
  const later = (observation: Observation, minutes: number): Observation => ({
    ...observation,
    at: new Date(observation.at.getTime() + minutes * 60_000),
  });

  test('not at once', () => assert.equal(reasonAt(later(refused, 0.9)), 'Forbidden'));

  test('after a minute, then after two, and so on to half an hour', () => {
    let seen = refused;
    const pauses = [1, 2, 4, 8, 16, 30, 30].map((minutes) => {
      assert.equal(reasonAt(later(seen, minutes * 0.99)), 'Forbidden');
      const again = later(seen, minutes);
      assert.equal(reasonAt(again), 'ApplyingServices');
      seen = withRefused(again, decide(again));
      return seen.cluster.status?.setAside?.[0]?.tries;
    });
    assert.deepEqual(pauses, [2, 3, 4, 5, 6, 7, 8]);
  });

  test('when the spec changes', () => {
    const { cluster } = refused;
    const changed = { ...refused, cluster: { ...cluster, metadata: { ...cluster.metadata, generation: 4 } } };
    assert.equal(reasonAt(changed), 'ApplyingServices');
  });

  test('when a person asks for a look right now', () => {
    const { cluster } = refused;
    const annotations = { 'etcd.ratchet.dev/reconcile': 'now' };
    const asked = { ...refused, cluster: { ...cluster, metadata: { ...cluster.metadata, annotations } } };
    assert.equal(reasonAt(asked), 'ApplyingServices');
    assert.equal(reasonAt(withRefused(asked, decide(asked))), 'Forbidden');
  });

  test('about another object of the same name', () => {
    const occasion = occasions['retire-member'] as Occasion;
    const seen = seenWith(occasion);
    const before = withRefused(seen, decide(seen));
    assert.equal(reasonAt(before), 'Forbidden');
    const slots = before.slots.map((slot) => (slot.ordinal === 5 ? withVolume({ uid: 'another' })(slot) : slot));
    assert.equal(reasonAt({ ...before, slots }), 'RetiringMember');
  });

  test('where the status was lost', () => {
    const { status: _, ...cluster } = refused.cluster;
    assert.equal(reasonAt({ ...refused, cluster }), 'ApplyingServices');
  });

  test('whatever the time, the randomness and the revision are by then', () => {
    for (const kind of kinds) {
      const occasion = occasions[kind];
      if (typeof occasion === 'string') continue;
      const seen = seenWith(occasion);
      const before = withRefused(seen, decide(seen));
      const after = { ...later(before, 0.5), nonce: 'another' };
      assert.equal(setAsideNow(after).length, 1);
      assert.notDeepEqual(aboutWhat(decide(after)), aboutWhat(decide(seen)), kind);
    }
  });

  test('not because of what has grown or passed since', () => {
    const of = { name: 'orders-0', memberId: 'a0', clusterId: 'c1c1' };
    const volume = { name: 'orders-0', uid: 'volume-0' };
    const database = { ...of, size: 10, at: longAgo, bareAt: '10' };
    const limits = (bytes: number) => [{ memberId: 'a0', bytes }];
    const later = '2026-01-02T02:00:00Z';
    const looks: readonly (readonly [Action, Partial<Action>])[] = [
      [{ kind: 'compact', clusterId: 'c1c1', revision: '10' }, { revision: '11' }],
      [{ kind: 'advance-log', clusterId: 'c1c1', index: '10' }, { index: '11' }],
      [{ kind: 'disarm-alarm', clusterId: 'c1c1', limits: limits(10) }, { limits: limits(11) }],
      [{ kind: 'note-served', authorities: ['peer'], since: longAgo }, { since: later }],
      [{ kind: 'outvote-members', volume, volumes: [], replacedAt: longAgo }, { replacedAt: later }],
      [
        { kind: 'defragment-member', ...database },
        { size: 11, at: later, bareAt: '11', successor: of },
      ],
    ];
    for (const [action, change] of looks)
      assert.equal(keyOf({ ...action, ...change } as Action), keyOf(action), action.kind);
  });

  test('and so it is for a removal that healing asks for', () => {
    const joining = all(withRecord({ state: 'joining' }), without('statefulSet', 'pod'), withEndpoint(silent));
    const budget = { disruptionBudget: { state: 'present', minAvailable: 4 } } as const;
    const seen = seenWith({ more: [joining(present(healthy(6).slots[5]))], shared: budget }, 4);
    const removing = decide(seen);
    assert.equal(removing.reason, 'RemovingDeadMember');
    const after = later(withRefused(seen, removing), 0.5);
    assert.equal(setAsideNow(after).length, 1);
    assert.notEqual(kindOf(decide(after)), 'remove-member', told(decide(after)));
  });

  test('but not in a plan: what is refused ends it', () => {
    const { steps, end } = plan(refused);
    assert.deepEqual([steps.length, end.kind, end.reason], [0, 'refused', 'Forbidden']);
  });
});

const noQuorum = { kind: 'unknown', cause: 'no quorum', last: members(5).members } as const;

/** Five members, of which these are gone, and have been for long. */
function seenWith({ beside = (seen) => seen, ...differences }: Occasion, ...lost: readonly number[]): Observation {
  const slots = { ...differences.slots, ...Object.fromEntries(lost.map((ordinal) => [ordinal, gone])) };
  const status = { observedGeneration: 3, clusterID: 'c1c1', members: ill(3, ...lost) };
  return beside(healthy(5, { status, ...differences, slots }));
}

function isHealing({ reason }: Decision): boolean {
  return reason === 'ReplacingMember' || reason === 'RemovingDeadMember';
}

function isOffer({ reason }: Decision): boolean {
  return reason === 'QuorumLost' || reason === 'AnotherDisk';
}

function kindOf(decision: Decision | undefined): ActionKind | undefined {
  return decision?.kind === 'act' ? decision.action.kind : undefined;
}

function aboutWhat(decision: Decision): readonly unknown[] {
  return decision.kind === 'act' ? [decision.action.kind, targetOf(decision.action)] : [];
}

function told(decision: Decision): string {
  return `${decision.kind} ${kindOf(decision) ?? ''} ${decision.reason}: ${decision.message}`;
}

function notStarted(slot: Slot): Slot {
  return all(without('statefulSet', 'pod'), withEndpoint(silent))(slot);
}

function present<T>(value: T | undefined): T {
  return value ?? assert.fail();
}

/** A volume of a birth that never happened. */
function stray(ordinal: number): Slot {
  const slot = present(prepared(ordinal + 1).slots[ordinal]);
  return all(without('peer', 'configMap'), withRecord({ token: 'another' }), withVolume({ bound: false }))(slot);
}

/** Its member was removed, and its peer is yet to go. */
function departed(ordinal: number): Slot {
  const slot = present(healthy(ordinal + 1).slots[ordinal]);
  return all(without('statefulSet', 'pod'), withEndpoint(silent), withRecord({ state: 'released' }))(slot);
}

/** It runs and is on the list, and neither its volume nor its settings say so yet. */
function unsealedLearner(slot: Slot): Slot {
  const { memberId: _, clusterId: __, ...record } = { ...recordFor(slot.ordinal, 5), state: 'joining' as const };
  const changed = withVolume({ record: { kind: 'valid', record } })(slot);
  const initialCluster = record.initialCluster.map(({ name, url }) => `${name}=${url}`).join(',');
  const configMap = { ...present(slot.configMap), initialCluster, initialClusterState: 'existing', immutable: false };
  return { ...changed, configMap, endpoint: endpoint(slot.ordinal) };
}

function sealDenied(slot: Slot): Slot {
  return withRecord({ state: 'joining' })(slot);
}

/** A second CA, when the first has ended. */
function ended() {
  const facts = rotated('peer');
  const [made, old] = facts.authorities;
  return { ...facts, authorities: [present(made), { ...present(old), notAfter: new Date('2026-01-01T12:00:00Z') }] };
}
