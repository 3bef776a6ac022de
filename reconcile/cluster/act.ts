import { acceptDisks } from './actions/accept-disks.ts';
import { addLearner } from './actions/add-learner.ts';
import { advanceLog } from './actions/advance-log.ts';
import { applyShared } from './actions/apply-shared.ts';
import { barMembers } from './actions/bar-members.ts';
import { beginRecovery } from './actions/begin-recovery.ts';
import { changeTemplate } from './actions/change-template.ts';
import { compact } from './actions/compact.ts';
import { concludeRecovery, deleteRecoveryJob } from './actions/conclude-recovery.ts';
import type { ActContext } from './actions/context.ts';
import { defragmentMember } from './actions/defragment-member.ts';
import { deleteAuthorities } from './actions/delete-authorities.ts';
import { deletePeers } from './actions/delete-peers.ts';
import { deleteReplacedVolume } from './actions/delete-replaced-volume.ts';
import { deleteVolumes } from './actions/delete-volumes.ts';
import { disarmAlarm } from './actions/disarm-alarm.ts';
import { disarmCorrupt } from './actions/disarm-corrupt.ts';
import { followVolumes } from './actions/follow-volumes.ts';
import { forceNewCluster } from './actions/force-new-cluster.ts';
import { growVolumes } from './actions/grow-volumes.ts';
import { handOverCertificates } from './actions/hand-over-certificates.ts';
import { hibernateMembers, wakeMembers } from './actions/hibernate-members.ts';
import { issueCertificates } from './actions/issue-certificates.ts';
import { makeAuthorities } from './actions/make-authorities.ts';
import { noteDisks } from './actions/note-disks.ts';
import { noteServed } from './actions/note-served.ts';
import { noteVersions } from './actions/note-versions.ts';
import { outvoteMembers } from './actions/outvote-members.ts';
import { prepareMembers } from './actions/prepare-members.ts';
import { promoteLearner } from './actions/promote-learner.ts';
import { reconfigureMembers } from './actions/reconfigure-members.ts';
import { recreatePod } from './actions/recreate-pod.ts';
import { removeMember } from './actions/remove-member.ts';
import { replaceUnboundVolume } from './actions/replace-unbound-volume.ts';
import { requestCertificates } from './actions/request-certificates.ts';
import { restartMember } from './actions/restart-member.ts';
import { restoreLabels } from './actions/restore-labels.ts';
import { retireAuthorities } from './actions/retire-authorities.ts';
import { retireMember } from './actions/retire-member.ts';
import { rotateAuthorities } from './actions/rotate-authorities.ts';
import { sealMembers } from './actions/seal-members.ts';
import { setFinalizer } from './actions/set-finalizer.ts';
import { startMembers } from './actions/start-members.ts';
import { stopMembers } from './actions/stop-members.ts';
import type { Action, ActionKind, ActionOf } from './actions.ts';

type Carry<K extends ActionKind> = (action: ActionOf<K>, context: ActContext) => Promise<void>;

const carry: { readonly [K in ActionKind]: Carry<K> } = {
  'set-finalizer': setFinalizer,
  'delete-peers': deletePeers,
  'delete-volumes': deleteVolumes,
  'apply-shared': applyShared,
  'follow-volumes': followVolumes,
  'restore-labels': restoreLabels,
  'grow-volumes': growVolumes,
  'prepare-members': prepareMembers,
  'start-members': startMembers,
  'replace-unbound-volume': replaceUnboundVolume,
  'reconfigure-members': reconfigureMembers,
  'restart-member': restartMember,
  'change-template': changeTemplate,
  'note-versions': noteVersions,
  'note-disks': noteDisks,
  'accept-disks': acceptDisks,
  'bar-members': barMembers,
  'advance-log': advanceLog,
  'make-authorities': makeAuthorities,
  'issue-certificates': issueCertificates,
  'request-certificates': requestCertificates,
  'hand-over-certificates': handOverCertificates,
  'rotate-authorities': rotateAuthorities,
  'note-served': noteServed,
  'retire-authorities': retireAuthorities,
  'delete-authorities': deleteAuthorities,
  'seal-members': sealMembers,
  compact,
  'defragment-member': defragmentMember,
  'disarm-alarm': disarmAlarm,
  'disarm-corrupt': disarmCorrupt,
  'add-learner': addLearner,
  'promote-learner': promoteLearner,
  'remove-member': removeMember,
  'retire-member': retireMember,
  'delete-replaced-volume': deleteReplacedVolume,
  'recreate-pod': recreatePod,
  'hibernate-members': hibernateMembers,
  'wake-members': wakeMembers,
  'begin-recovery': beginRecovery,
  'outvote-members': outvoteMembers,
  'stop-members': stopMembers,
  'force-new-cluster': forceNewCluster,
  'conclude-recovery': concludeRecovery,
  'delete-recovery-job': deleteRecoveryJob,
};

/**
 * Carries out one action.
 *
 * @throws {KubeError | StepError}
 */
export async function act(action: Action, context: ActContext): Promise<void> {
  const one = carry[action.kind] as Carry<typeof action.kind>;
  await one(action as never, context);
}
