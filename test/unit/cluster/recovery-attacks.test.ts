import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { EtcdPeer } from '../../../manifests/api/etcd-peer.ts';
import { annotations } from '../../../manifests/render/names.ts';
import { recoveryJob } from '../../../manifests/render/recovery-job.ts';
import {
  readVolumeRecord,
  type VolumeRecord,
  withVolumeRecord,
  writeVolumeRecord,
} from '../../../manifests/render/volume-record.ts';
import { act } from '../../../reconcile/cluster/act/act.ts';
import type { ActContext } from '../../../reconcile/cluster/act/actions/context.ts';
import { decide } from '../../../reconcile/cluster/decide/decide.ts';
import type { ActionOf } from '../../../reconcile/cluster/know/action.ts';
import type { Decision } from '../../../reconcile/cluster/know/decision.ts';
import type { Observation, RecoveryView, Slot } from '../../../reconcile/cluster/know/observation.ts';
import { withoutOutvoted } from '../../../reconcile/cluster/know/recovery/outvoted.ts';
import { EtcdError, type ListedMember } from '../../../reconcile/interfaces/etcd.ts';
import type { EtcdAdmin } from '../../../reconcile/interfaces/etcd-admin.ts';
import {
  all,
  clusterId,
  endpoint,
  healthy,
  memberId,
  members,
  recordFor,
  silent,
  withEndpoint,
  without,
  withPod,
  withRecord,
  withVolume,
} from './observations.ts';
import { id, job, known, outvotedOf, recovery, stopped } from './recoveries.ts';

const leftBehind = withRecord({ state: 'superseded' });
const down = (list: readonly ListedMember[]) => ({ kind: 'unknown', cause: 'no quorum', last: list }) as const;

/** What a snapshot of the API server would be turned into. */
function seen(observation: Observation, recovery?: RecoveryView): Observation {
  return { ...observation, slots: withoutOutvoted(observation.slots), ...(recovery && { recovery }) };
}

function words(decision: Decision): string {
  return `${decision.kind} ${decision.reason}`;
}

function actionOf<K extends 'begin-recovery' | 'outvote-members' | 'stop-members'>(
  decision: Decision,
  kind: K,
): ActionOf<K> {
  return decision.kind === 'act' && decision.action.kind === kind
    ? (decision.action as ActionOf<K>)
    : assert.fail(JSON.stringify(decision));
}

/** Two of three have lost their volumes; one answers, up to this entry. */
function lossy({
  list = members(3).members,
  raftIndex = 100n,
  approval,
  more = [],
}: {
  readonly list?: readonly ListedMember[];
  readonly raftIndex?: bigint;
  readonly approval?: string;
  readonly more?: readonly Slot[];
} = {}): Observation {
  const gone = all(without('volume', 'pod'), withEndpoint(silent));
  return healthy(3, {
    membership: down(list),
    slots: { 0: withEndpoint(endpoint(0, { raftIndex, leader: '0' })), 1: gone, 2: gone },
    more,
    ...(approval !== undefined && { metadata: { annotations: { 'etcd.ratchet.dev/recover-quorum': approval } } }),
  });
}

function approvalFor(observation: Observation): string {
  const decision = decide(observation);
  assert.equal(words(decision), 'refuse QuorumLost');
  const cure = decision.kind === 'refuse' ? decision.cure : '';
  return /recover-quorum=(\S+)$/.exec(cure)?.[1] ?? assert.fail(cure);
}

describe('an approval', () => {
  test('is void when its quorum has come back since, and the same members are lost once more', () => {
    const approval = approvalFor(lossy());
    assert.equal(words(decide(lossy({ approval }))), 'act RecoveringQuorum');
    assert.equal(words(decide(lossy({ approval, raftIndex: 5000n }))), 'refuse QuorumLost');
  });

  test("leaves behind also those that only a volume remembers, and not the first answer's list", () => {
    const [first, second] = members(3).members;
    const list = [first, second].filter((one) => one !== undefined);
    const third = withEndpoint(silent)(healthy(3).slots[2] ?? assert.fail());
    const two = healthy(3, {
      membership: down(list),
      slots: {
        0: withEndpoint(endpoint(0, { leader: '0' })),
        1: all(without('volume', 'pod'), withEndpoint(silent)),
        2: () => third,
      },
    });
    const approval = approvalFor(two);
    const approved = {
      ...two,
      cluster: {
        ...two.cluster,
        metadata: { ...two.cluster.metadata, annotations: { 'etcd.ratchet.dev/recover-quorum': approval } },
      },
    };
    const { outvoted } = actionOf(decide(approved), 'begin-recovery');
    assert.deepEqual(outvoted.map((one) => one.memberId).toSorted(), [memberId(1), memberId(2)]);
  });

  for (const name of ['Bob', 'my_etcd', 'a,b=c', 'член', 'x'.repeat(300), '-']) {
    test(`writes what can be read again where a hand has added a member named ${name.slice(0, 20)}`, () => {
      const list = [
        ...members(3).members,
        { id: 'feed', name, peerURLs: ['http://elsewhere:2380'], clientURLs: [], isLearner: false },
      ];
      const approval = approvalFor(lossy({ list }));
      const { outvoted } = actionOf(decide(lossy({ list, approval })), 'begin-recovery');
      assert.ok(outvoted.some((one) => one.memberId === 'feed'));
      const record = { ...recordFor(0, 3), outvoted };
      assert.equal(readVolumeRecord(writeVolumeRecord(record)).kind, 'valid');
    });
  }

  test('is not confused by a member somewhere else that bears the name of a survivor', () => {
    const list = [
      ...members(3).members,
      { id: 'feed', name: 'orders-0', peerURLs: ['http://elsewhere:2380'], clientURLs: [], isLearner: false },
    ];
    const decision = decide(lossy({ list }));
    assert.equal(decision.kind === 'refuse' && /orders-0 has the most data/.test(decision.message), true);
  });
});

describe('marks that the first invocation did not come to', () => {
  test('are made, although who they are is remembered elsewhere', () => {
    const raw = healthy(3, { slots: { 0: withRecord(recovery(0)) }, membership: down(members(3).members) });
    const { volumes } = actionOf(decide(seen(raw, known())), 'outvote-members');
    assert.deepEqual(
      volumes.map(({ name }) => name),
      ['orders-1', 'orders-2'],
    );
  });

  test('are made on PVCs that are restored after the recovery as well', () => {
    const raw = healthy(1, {
      slots: { 0: withRecord({ outvoted: outvotedOf(1) }) },
      more: [stopped(without('peer', 'configMap')(healthy(2).slots[1] ?? assert.fail()))],
    });
    const { volume, volumes } = actionOf(decide(seen(raw)), 'outvote-members');
    assert.equal(volume.name, 'orders-0');
    assert.deepEqual(
      volumes.map(({ name }) => name),
      ['orders-1'],
    );
  });
});

describe('a PVC that says it is being recovered, restored from a backup', () => {
  const late = (attempt: number, first: Partial<VolumeRecord> = {}) =>
    seen(
      healthy(3, {
        slots: {
          0: withRecord(recovery(attempt, { outvoted: [{ name: 'orders-7', memberId: 'dead' }], ...first })),
          1: withRecord({ outvoted: [{ name: 'orders-7', memberId: 'dead' }] }),
        },
      }),
      known(),
    );

  for (const attempt of [0, 1, 7]) {
    test(`stops no pod of a member that has joined since (${attempt} attempts)`, () => {
      const decision = decide(late(attempt));
      assert.equal(words(decision), 'refuse RecoveryOutdated');
      assert.match(decision.kind === 'refuse' ? decision.cure : '', /volume-state.*orders-0.*sealed/);
    });
  }

  test('is told apart from the end of a recovery', () => {
    const decision = decide(late(1, { state: 'recovered' }));
    assert.equal(words(decision), 'refuse RecoveredListUnexpected');
    assert.match(decision.kind === 'refuse' ? decision.cure : '', /volume-state.*orders-0.*sealed/);
  });

  test('two that leave each other behind are told, and one of them can be given up', () => {
    const both = (second: Partial<VolumeRecord>) =>
      seen(
        healthy(2, {
          membership: down(members(2).members),
          slots: {
            0: withRecord(recovery(1, { outvoted: outvotedOf(1) })),
            1: withRecord({ ...recovery(1, { outvoted: outvotedOf(0) }), ...second }),
          },
        }),
        known(),
      );
    assert.equal(words(decide(both({}))), 'refuse TwoRecoveries');
    assert.equal(words(decide(both({ state: 'superseded' }))), 'act StoppingMembers');
  });
});

describe('whichever was chosen', () => {
  test('and whose PVC says sealed again meanwhile, can be approved once more', () => {
    const observation = seen(
      healthy(3, {
        membership: down(members(3).members),
        slots: {
          0: withEndpoint(endpoint(0, { leader: '0' })),
          1: all(stopped, leftBehind),
          2: all(stopped, leftBehind),
        },
      }),
    );
    assert.equal(words(decide(observation)), 'refuse QuorumLost');
  });

  test('and whose volume is lost: what a person is told to do helps', () => {
    const lost = (
      second: Slot['volume'] extends undefined ? never : Partial<VolumeRecord>,
      first: (slot: Slot) => Slot,
    ) =>
      seen(
        healthy(3, {
          membership: { kind: 'unknown', cause: 'no member runs' },
          slots: { 0: first, 1: all(stopped, withRecord(second)), 2: all(stopped, leftBehind) },
        }),
        known(),
      );
    const chosen = all(stopped, withRecord(recovery(1)), withVolume({ lost: true }));
    const decision = decide(lost({ state: 'superseded' }, chosen));
    assert.equal(words(decision), 'refuse RecoveryVolumeLost');
    assert.match(
      decision.kind === 'refuse' ? decision.cure : '',
      /hand its annotations .* delete PersistentVolumeClaim orders-0/,
    );
    const handedOver = lost({ ...recovery(0), outvoted: outvotedOf(0, 2) }, all(stopped, without('volume')));
    assert.equal(words(decide(handedOver)), 'act ForcingNewCluster');
    const without0 = lost({ state: 'superseded' }, all(stopped, without('volume')));
    const gone = decide(without0);
    assert.equal(words(gone), 'refuse AllVolumesGone');
    assert.match(gone.kind === 'refuse' ? gone.cure : '', /orders-1, orders-2.*sealed/);
    assert.equal(words(decide(lost({ state: 'sealed' }, all(stopped, without('volume'))))), 'act StartingMembers');
  });
});

describe('fences', () => {
  const chosen = (lastSeenOn: Readonly<Record<string, readonly string[]>>, attempt = 0) =>
    all(stopped, withRecord(recovery(attempt, { recovery: { id, attempt, lastSeenOn } })));
  const nodes = { 'node-a': 'ready', 'node-b': 'silent', 'node-c': 'ready' } as const;

  test('count those that left nothing in the API server', () => {
    const observation = healthy(3, {
      membership: down(members(3).members),
      slots: { 0: chosen({ 'orders-1': ['node-b'] }), 2: all(stopped, leftBehind) },
      gone: [1],
    });
    assert.equal(words(decide(seen(observation, known({ nodes })))), 'refuse MemberNotFenced');
  });

  test('count every node that a member was seen on, not only the last', () => {
    for (const second of [stopped, all(without('statefulSet'), withPod({ node: 'node-c', leaving: true }))]) {
      const observation = healthy(3, {
        membership: down(members(3).members),
        slots: {
          0: chosen({ 'orders-1': ['node-b', 'node-c'] }),
          1: all(second, leftBehind),
          2: all(stopped, leftBehind),
        },
      });
      assert.equal(words(decide(seen(observation, known({ nodes })))), 'refuse MemberNotFenced');
    }
  });

  test('several nodes of one member survive being written', () => {
    const record: VolumeRecord = {
      ...recordFor(0, 3),
      ...recovery(2),
      recovery: { id, attempt: 2, lastSeenOn: { 'orders-0': ['node-a'], 'orders-1': ['node-b', 'node-c'] } },
    };
    const read = readVolumeRecord(withVolumeRecord({}, record));
    assert.deepEqual(read.kind === 'valid' && read.record, record);
  });

  for (const attempt of [1, 2]) {
    test(`a member that is started after attempt ${attempt} began is stopped again`, () => {
      for (const ordinal of [0, 1]) {
        const observation = healthy(3, {
          membership: down(members(3).members),
          slots: {
            0: ordinal === 0 ? withRecord(recovery(attempt)) : chosen({}, attempt),
            1: ordinal === 1 ? leftBehind : all(stopped, leftBehind),
            2: all(stopped, leftBehind),
          },
        });
        assert.equal(words(decide(seen(observation, known()))), 'act StoppingMembers');
      }
    });
  }

  test('no member that was left behind runs while the recovered one starts', () => {
    const observation = healthy(3, {
      membership: down(members(3).members),
      slots: {
        0: all(stopped, withRecord({ ...recovery(1), state: 'recovered' })),
        1: leftBehind,
        2: all(stopped, leftBehind),
      },
    });
    const { statefulSets } = actionOf(decide(seen(observation)), 'stop-members');
    assert.deepEqual(
      statefulSets.map(({ name }) => name),
      ['orders-1'],
    );
  });
});

describe('a Job that can not succeed', () => {
  const failing = (code: number, reason: string | undefined, change: Partial<Observation['cluster']['spec']> = {}) =>
    seen(
      healthy(3, {
        membership: down(members(3).members),
        spec: change,
        slots: {
          0: all(stopped, withRecord(recovery(1))),
          1: all(stopped, leftBehind),
          2: all(stopped, leftBehind),
        },
      }),
      known({
        job: { ...job, failed: true },
        pods: [
          {
            name: 'x',
            uid: 'x',
            leaving: false,
            ready: false,
            failure: { container: 'etcd', code, words: '', ...(reason && { reason }) },
          },
        ],
      }),
    );

  test('because it gets too little memory needs a person, and is not repeated for ever', () => {
    const decision = decide(failing(137, 'OOMKilled'));
    assert.equal(words(decision), 'refuse RecoveryOutOfMemory');
    assert.equal(words(decide(failing(137, 'Error'))), 'act RepeatingRecovery');
  });

  test('is repeated with what the spec asks for by then', () => {
    const change = { resources: { limits: { memory: '4Gi' } } };
    assert.equal(words(decide(failing(137, 'OOMKilled', change))), 'act RepeatingRecovery');
    const { recovery: _, ...before } = failing(137, 'OOMKilled', change);
    assert.equal(words(decide({ ...before, recovery: known() })), 'act CuringConfiguration');
  });

  test('because its pod can not start is made anew when the spec has changed', () => {
    const stuck = (change: Partial<Observation['cluster']['spec']>) =>
      seen(
        healthy(3, {
          membership: down(members(3).members),
          spec: change,
          slots: {
            0: all(stopped, withRecord(recovery(1))),
            1: all(stopped, leftBehind),
            2: all(stopped, leftBehind),
          },
        }),
        known({ job, pods: [{ name: 'x', uid: 'x', leaving: false, ready: false, waiting: 'ImagePullBackOff' }] }),
      );
    assert.equal(words(decide(stuck({}))), 'refuse RecoveryPodStuck');
    assert.equal(words(decide(stuck({ image: { repository: 'mirror.example/etcd' } }))), 'act RepeatingRecovery');
    assert.equal(words(decide(stuck({ version: '3.7.3' }))), 'refuse RecoveryPodStuck', 'never upgraded on the way');
  });
});

test('CORRUPT, raised before the quorum was lost, keeps no Job from coming to its end', () => {
  const peer = { metadata: { name: 'orders-0', namespace: 'shop', uid: 'peer' }, spec: peerSpec() } as EtcdPeer;
  const { spec } = recoveryJob(peer, { image: 'us', id, attempt: 1, withoutCopy: false });
  const [etcd] = spec.template.spec.containers;
  // etcd 3.5, 3.6 and 3.7 all answer 503 there while the alarm is raised, and 200 without that one check.
  assert.equal(etcd?.readinessProbe?.httpGet?.path, '/readyz?exclude=data_corruption');
});

function peerSpec(): EtcdPeer['spec'] {
  const { peer } = healthy(1).slots[0] ?? {};
  return peer
    ? { clusterName: 'orders', ordinal: 0, bootstrap: peer.bootstrap, ...peer.inputs }
    : assert.fail('no peer');
}

test('cluster IDs of tests are what approvals begin with', () => {
  assert.ok(approvalFor(lossy()).startsWith(`${clusterId}/`));
});

describe('what the search for counterexamples has found', () => {
  const going = all(withEndpoint(endpoint(0, { leader: '0' })), withVolume({ leaving: true }));

  test('no approval is asked for while the volume of the last survivor is being deleted', () => {
    const observation = lossy();
    const [first, ...others] = observation.slots;
    const leaving = { ...observation, slots: [going(first ?? assert.fail()), ...others] };
    const decision = decide(leaving);
    assert.equal(words(decision), 'refuse QuorumLost');
    assert.match(decision.message, /its volume is being deleted/);
    assert.doesNotMatch(decision.kind === 'refuse' ? decision.cure : '', /annotate/);
    const approval = approvalFor(observation);
    const metadata = { ...leaving.cluster.metadata, annotations: { 'etcd.ratchet.dev/recover-quorum': approval } };
    assert.equal(words(decide({ ...leaving, cluster: { ...leaving.cluster, metadata } })), 'refuse QuorumLost');
  });

  test('of two that have the same data it goes on from the one whose volume stays', () => {
    const gone = all(without('volume', 'pod'), withEndpoint(silent));
    const observation = healthy(4, {
      membership: down(members(4).members),
      slots: { 0: going, 1: withEndpoint(endpoint(1, { leader: '0' })), 2: gone, 3: gone },
    });
    const decision = decide(observation);
    assert.match(decision.kind === 'refuse' ? decision.cure : '', /goes on with the data of orders-1/);
  });

  /** Everything but etcd's answers would fail. */
  const asking = (answers: Partial<EtcdAdmin>, members = 1): ActContext =>
    ({
      cluster: {
        metadata: { name: 'orders', namespace: 'shop', annotations: { [annotations.recoverQuorum]: 'text' } },
      },
      etcd: {
        endpoints: new Map(Array.from({ length: members }, (_, at) => [`orders-${at}`, `http://orders-${at}`])),
        connect: async () => ({ close: () => undefined, ...answers }),
      },
      kube: {
        get: async () => ({
          metadata: {
            name: 'orders-0',
            uid: 'volume-0',
            annotations: writeVolumeRecord({ ...recordFor(0, 3), ...recovery(0) }),
          },
          spec: {},
        }),
        list: async () => ({ items: [] }),
        delete: async () => assert.fail('it is stopped'),
        update: async () => assert.fail('it is marked'),
      },
      signal: AbortSignal.timeout(10_000),
    }) as unknown as ActContext;

  const begin: ActionOf<'begin-recovery'> = {
    kind: 'begin-recovery',
    ...{ id, clusterId, approval: 'text', volume: { name: 'orders-0', uid: 'volume-0' }, memberId: memberId(0) },
    ...{ raftIndex: '100', voters: [memberId(0), memberId(1)], outvoted: [], volumes: [] },
  };
  const statuses = (...answers: readonly Slot['endpoint'][]): Partial<EtcdAdmin> => ({
    members: () => Promise.reject(new EtcdError('no quorum', 'down')),
    status: async (address) => {
      const known = answers[Number(address.at(-1))];
      return known?.kind === 'known' ? known.status : assert.fail();
    },
  });

  test('an approval is not consumed when a quorum has served since it was given', async () => {
    const served = statuses(endpoint(0, { raftIndex: 101n, leader: '0' }));
    await assert.rejects(act(begin, asking(served)), /has taken writes since it was approved/);
  });

  test('a learner with more data stops no recovery; a voter does', async () => {
    const learner = statuses(endpoint(0, { raftIndex: 100n }), endpoint(2, { raftIndex: 200n, isLearner: true }));
    await assert.rejects(act(begin, asking(learner, 2)), /it is marked/);
    const voter = statuses(endpoint(0, { raftIndex: 100n }), endpoint(1, { raftIndex: 200n }));
    await assert.rejects(act(begin, asking(voter, 2)), /is not the one with the most data any more/);
  });

  test('no member is stopped when those that were given up have come back since', async () => {
    const stop: ActionOf<'stop-members'> = {
      kind: 'stop-members',
      volume: { name: 'orders-0', uid: 'volume-0' },
      statefulSets: [{ name: 'orders-0', uid: 'set-0' }],
      pods: [],
    };
    const back = asking({ members: async () => ({ clusterId, members: members(3).members }) });
    await assert.rejects(act(stop, back), /a quorum answers again/);
    const gone = asking({ members: () => Promise.reject(new EtcdError('no quorum', 'down')) });
    await assert.rejects(act(stop, gone), /it is stopped/);
  });
});
