import { isDeepStrictEqual } from 'node:util';
import type { InitialCluster } from '../../../manifests/build/initial-cluster.ts';
import type { MemberList } from '../../etcd.ts';
import type { ActionOf } from '../actions.ts';
import { settledList, withEtcd } from '../etcd-way.ts';
import { moved } from '../outcome.ts';
import { type ActContext, livePeer, liveVolume } from './context.ts';
import { writeRecord } from './volume-state.ts';

/**
 * Puts a learner on the member list. Before that its volume gets the list as it will be: etcd starts a member that joins only with
 * exactly the living one.
 *
 * Guards I2: never beside another learner, behind a barrier, and only where every voter has started. Guards I3: a learner has no
 * vote, so one that never starts costs nobody the quorum.
 */
export async function addLearner(
  { name, url, clusterId }: ActionOf<'add-learner'>,
  context: ActContext,
): Promise<void> {
  const { etcd: way, signal } = context;
  const [, { claim, record }] = await Promise.all([livePeer(context, name), liveVolume(context, name)]);
  if (record.state !== 'joining') throw moved(`volume ${name} is ${record.state}`);
  await withEtcd(way, async (etcd, endpoints) => {
    const list = await settledList(etcd, endpoints, { clusterId, signal });
    const initialCluster = listWith(list, { name, url });
    if (!isDeepStrictEqual(record.initialCluster, initialCluster)) {
      await writeRecord(claim, { ...record, initialCluster, clusterId }, context);
    }
    if (list.members.some(({ peerURLs }) => peerURLs.includes(url))) return;
    await etcd.addLearner(endpoints, url, { signal, clusterId });
  });
}

/** @throws {StepError} where it is not a list to join. */
function listWith(list: MemberList, { name, url }: Pick<ActionOf<'add-learner'>, 'name' | 'url'>): InitialCluster {
  const others = list.members.filter(({ peerURLs }) => !peerURLs.includes(url));
  const other = others.find(({ isLearner }) => isLearner);
  if (other) throw moved(`${other.name || other.id} is a learner already; one at a time`);
  return [...others, { name, peerURLs: [url] }].map((member) => {
    const [peerUrl] = member.peerURLs;
    if (member.name === '' || peerUrl === undefined)
      throw moved(`a member (${member.peerURLs.join()}) has not started`);
    return { name: member.name, url: peerUrl };
  });
}
