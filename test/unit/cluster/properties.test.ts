import assert from 'node:assert/strict';
import { randomInt } from 'node:crypto';
import { describe, test } from 'node:test';
import { isDeepStrictEqual } from 'node:util';
import * as fc from 'fast-check';
import Schema from 'typebox/schema';
import { type EtcdClusterStatus, etcdClusterStatusSchema } from '../../../manifests/api/etcd-cluster-status.ts';
import { parseVersion } from '../../../manifests/api/version.ts';
import { decide } from '../../../reconcile/cluster/decide/decide.ts';
import { startingInputs } from '../../../reconcile/cluster/decide/held-version.ts';
import { recordOf } from '../../../reconcile/cluster/know/life.ts';
import type { Observation, Slot } from '../../../reconcile/cluster/know/observation.ts';
import { failureOf } from '../../../reconcile/cluster/know/outcome.ts';
import { situate } from '../../../reconcile/cluster/know/situation.ts';
import { statusFor } from '../../../reconcile/cluster/report/status.ts';
import { KubeError } from '../../../reconcile/interfaces/kube.ts';
import { courseOf } from '../../../reconcile/reasons/reasons.ts';
import { observations, outcomesOf } from './arbitrary.ts';
import { withRefused } from './refused.ts';

/** One draw for all: each property looks at the same 3,000, which are drawn and decided once. */
const runs = { numRuns: 3000, seed: randomInt(2 ** 31) };

/** So many actions in a row may be refused. */
const mostRefused = 4;

type Decided = readonly [Observation, ReturnType<typeof decide>];

/** The decision from an observation; and where it was refused, the next one. */
function decisionsFrom(observation: Observation): readonly Decided[] {
  const decided: Decided[] = [];
  for (let seen = observation; decided.length <= mostRefused; ) {
    const decision = decide(seen);
    decided.push([seen, decision]);
    if (decision.kind !== 'act') break;
    seen = withRefused(seen, decision);
  }
  return decided;
}

const drawn: (readonly Decided[])[] = [];

/** Of any decision from any mixture of things that can be seen. */
function everyDecision(check: (...decided: Decided) => void): void {
  if (drawn.length === 0)
    fc.assert(
      fc.property(observations, (one) => void drawn.push(decisionsFrom(one))),
      runs,
    );
  assert.equal(drawn.length, runs.numRuns);
  const checkAll = (decided: readonly Decided[]) => {
    for (const one of decided) check(...one);
  };
  try {
    for (const decided of drawn) checkAll(decided);
  } catch (cause) {
    // The same draw once more, to find the smallest that it fails for.
    fc.assert(
      fc.property(observations, (observation) => checkAll(decisionsFrom(observation))),
      runs,
    );
    throw new Error('a check has failed, and not for the same draw: it, or a decision, depends on what came before', {
      cause,
    });
  }
}

describe('whatever is observed', () => {
  test('there is a decision, with a reason in CamelCase and a sentence', () => {
    everyDecision((_, decision) => {
      assert.match(decision.reason, /^[A-Z][A-Za-z]+$/);
      assert.notEqual(decision.message, '');
      assert.ok(decision.message.length <= 1000, `${decision.message.length} characters`);
      if (decision.kind === 'refuse') assert.notEqual(decision.cure, '');
      if (decision.kind === 'wait') assert.notEqual(decision.wakeOn.length, 0);
    });
  });

  test('what waits for room would start a member anew, disrupt, or put the cluster to rest', () => {
    everyDecision((observation, decision) => {
      const crowded = decide({ ...observation, crowdedBy: ['default/other'] });
      if (crowded.reason !== 'WaitingForRoom' || decision.kind !== 'act') return;
      assert.match(courseOf(decision.reason) ?? 'neither', /^(rolls|disrupts|rests)$/, decision.reason);
    });
  });

  test('what waits for a window would start a member anew, disrupt, or back up before that', () => {
    const maintenance = { windows: [] };
    everyDecision((observation, decision) => {
      const { cluster } = observation;
      const outside = { ...observation, cluster: { ...cluster, spec: { ...cluster.spec, maintenance } } };
      const shut = decide(outside);
      if (shut.reason !== 'OutsideWindows')
        return givesTheVersion(observation, outside) ? assert.deepEqual(shut, decision) : undefined;
      if (decision.kind !== 'act') return;
      const course = decision.action.kind === 'back-up' ? 'rolls' : courseOf(decision.reason);
      assert.match(course ?? 'neither', /^(rolls|disrupts)$/, decision.reason);
    });
  });

  test('no message counts time', () => {
    everyDecision((_, { message }) =>
      assert.doesNotMatch(message, /\d\s?(ms|s|m|h|seconds|minutes|times)\b|\d\d:\d\d/),
    );
  });

  test('nothing is done while another invocation acts, or the cluster is suspended', () => {
    everyDecision(({ lease, cluster }, decision) => {
      if (lease.kind === 'held') assert.equal(decision.kind, 'wait');
      if (cluster.spec.suspend && !cluster.metadata.deletionTimestamp) assert.notEqual(decision.kind, 'act');
    });
  });

  test('no volume that was ever bound is deleted while the cluster lives (I4)', () => {
    everyDecision(({ slots, cluster }, decision) => {
      if (decision.kind !== 'act' || cluster.metadata.deletionTimestamp !== undefined) return;
      const { action } = decision;
      const deleted =
        action.kind === 'delete-volumes'
          ? action.volumes
          : action.kind === 'replace-unbound-volume'
            ? [action.volume]
            : [];
      for (const { name, uid } of deleted) {
        const volume = slotOf(slots, name).volume;
        assert.equal(volume?.uid, uid);
        assert.equal(volume?.bound, false);
      }
      assert.notEqual(action.kind, 'delete-peers');
    });
  });

  test('volumes are deleted with the cluster only by policy, and only when nothing runs any more', () => {
    everyDecision(({ slots, cluster }, decision) => {
      if (decision.kind !== 'act' || decision.action.kind !== 'delete-volumes') return;
      if (cluster.metadata.deletionTimestamp === undefined) return;
      assert.equal(cluster.spec.volumeRetention?.whenDeleted, 'Delete');
      assert.ok(slots.every(({ pod, statefulSet, peer }) => !pod && !statefulSet && !peer));
    });
  });

  test('nothing is started but what is recorded, on its own volume (I5)', () => {
    everyDecision(({ slots, membership }, decision) => {
      if (decision.kind !== 'act' || decision.action.kind !== 'start-members') return;
      for (const name of decision.action.peers) {
        const slot = slotOf(slots, name);
        // `restored`: a cluster that is born from a snapshot, whose data are there.
        const recorded = ['bootstrapping', 'restored', 'joining', 'sealed', 'releasing'];
        assert.ok(recorded.includes(recordOf(slot)?.state ?? ''));
        assert.equal(slot.volume?.leaving, false);
        const { token } = recordOf(slot) ?? {};
        // A record that can't be read stops nothing where a quorum of the very cluster answers.
        const answers = membership.kind === 'known' && membership.clusterId === recordOf(slot)?.clusterId;
        const others = slots.filter(
          (other) =>
            other.volume?.bound &&
            !gone(other) &&
            recordOf(other)?.token !== token &&
            !(answers && other.volume.record.kind === 'invalid'),
        );
        assert.deepEqual(
          others.map((other) => other.name),
          [],
        );
      }
    });
  });

  test('no empty volume is made for a member that has one, or once had (I5)', () => {
    everyDecision(({ slots, cluster, membership }, decision) => {
      if (decision.kind !== 'act' || decision.action.kind !== 'prepare-members') return;
      for (const { name, record } of decision.action.members) {
        const slot = slots.find((candidate) => candidate.name === name);
        if (slot?.volume) continue;
        if (record.state === 'joining') {
          assert.equal(slot, undefined, `${name} is a new name`);
          const url = record.initialCluster.find((entry) => entry.name === name)?.url ?? '';
          assert.ok(membership.kind === 'known' && !membership.members.some(({ peerURLs }) => peerURLs.includes(url)));
          continue;
        }
        assert.equal(record.state, 'bootstrapping');
        assert.ok(!slot?.configMap?.immutable, `${name} is sealed`);
        if (slot?.peer) assert.notEqual(slot.peer.replacingVolume, undefined);
        else if (membership.kind === 'known') assert.ok(!membership.members.some((member) => member.name === name));
        else assert.ok(!slots.some((other) => recordOf(other)?.state === 'sealed'));
        const unborn = slots.every(({ volume }) => !volume);
        if (unborn && !slot?.peer) assert.equal(cluster.status?.clusterID, undefined);
      }
    });
  });

  test('every birth has one token and one list (I5)', () => {
    everyDecision(({ slots }, decision) => {
      if (decision.kind !== 'act' || decision.action.kind !== 'prepare-members') return;
      const records = [
        ...decision.action.members.map(({ record }) => record),
        // What can't be read says nothing; its member alone is left as it is.
        ...slots.filter((slot) => slot.volume?.bound && !gone(slot)).flatMap((slot) => recordOf(slot) ?? []),
      ];
      assert.equal(new Set(records.map(({ token }) => token)).size, 1);
    });
  });

  test('no Ready pod and no answering member is reconfigured, but for a changed template (I1)', () => {
    everyDecision(({ slots }, decision) => {
      if (decision.kind !== 'act' || decision.action.kind !== 'reconfigure-members') return;
      for (const { name } of decision.action.peers) {
        const { pod, endpoint } = slotOf(slots, name);
        if (decision.reason === 'CorrectingTemplates') {
          assert.equal(pod?.upToDate, 'no');
          continue;
        }
        assert.notEqual(pod?.ready, true);
        assert.equal(endpoint.kind, 'unknown');
      }
    });
  });

  test('no minor is below one that ran, unless a member never ran it and the cluster did not (I6)', () => {
    fc.assert(
      fc.property(observations, (observation) => {
        // Without volumes that came too late to count: of a birth from a snapshot there is one, until it is sealed.
        const { effective, slots } = situate(observation);
        const chosen = minorOf(effective.inputs.version);
        const members = slots.flatMap((slot) => {
          const { endpoint, pod, peer } = slot;
          const record = recordOf(slot);
          if (record?.state === 'released' || record?.state === 'superseded') return [];
          const sure =
            record && record.state !== 'bootstrapping' && record.state !== 'restoring' ? [record.version] : [];
          // etcd ends on data from two minors before: another client asked for that.
          const isOpened = sure.every((version) => minorOf(peer?.inputs.version ?? version) <= minorOf(version) + 1);
          const ran = [
            ...sure,
            ...(endpoint.kind === 'known' ? [endpoint.status.version] : []),
            // A member that answers says what runs, whatever its template says by now.
            ...(endpoint.kind === 'unknown' && pod?.container.everStarted && peer && isOpened
              ? [peer.inputs.version]
              : []),
          ];
          return ran.length === 0 ? [] : [{ isSealed: record?.state === 'sealed', ran: Math.max(...ran.map(minorOf)) }];
        });
        if (members.every(({ ran }) => chosen >= ran)) return;
        assert.ok(members.some(({ isSealed, ran }) => isSealed && ran <= chosen));
        const { clusterVersion } = observation;
        assert.ok(clusterVersion === undefined || chosen >= minorOf(clusterVersion));
      }),
      runs,
    );
  });

  test('members are sealed only under the cluster ID that the volumes have (I4, I9)', () => {
    everyDecision(({ slots, membership }, decision) => {
      if (decision.kind !== 'act' || decision.action.kind !== 'seal-members') return;
      assert.equal(membership.kind, 'known');
      for (const slot of slots.filter((candidate) => !gone(candidate))) {
        const known = recordOf(slot)?.clusterId;
        if (known !== undefined) assert.equal(known, decision.action.clusterId);
      }
    });
  });

  test('clients are let in only when every member is sealed (I5)', () => {
    everyDecision((observation, decision) => {
      if (decision.kind !== 'act' || decision.action.kind !== 'apply-shared') return;
      const { objects } = decision.action;
      if (!objects.includes('client-service') && !objects.includes('external-service')) return;
      const { life, slots } = situate(observation);
      const token = life.stage === 'born' ? life.token : assert.fail(life.stage);
      const ours = slots.filter((slot) => recordOf(slot)?.token === token);
      assert.ok(ours.length > 0);
      for (const slot of ours) assert.notEqual(recordOf(slot)?.state, 'bootstrapping');
    });
  });
});

describe('whatever is decided and comes of it, the status', () => {
  const reports = observations.chain((observation) => {
    const decision = decide(observation);
    return outcomesOf(decision).map((outcome) => ({ observation, decision, outcome }));
  });
  const valid = Schema.Compile(etcdClusterStatusSchema);

  const told: (readonly [ReturnType<typeof statusFor>, Report])[] = [];

  function statusOf({ observation, decision, outcome }: Report) {
    return statusFor(situate(observation), decision, outcome);
  }

  function everyReport(check: (status: ReturnType<typeof statusFor>, report: Report) => void): void {
    if (told.length === 0)
      fc.assert(
        fc.property(reports, (report) => void told.push([statusOf(report), report])),
        runs,
      );
    assert.equal(told.length, runs.numRuns);
    try {
      for (const one of told) check(...one);
    } catch (cause) {
      fc.assert(
        fc.property(reports, (report) => check(statusOf(report), report)),
        runs,
      );
      throw new Error('a check has failed, and not for the same draw: it, or a status, depends on what came before', {
        cause,
      });
    }
  }

  test('says Ready always, and Reconciling or Stalled only while true, never both (kstatus)', () => {
    everyReport(({ conditions = [] }) => {
      const of = (type: string) => conditions.filter((condition) => condition.type === type);
      assert.equal(of('Ready').length, 1);
      assert.equal(of('Available').length, 1);
      assert.ok(of('Reconciling').length + of('Stalled').length <= 1);
      for (const { status } of [...of('Reconciling'), ...of('Stalled')]) {
        assert.equal(status, 'True');
        assert.equal(of('Ready')[0]?.status, 'False');
      }
    });
  });

  test('is Ready only when every member is healthy, or none is asked for and none runs', () => {
    everyReport(({ conditions = [], members = [] }) => {
      const ready = conditions.find(({ type }) => type === 'Ready');
      if (ready?.status !== 'True') return;
      if (ready.reason === 'Hibernating') assert.ok(members.every(({ healthy }) => !healthy));
      else assert.ok(members.length > 0 && members.every(({ healthy }) => healthy));
    });
  });

  test('is about the generation that was observed', () => {
    everyReport(({ observedGeneration, conditions = [] }, { observation }) => {
      const { generation } = observation.cluster.metadata;
      assert.equal(observedGeneration, generation);
      for (const condition of conditions) assert.equal(condition.observedGeneration, generation);
    });
  });

  test('never holds a step that is over', () => {
    everyReport((status) => assert.equal('step' in status, false));
  });

  test('is what the API accepts, and survives the way there and back', () => {
    everyReport((status) => {
      const [accepted, errors] = valid.Errors(status);
      assert.ok(accepted, JSON.stringify(errors));
      assert.deepEqual(JSON.parse(JSON.stringify(status)), status);
    });
  });

  test('does not change when nothing changed: the same step reported twice is written once', () => {
    everyReport((status, { observation, decision, outcome }) => {
      // Another try that is refused is news: the next one comes later.
      if (outcome.kind === 'acted' || (outcome.kind === 'failed' && outcome.failure.class === 'terminal')) return;
      const later = new Date(observation.at.getTime() + 60_000);
      const again = { ...observation, at: later, cluster: { ...observation.cluster, status } };
      // A volume that says `bootstrapping` without its ConfigMap counts as restored once a cluster is remembered: news.
      if (!isDeepStrictEqual(situate(again).slots, situate(observation).slots)) return;
      // A try that failed in a way that may pass is counted, and nothing else changes.
      const counted = (one: typeof status) => (outcome.kind === 'failed' ? { ...one, setAside: [] } : one);
      assert.deepEqual(counted(statusFor(situate(again), decision, outcome)), counted(status));
    });
  });

  test('remembers no more than twenty steps', () => {
    const remembers = fc.property(reports, ({ observation, decision, outcome }) => {
      let last: EtcdClusterStatus | undefined;
      for (let step = 0; step < 25; step += 1) {
        const cluster = { ...observation.cluster, ...(last && { status: last }) };
        last = statusFor(situate({ ...observation, cluster }), decision, outcome);
      }
      assert.ok((last?.history ?? []).length <= 20);
      assert.ok((last?.setAside ?? []).length <= 16);
    });
    fc.assert(remembers, { numRuns: 300 });
  });

  type Report = typeof reports extends fc.Arbitrary<infer R> ? R : never;
});

test('a person who is needed is told what to do, whatever the API server said', () => {
  for (const status of [400, 401, 403, 404, 422]) {
    const error = new KubeError(`POST services in namespace shop: ${status} Nope`, {
      class: 'terminal',
      status,
      reason: 'Nope',
    });
    assert.match(failureOf(error).message, /To go on: /);
  }
});

function slotOf(slots: readonly Slot[], name: string): Slot {
  return slots.find((slot) => slot.name === name) ?? assert.fail(`there is no ${name}`);
}

/** Of a member that is no longer the cluster's. */
function gone(slot: Slot): boolean {
  const state = recordOf(slot)?.state;
  return state === 'released' || state === 'superseded';
}

function minorOf(version: string): number {
  return parseVersion(version).minor;
}

/** Whether what holds a version outside of windows holds none here that it does not hold within them. */
function givesTheVersion(within: Observation, outside: Observation): boolean {
  return startingInputs(situate(within)).version === startingInputs(situate(outside)).version;
}
