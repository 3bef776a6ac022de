import assert from 'node:assert/strict';
import type { EtcdAdmin } from '../../../reconcile/interfaces/etcd-admin.ts';
import { until } from '../../e2e/support/until.ts';
import { post, startMembers, type TestCluster, type TestMember } from '../clients/etcd-members.ts';
import { insist, open, put, within } from '../clients/etcd-membership-asking.ts';
import { type GuardedEtcd, startGuarded } from './guarded-etcd.ts';

/** What etcd of one minor there is. */
export interface EtcdPlace extends AsyncDisposable {
  /** Three voters, and a learner that never started. It stays as it is. */
  readonly steady: EtcdCluster;
  /** One voter, and what contracts make of it, one after the other. */
  readonly changing: ChangingCluster;
  /** One voter, whose database and alarms contracts change, one after the other. */
  readonly filling: FillingCluster;
  /** One voter with TLS, whose users and roles contracts change, one after the other. */
  readonly guarded: GuardedCluster;
  /** One of two voters: it answers for itself, and hears no quorum. */
  readonly bereft: EtcdCluster;
  /** The same, and started anew since: it tells its metrics, and nothing else. */
  readonly anew: EtcdCluster & { readonly memberId: string };
}

export interface EtcdCluster {
  readonly clusterId: string;
  /** Of those that run, the first voter first. */
  readonly members: readonly Pick<TestMember, 'name' | 'clientUrl' | 'peerUrl'>[];
}

interface Taken {
  /** One contract at a time. */
  use<T>(work: () => Promise<T>): Promise<T>;
}

export interface ChangingCluster extends EtcdCluster, Taken {
  /** Brings it there: a voter alone; with a learner that has not started; with one in sync; with a second voter. */
  become(what: 'alone' | 'with a learner' | 'with a learner in sync' | 'with two voters'): Promise<void>;
}

export interface FillingCluster extends EtcdCluster, Taken {
  /** None of its alarms is raised, and these keys are there anew: each is of so many bytes, and was written twice. */
  become(keys: { readonly count: number; readonly bytes: number }): Promise<void>;
  /** Of its only member. */
  raise(alarm: 'NOSPACE' | 'CORRUPT'): Promise<void>;
}

export interface GuardedCluster extends EtcdCluster, Taken, Pick<GuardedEtcd, 'clients' | 'become'> {}

/** A busy machine elects no other leader between a look and the request that is about what was seen. */
const patient = ['--election-timeout=5000'];

export async function startEtcdPlace(binary: string): Promise<EtcdPlace> {
  const [guarded, ...started] = await Promise.all([
    startGuarded(binary),
    ...[3, 1, 1, 2, 2].map((count) => startMembers(binary, count, count === 3 ? patient : [])),
  ]);
  const [three, one, other, two, third] = started as [TestCluster, TestCluster, TestCluster, TestCluster, TestCluster];
  await three.addLearner();
  using etcd = open();
  const [steady, changing, filling, bereft] = await Promise.all(
    [three, one, other, two].map((cluster) => describe(etcd, cluster)),
  );
  if (!steady || !changing || !filling || !bereft) throw new Error('a cluster is missing');
  await two.members[1]?.kill();
  return {
    steady,
    changing: changeable(one, changing),
    filling: fillable(filling),
    guarded: { ...guarded, ...oneAtATime() },
    bereft: { ...bereft, members: bereft.members.slice(0, 1) },
    anew: await startedAnew(etcd, third),
    [Symbol.asyncDispose]: async () => {
      await Promise.all([guarded, ...started].map((cluster) => cluster[Symbol.asyncDispose]()));
    },
  };
}

async function describe(etcd: EtcdAdmin, { members }: TestCluster): Promise<EtcdCluster> {
  const { clusterId } = await etcd.members(
    members.map(({ clientUrl }) => clientUrl),
    within(5_000),
  );
  return { clusterId, members };
}

async function startedAnew(etcd: EtcdAdmin, cluster: TestCluster): Promise<EtcdPlace['anew']> {
  const { clusterId, members } = await describe(etcd, cluster);
  const [first = assert.fail()] = cluster.members;
  const { memberId } = await etcd.status(first.clientUrl, within(5_000));
  await Promise.all(cluster.members.map((member) => member.kill()));
  first.restart();
  await until('it names the other', async () => {
    const { others } = await etcd.metrics(first.clientUrl, within(2_000));
    return others.length === 1;
  });
  return { clusterId, memberId, members: members.slice(0, 1) };
}

function oneAtATime(): Taken {
  let turn: Promise<unknown> = Promise.resolve();
  return {
    use: (work) => {
      const done = turn.then(work);
      turn = done.catch(() => undefined);
      return done;
    },
  };
}

/** Through etcd's JSON gateway: what is tried here must not be its own witness. */
function fillable(cluster: EtcdCluster): FillingCluster {
  const [{ clientUrl } = { clientUrl: '' }] = cluster.members;
  const alarm = (body: object) => post(clientUrl, '/v3/maintenance/alarm', body);
  return {
    ...cluster,
    ...oneAtATime(),
    become: async ({ count, bytes }) => {
      const { alarms = [] } = (await alarm({ action: 'GET' })) as { alarms?: readonly object[] };
      for (const raised of alarms) await alarm({ ...raised, action: 'DEACTIVATE' });
      const keys = Array.from({ length: 2 * count }, (_, index) => `key-${index % count}`);
      for (const key of keys) assert.ok(await put(clientUrl, key, 'x'.repeat(bytes)), `${key} was not written`);
    },
    raise: async (kind) => {
      const { header } = (await post(clientUrl, '/v3/maintenance/status', {})) as { header: { member_id: string } };
      const answer = await alarm({ action: 'ACTIVATE', memberID: header.member_id, alarm: kind });
      assert.ok('alarms' in answer, JSON.stringify(answer));
    },
  };
}

function changeable(cluster: TestCluster, { clusterId, members: [first] }: EtcdCluster): ChangingCluster {
  if (!first) throw new Error('a cluster without members');
  let others: readonly TestMember[] = [];
  let learners = 0;
  const asked = () => [first, ...others].map(({ clientUrl }) => clientUrl);

  async function alone(etcd: EtcdAdmin): Promise<void> {
    const { members } = await etcd.members(asked(), within(5_000, { barrier: true }));
    const mine = members.find(({ name }) => name === first?.name)?.id ?? '';
    const options = () => within(20_000, { clusterId });
    if (others.length > 0) await etcd.moveLeader(asked(), mine, options());
    for (const { id } of members.filter((one) => one.id !== mine))
      await insist('UnhealthyCluster', () => etcd.remove(asked(), id, options()));
    await Promise.all(others.map((member) => member.kill()));
    others = [];
  }

  return {
    clusterId,
    get members() {
      return [first, ...others];
    },
    ...oneAtATime(),
    become: async (what) => {
      using etcd = open();
      const { members: found } = await etcd.members(asked(), within(5_000, { barrier: true }));
      if (what === 'with two voters' && found.length === 2 && !found.some(({ isLearner }) => isLearner)) return;
      await alone(etcd);
      // etcd refuses in the first seconds of a member: whoever comes next is not to be refused for that.
      const learner = await cluster.addLearner(`learner-${learners++}`);
      const { members } = await etcd.members(asked(), within(5_000, { barrier: true }));
      const id = members.find(({ isLearner }) => isLearner)?.id ?? '';
      if (what === 'alone') await etcd.remove(asked(), id, within(20_000, { clusterId }));
      if (what === 'alone' || what === 'with a learner') return;
      const started = await learner.start();
      others = [started];
      await until('the learner in sync', async () => isInSync(etcd, [first.clientUrl, started.clientUrl]));
      if (what !== 'with two voters') return;
      const options = () => within(20_000, { clusterId });
      await insist('NotInSync', () => etcd.promote(asked(), id, options()));
      // In its first seconds a voter keeps etcd from any change: once a learner may come and go, so may it.
      const probe = await insist('UnhealthyCluster', () => etcd.addLearner(asked(), 'http://127.9.9.9:8', options()));
      await etcd.remove(asked(), probe, options());
    },
  };
}

async function isInSync(etcd: EtcdAdmin, urls: readonly string[]): Promise<boolean> {
  const [leader, learner] = await Promise.all(urls.map((url) => etcd.status(url, within(2_000))));
  return learner?.leader !== '0' && leader?.raftIndex === learner?.raftAppliedIndex;
}
