import { isDeepStrictEqual } from 'node:util';
import type { InitialCluster } from '../../../../../manifests/render/initial-cluster.ts';
import type { ListedMember } from '../../../../interfaces/etcd.ts';
import { together } from '../../../../requests/program.ts';
import type { ActionOf } from '../../../know/action.ts';
import { moved } from '../../../know/outcome.ts';
import { addToList, listMembers } from '../../requests/membership.ts';
import { livePeer } from '../../requests/objects.ts';
import { liveVolume, writeRecord } from '../../requests/volumes.ts';
import { startMembers } from '../birth/start-members.ts';
import { defineAction } from '../define.ts';
import { followVolumes } from '../volumes/follow-volumes.ts';
import { forestallOtherRemovals } from './forestall-removals.ts';

/**
 * Puts a learner on the member list. Before that its volume gets the list as it will be: etcd starts a member that
 * joins only with exactly the living one. Then its settings follow its volume, and it is started.
 *
 * Guards I2: never beside another learner, behind a barrier, and only where every voter has started; and no removal was
 * begun, nor can one begin that was decided before: a mark that is on its way fails. Guards I3: a learner has no vote,
 * so one that never starts does not cost the quorum.
 */
export const addLearner = defineAction('add-learner', {
  target: ({ name }) => name,
  *run({ name, url, clusterId, start }, cluster) {
    const { volume } = yield* together({ peer: livePeer(name), volume: liveVolume(name) });
    const { record, readAt } = volume;
    if (record.state !== 'joining') throw moved(`volume ${name} is ${record.state}`);
    const listed = yield* listMembers({ clusterId });
    const initialCluster = listWith(listed, { name, url });
    if (!isDeepStrictEqual(record.initialCluster, initialCluster))
      yield* writeRecord({ readAt, record: { ...record, initialCluster, clusterId } });
    if (!listed.some(({ peerURLs }) => peerURLs.includes(url))) {
      yield* forestallOtherRemovals(name, listed);
      yield* addToList({ name, url, clusterId });
    }
    if (!start) return;
    yield* followVolumes.run({ kind: 'follow-volumes', peers: [name] }, cluster);
    yield* startMembers.run({ kind: 'start-members', peers: [name] }, cluster);
  },
});

/** @throws {StepError} where it is not a list to join. */
function listWith(
  listed: readonly ListedMember[],
  { name, url }: Pick<ActionOf<'add-learner'>, 'name' | 'url'>,
): InitialCluster {
  const others = listed.filter(({ peerURLs }) => !peerURLs.includes(url));
  const other = others.find(({ isLearner }) => isLearner);
  if (other) throw moved(`${other.name || other.id} is a learner already; one at a time`);
  return [...others, { name, peerURLs: [url] }].map((member) => {
    const [peerUrl] = member.peerURLs;
    if (member.name === '' || peerUrl === undefined)
      throw moved(`a member (${member.peerURLs.join()}) has not started`);
    return { name: member.name, url: peerUrl };
  });
}
