import type { Program } from '../../requests/program.ts';
import type { Action, ActionKind } from '../know/action.ts';
import { disableAuth } from './actions/auth/disable-auth.ts';
import { enableAuth } from './actions/auth/enable-auth.ts';
import { keepUsers } from './actions/auth/keep-users.ts';
import { applyShared } from './actions/birth/apply-shared.ts';
import { prepareMembers } from './actions/birth/prepare-members.ts';
import { restoreLabels } from './actions/birth/restore-labels.ts';
import { sealMembers } from './actions/birth/seal-members.ts';
import { startMembers } from './actions/birth/start-members.ts';
import { deleteAuthorities } from './actions/certificates/delete-authorities.ts';
import { handOverCertificates } from './actions/certificates/hand-over-certificates.ts';
import { issueCertificates } from './actions/certificates/issue-certificates.ts';
import { makeAuthorities } from './actions/certificates/make-authorities.ts';
import { noteServed } from './actions/certificates/note-served.ts';
import { requestCertificates } from './actions/certificates/request-certificates.ts';
import { requestIntermediate } from './actions/certificates/request-intermediate.ts';
import { retireAuthorities } from './actions/certificates/retire-authorities.ts';
import { rotateAuthorities } from './actions/certificates/rotate-authorities.ts';
import { takeIntermediate } from './actions/certificates/take-intermediate.ts';
import { takeNames } from './actions/certificates/take-names.ts';
import type { ActContext } from './actions/context.ts';
import { type ActionDefinition, type Leased, leasedOf } from './actions/define.ts';
import { hibernateMembers, wakeMembers } from './actions/deletion/hibernate-members.ts';
import { setFinalizer } from './actions/deletion/set-finalizer.ts';
import { addLearner } from './actions/membership/add-learner.ts';
import { deletePeers } from './actions/membership/delete-peers.ts';
import { promoteLearner } from './actions/membership/promote-learner.ts';
import { recreatePod } from './actions/membership/recreate-pod.ts';
import { removeInherited } from './actions/membership/remove-inherited.ts';
import { removeMember } from './actions/membership/remove-member.ts';
import { retireMember } from './actions/membership/retire-member.ts';
import { beginRecovery } from './actions/recovery/begin-recovery.ts';
import { beginRollback } from './actions/recovery/begin-rollback.ts';
import { callOffRollback } from './actions/recovery/call-off-rollback.ts';
import { concludeRecovery } from './actions/recovery/conclude-recovery.ts';
import { concludeRestore } from './actions/recovery/conclude-restore.ts';
import { deleteRecoveryJob } from './actions/recovery/delete-recovery-job.ts';
import { disarmCorrupt } from './actions/recovery/disarm-corrupt.ts';
import { dropPeers } from './actions/recovery/drop-peers.ts';
import { forceNewCluster } from './actions/recovery/force-new-cluster.ts';
import { outvoteMembers } from './actions/recovery/outvote-members.ts';
import { readLogs } from './actions/recovery/read-logs.ts';
import { restoreSnapshot } from './actions/recovery/restore-snapshot.ts';
import { stopMembers } from './actions/recovery/stop-members.ts';
import { advanceLog } from './actions/rolling/advance-log.ts';
import { changeTemplate } from './actions/rolling/change-template.ts';
import { noteVersions } from './actions/rolling/note-versions.ts';
import { putBackTemplates } from './actions/rolling/put-back-templates.ts';
import { reconfigureMembers } from './actions/rolling/reconfigure-members.ts';
import { restartMember } from './actions/rolling/restart-member.ts';
import { compact } from './actions/space/compact.ts';
import { defragmentMember } from './actions/space/defragment-member.ts';
import { disarmAlarm } from './actions/space/disarm-alarm.ts';
import { backUp } from './actions/versions/back-up.ts';
import { acceptDisks } from './actions/volumes/accept-disks.ts';
import { barMembers } from './actions/volumes/bar-members.ts';
import { deleteReplacedVolume } from './actions/volumes/delete-replaced-volume.ts';
import { deleteVolumes } from './actions/volumes/delete-volumes.ts';
import { followVolumes } from './actions/volumes/follow-volumes.ts';
import { growVolumes } from './actions/volumes/grow-volumes.ts';
import { noteDisks } from './actions/volumes/note-disks.ts';
import { replaceUnboundVolume } from './actions/volumes/replace-unbound-volume.ts';
import { runLive } from './requests/run-live.ts';

/** Every action there is: what can be decided can be carried out, planned and searched. */
const definitions: { readonly [K in ActionKind]: ActionDefinition<K> } = {
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
  'put-back-templates': putBackTemplates,
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
  'take-names': takeNames,
  'request-intermediate': requestIntermediate,
  'take-intermediate': takeIntermediate,
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
  'remove-inherited': removeInherited,
  'retire-member': retireMember,
  'delete-replaced-volume': deleteReplacedVolume,
  'recreate-pod': recreatePod,
  'hibernate-members': hibernateMembers,
  'wake-members': wakeMembers,
  'begin-recovery': beginRecovery,
  'read-logs': readLogs,
  'outvote-members': outvoteMembers,
  'stop-members': stopMembers,
  'force-new-cluster': forceNewCluster,
  'conclude-recovery': concludeRecovery,
  'delete-recovery-job': deleteRecoveryJob,
  'restore-snapshot': restoreSnapshot,
  'conclude-restore': concludeRestore,
  'begin-rollback': beginRollback,
  'call-off-rollback': callOffRollback,
  'drop-peers': dropPeers,
  'back-up': backUp,
  'keep-users': keepUsers,
  'enable-auth': enableAuth,
  'disable-auth': disableAuth,
};

/**
 * Carries out one action.
 *
 * @throws {KubeError | EtcdError | StepError}
 */
export async function act(action: Action, context: ActContext): Promise<void> {
  await runLive(definitionOf(action).run(action, leasedOf(context.cluster)), context);
}

export function definitionOf(action: Action): AnyDefinition {
  return definitions[action.kind] as AnyDefinition;
}

/** Any of them, for the action that it was looked up by. */
type AnyDefinition = {
  readonly [K in keyof ActionDefinition<ActionKind>]: ActionDefinition<ActionKind>[K];
} & { readonly run: (action: Action, cluster: Leased) => Program };

/** What the action is about, for tables and events: the members' names; `undefined` for the cluster itself. */
export function targetOf(action: Action): string | undefined {
  return definitionOf(action).target(action);
}

/** An action about several members as one action for each, where it may be tried so; else itself. */
export function partsOf(action: Action): readonly Action[] {
  return definitionOf(action).parts?.(action) ?? [action];
}
