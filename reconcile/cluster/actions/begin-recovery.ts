import { annotations, labels, ordinalOf, podName } from '../../../manifests/build/names.ts';
import type { Recovery } from '../../../manifests/build/volume-record.ts';
import type { Pod } from '../../../manifests/kube-types.ts';
import { EtcdError } from '../../etcd.ts';
import type { EtcdAdmin } from '../../etcd-admin.ts';
import { resources } from '../../kube.ts';
import type { ActionOf } from '../actions.ts';
import { withEtcd } from '../etcd-way.ts';
import { moved } from '../outcome.ts';
import { type ActContext, listOursAnd, liveVolume } from './context.ts';
import { outvote } from './outvote-members.ts';
import { writeRecord } from './volume-state.ts';

/**
 * Consumes an approval: the chosen volume says that the cluster goes on from it, then all others that they were outvoted. From the
 * first of these marks on the recovery is finished, whoever does it.
 *
 * Guards I9. Asked again just before: no quorum answers, or has served since the approval, and no voter that answers has more than
 * the chosen one.
 */
export async function beginRecovery(action: ActionOf<'begin-recovery'>, context: ActContext): Promise<void> {
  const { volume, id, memberId, clusterId, approval, volumes } = action;
  const { cluster, etcd: way } = context;
  if (cluster.metadata.annotations?.[annotations.recoverQuorum] !== approval)
    throw moved('the approval was taken back');
  await withEtcd(way, (etcd, endpoints) => assertStillLost(etcd, endpoints, action, context));
  const { claim, record } = await liveVolume(context, volume.name);
  if (claim.metadata.uid !== volume.uid) throw moved(`volume ${volume.name} is another one than was looked at`);
  if (record.memberId !== memberId || record.clusterId !== clusterId)
    throw moved(`volume ${volume.name} is that of member ${record.memberId ?? 'unknown'}, and not of ${memberId}`);
  const outvoted = [...(record.outvoted ?? []), ...action.outvoted];
  const recovery: Recovery = { id, attempt: 0, lastSeenOn: await whereTheyAre(context) };
  await writeRecord(claim, { ...record, state: 'recovering', outvoted, recovery }, context);
  await outvote(volumes, context);
}

async function assertStillLost(
  etcd: EtcdAdmin,
  endpoints: readonly string[],
  { volume, memberId, raftIndex, voters }: ActionOf<'begin-recovery'>,
  { signal }: ActContext,
): Promise<void> {
  const [quorum, ...asked] = await Promise.allSettled([
    etcd.members(endpoints, { signal }),
    ...endpoints.map((endpoint) => etcd.status(endpoint, { signal })),
  ]);
  if (quorum.status === 'fulfilled') throw moved('a quorum answers again');
  if (!(quorum.reason instanceof EtcdError)) throw quorum.reason;
  const answers = asked.flatMap((answer) => (answer.status === 'fulfilled' ? [answer.value] : []));
  const chosen = answers.find((status) => status.memberId === memberId);
  if (!chosen) throw moved(`${volume.name} does not answer any more`);
  // Each leader adds an entry: it was approved to give up what nobody sees, and not what was written since.
  if (chosen.raftIndex !== BigInt(raftIndex)) throw moved(`${volume.name} has taken writes since it was approved`);
  if (answers.some((other) => voters.includes(other.memberId) && other.raftIndex > chosen.raftIndex))
    throw moved(`${volume.name} is not the one with the most data any more`);
}

/** Which node each member's pod is on, by the member's name. Anybody may have given our label to a pod, and anything as its name. */
export async function whereTheyAre(context: ActContext): Promise<Recovery['lastSeenOn']> {
  const { metadata, status } = context.cluster;
  const { name } = metadata;
  const members = (status?.members ?? []).map((member) => podName(member.name));
  const pods = await listOursAnd<Pod>(context, resources.pods, members);
  return Object.fromEntries(
    pods.flatMap(({ metadata, spec }) => {
      const member = metadata.labels?.[labels.peer] ?? metadata.name.replace(/-0$/, '');
      const isOurs = ordinalOf(name, member) !== undefined;
      return isOurs && spec.nodeName !== undefined ? [[member, [spec.nodeName]]] : [];
    }),
  );
}
