import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { EtcdCluster } from '../../../manifests/api/etcd-cluster.ts';
import type { Pod } from '../../../manifests/kube-types.ts';
import type { Membership, Slot } from '../../../reconcile/cluster/know/observation.ts';
import {
  callsForExisting,
  existingEndpoints,
  inheritedAmong,
  listBeside,
  namingThem,
  needsOthers,
} from '../../../reconcile/cluster/observe/ask-existing.ts';
import { resources } from '../../../reconcile/interfaces/kube.ts';
import { createFakeKube } from '../../support/fakes/kube.ts';
import { beside, existing, inherited, memberIDs, others } from './adoptions.ts';
import {
  all,
  clusterId,
  endpoint,
  healthy,
  members,
  namespace,
  silent,
  withEndpoint,
  without,
  withRecord,
} from './observations.ts';

/** What members of others say counts only where it lacks nothing of ours (I9). */

type Known = Extract<Membership, { kind: 'known' }>;

const unknown: Membership = { kind: 'unknown', cause: 'none of ours answers' };
const ofOthers: Known = { kind: 'known', clusterId, members: others() };
const both: Known = { kind: 'known', clusterId, members: [...members(1).members, ...others()] };
const slotsOf = (change: (slot: Slot) => Slot = withEndpoint(silent)) => healthy(1, { every: change }).slots;
const sealedSilent = { membership: unknown, slots: slotsOf() };

describe('the list that counts', () => {
  test('is ours wherever a voter of ours answers, whatever the others say', () => {
    const seen = { membership: unknown, slots: slotsOf(withEndpoint(endpoint(0))) };
    assert.equal(needsOthers(seen), false);
    assert.equal(listBeside(seen, existing, ofOthers), unknown);
    assert.equal(needsOthers({ ...sealedSilent, membership: both }), false);
    assert.equal(listBeside({ ...sealedSilent, membership: both }, existing, ofOthers), both);
  });

  test('is that of the others where only a learner of ours answers, or none', () => {
    const learner = { membership: unknown, slots: slotsOf(withEndpoint(endpoint(0, { isLearner: true }))) };
    for (const seen of [learner, sealedSilent]) {
      assert.equal(needsOthers(seen), true);
      assert.equal(listBeside(seen, existing, both), both);
    }
    assert.equal(listBeside(sealedSilent, existing, undefined), unknown, 'they were not asked');
    assert.equal(listBeside(sealedSilent, existing, unknown), unknown);
  });

  test('is none where the others are another etcd cluster', () => {
    const list = listBeside(sealedSilent, existing, { ...both, clusterId: 'dead' });
    assert.ok(list.kind === 'unknown');
    assert.match(list.cause, /belong to etcd cluster dead, and not to c1c1/);
  });

  test('is none where it lacks a sealed member of ours: they may have begun anew', () => {
    const list = listBeside(sealedSilent, existing, ofOthers);
    assert.ok(list.kind === 'unknown');
    assert.match(list.cause, /lacks orders-0: they may have begun anew/);
    for (const state of ['joining', 'superseded'] as const) {
      const slots = slotsOf(all(withRecord({ state }), withEndpoint(silent)));
      assert.equal(listBeside({ membership: unknown, slots }, existing, ofOthers), ofOthers, state);
    }
  });
});

test('members of others are asked while the list has any of them that is not ours, or is unknown', () => {
  const { cluster } = beside(1);
  const asks = (membership: Membership, of: EtcdCluster = cluster) =>
    callsForExisting(of, { membership, slots: slotsOf() }) !== undefined;
  assert.ok(asks(both));
  assert.ok(asks(unknown));
  assert.ok(!asks({ ...both, clusterId: 'dead' }));
  assert.ok(!asks(members(1)), 'all of them have left');
  const [stranger] = others();
  const joined = { ...both, members: [...members(1).members, { ...(stranger ?? assert.fail()), id: 'aa' }] };
  assert.ok(!asks(joined), 'the one that is there is none of those that are taken over');
  assert.ok(!asks(both, healthy(1).cluster), 'nothing is taken over');
  const [ours] = members(1).members;
  const { spec, ...rest } = cluster;
  const bootstrap = { existing: { ...existing, memberIDs: [ours?.id ?? ''] } };
  assert.ok(!asks(members(1), { ...rest, spec: { ...spec, bootstrap } }), 'the one that it names is ours by now');
});

describe('members that are inherited', () => {
  const answers = inherited('ed2');
  const ids = (list: Membership, slots: readonly Slot[] = slotsOf()) =>
    inheritedAmong(list, existing, slots, answers).map(({ memberId }) => memberId);

  test('are those that the spec names, on the list of that very cluster, and not ours', () => {
    assert.deepEqual(ids(both), memberIDs);
    assert.deepEqual(ids({ ...both, members: [...members(1).members, ...others().slice(1)] }), memberIDs.slice(1));
    assert.deepEqual(ids(unknown), []);
    assert.deepEqual(ids({ ...both, clusterId: 'dead' }), []);
    const ours = slotsOf(withRecord({ memberId: memberIDs[0] ?? '' }));
    const named = { ...both, members: others({ name: 'orders-0' }) };
    assert.ok(!ids(named, ours).includes(memberIDs[0] ?? ''));
  });

  test('have said only what a member with that ID, of that cluster, answered', () => {
    const said = (change: object) => {
      const [first, ...more] = answers;
      assert.ok(first?.endpoint.kind === 'known');
      const changed = { ...first, endpoint: { ...first.endpoint, status: { ...first.endpoint.status, ...change } } };
      return inheritedAmong(both, existing, slotsOf(), [changed, ...more])[0]?.endpoint.kind;
    };
    assert.equal(said({}), 'known');
    assert.equal(said({ memberId: 'ee' }), 'unknown');
    assert.equal(said({ clusterId: 'dead' }), 'unknown');
    const [first] = inheritedAmong(both, existing, slotsOf(), inherited('ed2', 'silent'));
    assert.equal(first?.endpoint.kind, 'unknown');
  });
});

describe('pods that may be asked', () => {
  const podOf = (name: string, { labels = {}, ip = '10.0.0.9', ...spec }: Record<string, unknown> = {}) =>
    ({
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: { namespace, name, uid: name, labels: { app: 'old', ...(labels as object) } },
      spec: { containers: [], ...spec },
      status: ip === '' ? {} : { podIP: ip },
    }) as unknown as Pod;
  const ask = async (pods: readonly Pod[], sought: object = {}) => {
    const kube = createFakeKube();
    for (const pod of pods) kube.seed<Pod>(resources.pods, pod);
    const { cluster } = healthy(1);
    return existingEndpoints(kube, cluster, { ...existing, ...sought }, new AbortController().signal);
  };

  test('have an address, the labels of the spec, and are none of ours', async () => {
    const ours = { 'app.kubernetes.io/managed-by': 'etcd-ratchet' };
    const pods = [
      podOf('old-0'),
      podOf('b', { ip: '' }),
      podOf('c', { labels: ours }),
      podOf('d', { labels: { app: 'x' } }),
    ];
    const found = await ask(pods);
    assert.deepEqual(
      found.map(({ url, serverName }) => [url, serverName]),
      [['http://10.0.0.9:2379', `old-0.${namespace}.svc`]],
    );
  });

  test('are named by their Service, or as the spec says', async () => {
    const member = podOf('old-0', { hostname: 'old-zero', subdomain: 'old' });
    const [own] = await ask([member]);
    assert.equal(own?.serverName, `old-zero.old.${namespace}.svc`);
    const [named] = await ask([member], { serverName: 'etcd.example', clientPort: 1234 });
    assert.deepEqual([named?.serverName, named?.url], ['etcd.example', 'http://10.0.0.9:1234']);
    const tls = namingThem({ ca: '', serverName: () => 'ours' } as never, named ? [named] : []);
    assert.deepEqual(
      ['https://10.0.0.9:2379', 'https://10.0.0.8:2379'].map((url) => tls.serverName(url)),
      ['etcd.example', 'ours'],
    );
  });
});

test('a slot without a volume is no member of ours that a list could lack', () => {
  const slots = slotsOf(all(without('volume'), withEndpoint(silent)));
  assert.equal(listBeside({ membership: unknown, slots }, existing, ofOthers), ofOthers);
});
