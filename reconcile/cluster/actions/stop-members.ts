import { isDeepStrictEqual } from 'node:util';
import { podName } from '../../../manifests/build/names.ts';
import type { Recovery, VolumeRecord } from '../../../manifests/build/volume-record.ts';
import { EtcdError } from '../../etcd.ts';
import { resources } from '../../kube.ts';
import type { ActionOf } from '../actions.ts';
import { withEtcd } from '../etcd-way.ts';
import { moved } from '../outcome.ts';
import { whereTheyAre } from './begin-recovery.ts';
import { type ActContext, liveVolume } from './context.ts';
import { writeRecord } from './volume-state.ts';

/**
 * Everybody stops. Before that it is noted where they run: what a kubelet ended and what somebody deleted by force look the same later.
 *
 * Asked again just before the first is stopped: no quorum answers. Those that were given up may have come back, and take writes; then a
 * person weighs the two.
 */
export async function stopMembers(action: ActionOf<'stop-members'>, context: ActContext): Promise<void> {
  const { volume, statefulSets, pods } = action;
  const { kube, cluster, signal } = context;
  const { namespace } = cluster.metadata;
  const { claim, record } = await liveVolume(context, volume.name);
  const { recovery } = record;
  if (!isOnItsWay.has(record.state) || !recovery) throw moved(`volume ${volume.name} is ${record.state}`);
  const isFirst = record.state === 'recovering' && recovery.attempt === 0;
  if (isFirst && statefulSets.some(({ name }) => name === volume.name)) await assertNoQuorum(context);
  const lastSeenOn = bothOf(recovery.lastSeenOn, await whereTheyAre(context));
  if (!isDeepStrictEqual(lastSeenOn, recovery.lastSeenOn))
    await writeRecord(claim, { ...record, recovery: { ...recovery, lastSeenOn } }, context);
  await Promise.all([
    ...statefulSets.map(({ name, uid }) =>
      kube.delete(resources.statefulSets, namespace, name, {
        preconditions: { uid },
        propagation: 'Background',
        signal,
      }),
    ),
    ...pods.map(({ name, uid }) =>
      kube.delete(resources.pods, namespace, podName(name), { preconditions: { uid }, signal }),
    ),
  ]);
}

async function assertNoQuorum({ etcd: way, signal }: ActContext): Promise<void> {
  if (way.endpoints.size === 0) return;
  const list = await withEtcd(way, (etcd, endpoints) => etcd.members(endpoints, { signal })).catch((error: unknown) => {
    if (error instanceof EtcdError) return undefined;
    throw error;
  });
  if (list) throw moved('a quorum answers again');
}

const isOnItsWay: ReadonlySet<VolumeRecord['state']> = new Set(['recovering', 'recovered']);

/** Nobody is forgotten: a pod that was deleted by force, and made anew on another node, may run on the first one still. */
function bothOf(before: Recovery['lastSeenOn'], now: Recovery['lastSeenOn']): Recovery['lastSeenOn'] {
  const names = new Set([...Object.keys(before), ...Object.keys(now)]);
  return Object.fromEntries(
    [...names].map((name) => [name, [...new Set([...(before[name] ?? []), ...(now[name] ?? [])])]]),
  );
}
