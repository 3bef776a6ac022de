import { annotations, podName } from '../../../manifests/build/names.ts';
import { isControlledBy } from '../../../manifests/build/owner-reference.ts';
import { recoveryJob } from '../../../manifests/build/recovery-job.ts';
import type { Job, Pod, StatefulSet } from '../../../manifests/kube-types.ts';
import { resources } from '../../kube.ts';
import type { ActionOf } from '../actions.ts';
import { moved } from '../outcome.ts';
import { ownImage } from '../own-image.ts';
import { type ActContext, createOurs, livePeer, liveVolume } from './context.ts';
import { noteNextVersion } from './note-versions.ts';
import { offeredToMembers } from './offered.ts';
import { writeRecord } from './volume-state.ts';

/**
 * Makes the Job. Before that its volume is told the attempt's number, which no other Job gets: one that was asked for by whoever
 * slept since bears a number that has passed, and ends before it does anything.
 *
 * Read again just before: nothing of this member runs, and the volume is still to be recovered.
 */
export async function forceNewCluster(action: ActionOf<'force-new-cluster'>, context: ActContext): Promise<void> {
  const { volume, peer: ref, id, attempt, withoutCopy } = action;
  const { kube, cluster, signal } = context;
  const { namespace } = cluster.metadata;
  const { name } = volume;
  const [peer, { claim, record }, set, pod, image, offered] = await Promise.all([
    livePeer(context, name),
    liveVolume(context, name),
    kube.get<StatefulSet>(resources.statefulSets, namespace, name, { signal }),
    kube.get<Pod>(resources.pods, namespace, podName(name), { signal }),
    ownImage(context),
    offeredToMembers(context),
  ]);
  if (peer.metadata.uid !== ref.uid || claim.metadata.uid !== volume.uid) throw moved(`${name} was made anew`);
  if (set || pod) throw moved(`${name} runs`);
  const { recovery } = record;
  if (record.state !== 'recovering' || recovery?.id !== id || recovery.attempt !== attempt - 1)
    throw moved(`volume ${name} is ${record.state}, or somebody else is at it`);
  await writeRecord(claim, { ...record, recovery: { ...recovery, attempt } }, context);
  await noteNextVersion(name, peer.spec.version, context);
  const job = recoveryJob(peer, { image, id, attempt, withoutCopy }, offered);
  await createOurs<Job>(
    context,
    resources.jobs,
    job,
    (found) =>
      isControlledBy(found, peer.metadata.uid ?? '') &&
      found.metadata.annotations?.[annotations.recovery] === job.metadata.annotations?.[annotations.recovery],
  );
}
