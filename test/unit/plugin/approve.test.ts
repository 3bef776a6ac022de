import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ApprovalAsked } from '../../../manifests/api/approval.ts';
import type { EtcdCluster } from '../../../manifests/api/etcd-cluster.ts';
import type { EtcdFleet } from '../../../manifests/api/etcd-fleet.ts';
import { annotations, approverOf } from '../../../manifests/render/names.ts';
import { type KubeObject, resources } from '../../../reconcile/interfaces/kube.ts';
import { createFakeKube, type FakeKube, type FakeKubeOptions } from '../../support/fakes/kube.ts';
import { now, saidOn } from '../../support/plugin/said.ts';

const quorum: ApprovalAsked = {
  reason: 'QuorumLost',
  annotation: annotations.recoverQuorum,
  value: 'c1c1/0123456789ab',
  approves: 'the cluster goes on with the data of orders-0, and without the others for ever',
  loses: 'the data of orders-1, orders-2 for ever: every write that orders-0 does not have',
};
const rollback: ApprovalAsked = {
  ...{ reason: 'RollbackNotApproved', annotation: annotations.rollBack, value: 'c1c1/ba9876543210' },
  ...{ approves: 'spec.rollback goes back to gs://b/o', loses: 'everything after revision 7' },
};

const givenBy = (by: string, { annotation, value }: ApprovalAsked) => ({
  [annotation]: value,
  [approverOf(annotation)]: by,
});

function asking(approvals: readonly ApprovalAsked[], observedGeneration = 1): EtcdCluster {
  return {
    apiVersion: 'etcd.ratchet.dev/v1alpha1',
    kind: 'EtcdCluster',
    metadata: { namespace: 'payments', name: 'orders', generation: 1, uid: 'u1', annotations: { mine: 'stays' } },
    spec: { replicas: 3, version: '3.6.16', storage: { size: '1Gi' } },
    status: { observedGeneration, approvals },
  };
}

function world(cluster: EtcdCluster, options: FakeKubeOptions = {}): FakeKube {
  const kube = createFakeKube({ clock: () => now, ...options });
  kube.seed(resources.clusters, cluster);
  return kube;
}

const given = (kube: FakeKube) => kube.stored<KubeObject>(resources.clusters)[0]?.metadata.annotations;
const answering = (answer: string) => ({ ask: async () => answer });

test('it says what is lost, asks for the name, and sets the annotation to the asked value', async () => {
  const kube = world(asking([quorum]));
  const questions: string[] = [];
  const ask = async (question: string) => {
    questions.push(question);
    return ' orders ';
  };
  const { code, out, err } = await saidOn(kube, ['approve', 'orders'], { ask });
  assert.equal(code, 0, err);
  assert.match(err, /loses: {4}the data of orders-1, orders-2 for ever/);
  assert.match(questions.join(), /can't be undone.*type the name orders/);
  assert.match(out, /EtcdCluster payments\/orders: QuorumLost is approved/);
  assert.deepEqual(given(kube), { mine: 'stays', ...givenBy('ada', quorum) });
});

for (const answer of ['', 'y', 'yes', 'ORDERS', 'orders2', 'orders orders'])
  test(`the answer ${JSON.stringify(answer)} approves nothing`, async () => {
    const kube = world(asking([quorum]));
    const { code, err } = await saidOn(kube, ['approve', 'orders'], answering(answer));
    assert.deepEqual([code, given(kube)], [1, { mine: 'stays' }]);
    assert.match(err, /error: nothing was approved\n$/);
  });

test('with --value it approves that value', async () => {
  const kube = world(asking([quorum]));
  const { code, err } = await saidOn(kube, ['approve', 'orders', '--value', quorum.value, '--yes']);
  assert.equal(code, 0, err);
  assert.equal(given(kube)?.[quorum.annotation], quorum.value);
});

for (const value of ['', ' ', `${quorum.value} `, quorum.value.slice(0, -1), 'ü', 'x'.repeat(10_000), rollback.value])
  test(`with --value ${JSON.stringify(value.slice(0, 20))} (${value.length}) nothing is approved`, async () => {
    const kube = world(asking([quorum]));
    const { code, err } = await saidOn(kube, ['approve', 'orders', '--value', value, '--yes']);
    assert.deepEqual([code, given(kube)], [1, { mine: 'stays' }]);
    assert.match(err, /asks for an approval of another value, c1c1\/0123456789ab: nothing was approved/);
  });

test('an approval that was given for another value than --value is not taken for that', async () => {
  const cluster = asking([quorum]);
  const annotated = { ...cluster.metadata.annotations, [quorum.annotation]: quorum.value };
  const kube = world({ ...cluster, metadata: { ...cluster.metadata, annotations: annotated } });
  const { code } = await saidOn(kube, ['approve', 'orders', '--value', rollback.value, '--yes']);
  assert.equal(code, 1);
});

test('without a terminal it takes --yes, and Ctrl-C at the question approves nothing', async () => {
  const kube = world(asking([quorum]));
  const { code, err } = await saidOn(kube, ['approve', 'orders']);
  assert.equal(code, 1);
  assert.match(err, /no terminal to ask on.*add --yes/);
  const stopping = new AbortController();
  const ask = async () => {
    stopping.abort();
    return 'orders';
  };
  assert.equal((await saidOn(kube, ['approve', 'orders'], { ask, stop: stopping.signal })).code, 1);
  assert.deepEqual(given(kube), { mine: 'stays' });
  assert.equal((await saidOn(kube, ['approve', 'orders', '--yes'])).code, 0);
  assert.equal(given(kube)?.[quorum.annotation], quorum.value);
});

test('what changes while a person reads is not approved: value, words, object, or spec', async () => {
  const others: readonly EtcdCluster[] = [
    asking([{ ...quorum, value: 'c1c1/ffffffffffff' }]),
    asking([{ ...quorum, loses: 'everything' }]),
    asking([]),
    { ...asking([quorum]), metadata: { ...asking([]).metadata, uid: 'u2' } },
    asking([quorum], 0),
  ];
  for (const other of others) {
    const kube = world(asking([quorum]));
    const ask = async () => {
      kube.seed(resources.clusters, other);
      return 'orders';
    };
    const { code, err } = await saidOn(kube, ['approve', 'orders'], { ask });
    assert.deepEqual([code, given(kube)], [1, { mine: 'stays' }], JSON.stringify(other));
    assert.match(err, /nothing was approved; look again/);
  }
});

test('between the last look and the write, the resourceVersion holds it to what was read', async () => {
  let changes = 0;
  const kube: FakeKube = world(asking([quorum]), {
    before: ({ key }) => {
      if (key === 'PUT etcdclusters' && changes++ === 0)
        kube.seed(resources.clusters, asking([{ ...quorum, value: 'c1c1/another00000' }]));
    },
  });
  const { code, err } = await saidOn(kube, ['approve', 'orders', '--yes']);
  assert.deepEqual([code, given(kube)], [1, { mine: 'stays' }]);
  assert.match(err, /look again/);
  // A change that leaves what is asked is no reason to give up.
  let harmless = 0;
  const busy: FakeKube = world(asking([quorum]), {
    before: ({ key }) => {
      if (key === 'PUT etcdclusters' && harmless++ === 0) busy.seed(resources.clusters, asking([quorum]));
    },
  });
  assert.equal((await saidOn(busy, ['approve', 'orders', '--yes'])).code, 0);
  assert.equal(given(busy)?.[quorum.annotation], quorum.value);
});

test('where several are asked for, one is named; where none is, nothing is set', async () => {
  const kube = world(asking([quorum, rollback]));
  const several = await saidOn(kube, ['approve', 'orders', '--yes']);
  assert.match(several.err, /name one of recover-quorum, roll-back by --for/);
  assert.match(
    (await saidOn(kube, ['approve', 'orders', '--yes', '--for', 'paused'])).err,
    /asks for no such approval/,
  );
  assert.equal((await saidOn(kube, ['approve', 'orders', '--yes', '--for', 'roll-back'])).code, 0);
  assert.deepEqual(given(kube), { mine: 'stays', ...givenBy('ada', rollback) });
  assert.match((await saidOn(world(asking([])), ['approve', 'orders', '--yes'])).err, /asks for no approval/);
  assert.match((await saidOn(world(asking([quorum], 0)), ['approve', 'orders', '--yes'])).err, /no pass has looked/);
});

test('one that is given already is not set again, and needs no answer', async () => {
  const cluster = asking([quorum]);
  const annotated = { ...cluster.metadata, annotations: { [quorum.annotation]: quorum.value } };
  const kube = world({ ...cluster, metadata: annotated });
  const { code, out } = await saidOn(kube, ['approve', 'orders']);
  assert.equal(code, 0);
  assert.match(out, /was approved already/);
  assert.ok(kube.journal().every(({ key }) => key.startsWith('GET')));
});

test('one that does not count is given anew under the own name, and why says by whom', async () => {
  const refused: ApprovalAsked = { ...quorum, refused: 'bob gave it, and signed the commit' };
  const cluster = asking([refused]);
  const kube = world({ ...cluster, metadata: { ...cluster.metadata, annotations: givenBy('bob', quorum) } });
  const why = await saidOn(kube, ['why', 'orders']);
  assert.match(why.out, /given: {4}it does not count: bob gave it, and signed the commit\n/);
  assert.match(why.out, /approved: etcd\.ratchet\.dev\/recover-quorum=c1c1\/0123456789ab, by bob\n/);
  assert.equal((await saidOn(kube, ['approve', 'orders', '--yes'])).code, 0);
  assert.deepEqual(given(kube), givenBy('ada', quorum));
  const again = await saidOn(kube, ['approve', 'orders']);
  assert.match(again.out, /was approved already/);
});

test('where the API server does not say who asks, nothing is approved', async () => {
  const kube = world(asking([quorum]));
  const { code, err } = await saidOn(kube, ['approve', 'orders', '--yes'], {}, { username: '' });
  assert.deepEqual([code, given(kube)], [1, { mine: 'stays' }]);
  assert.match(err, /does not say who you are: nothing was approved/);
});

test('a hostile status sets no other annotation, and draws nothing on the terminal', async () => {
  const hostile = { ...quorum, annotation: annotations.paused, value: 'true' } as unknown as ApprovalAsked;
  const kube = world(asking([hostile]));
  assert.match((await saidOn(kube, ['approve', 'orders', '--yes'])).err, /asks for no approval/);
  const loud = world(asking([{ ...quorum, loses: 'nothing\u001b[2J\r\u202e at all', reason: '\u001b]0;x\u0007' }]));
  const { out, err } = await saidOn(loud, ['approve', 'orders', '--yes']);
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what must not be there
  assert.doesNotMatch(out + err, /[\u001b\u0007\r\u202e]/);
});

test('why shows what is asked, what is lost and the command; a program reads the field', async () => {
  const { out } = await saidOn(world(asking([quorum])), ['why', 'orders']);
  assert.match(out, /asks for an approval \(QuorumLost\)\n {2}approves: the cluster.*\n {2}loses: {4}the data/);
  assert.match(out, /do: {7}kubectl ratchet -n payments approve orders\n/);
  const json = JSON.parse((await saidOn(world(asking([quorum])), ['why', 'orders', '-o', 'json'])).out);
  assert.deepEqual(json.approvals, [quorum]);
});

test('a fleet asks for its own', async () => {
  const prune: ApprovalAsked = {
    ...{ reason: 'PruneNeedsConfirmation', annotation: annotations.confirmPrune, value: 'abc/0123456789ab' },
    ...{ approves: 'these are deleted: payments/a, payments/b', loses: 'these objects' },
  };
  const fleet: EtcdFleet = {
    apiVersion: 'etcd.ratchet.dev/v1alpha1',
    kind: 'EtcdFleet',
    metadata: { namespace: 'payments', name: 'production', generation: 1 },
    spec: { git: { url: 'https://git.example.com/x.git', ref: 'main' } },
    status: { observedGeneration: 1, approvals: [prune] },
  };
  const kube = createFakeKube({ clock: () => now });
  kube.seed(resources.fleets, fleet);
  kube.seed(resources.namespaces, { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'payments' } });
  assert.equal((await saidOn(kube, ['approve', '--fleet', 'production'], answering('production'))).code, 0);
  const set = kube.stored<KubeObject>(resources.fleets)[0]?.metadata.annotations;
  assert.deepEqual(set, givenBy('ada', prune));
  assert.match((await saidOn(kube, ['approve', 'production', '--yes'])).err, /there is no EtcdCluster/);
});
