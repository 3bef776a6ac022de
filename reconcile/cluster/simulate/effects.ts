import type { Action, ActionKind } from '../actions.ts';
import type { Observation } from '../observation.ts';
import type { Effect, EffectsOf, Waves } from './effect.ts';
import {
  deleteAuthorities,
  issueCertificates,
  makeAuthorities,
  noteServed,
  retireAuthorities,
  rotateAuthorities,
} from './effects/certificates.ts';
import { deletePeers, deleteVolumes } from './effects/deletion.ts';
import { acceptDisks, barMembers, noteDisks } from './effects/disks.ts';
import { handOverCertificates, requestCertificates } from './effects/handing-over.ts';
import { restoreLabels } from './effects/labels.ts';
import { addLearner, deleteReplacedVolume, promoteLearner, removeMember, retireMember } from './effects/membership.ts';
import { applyShared, setFinalizer } from './effects/objects.ts';
import { followVolumes, prepareMembers, replaceUnboundVolume, startMembers } from './effects/preparing.ts';
import {
  beginRecovery,
  concludeRecovery,
  deleteRecoveryJob,
  forceNewCluster,
  outvoteMembers,
  stopMembers,
} from './effects/recovery.ts';
import { sealMembers } from './effects/sealing.ts';
import { advanceLog, compact, defragmentMember, disarmAlarm, disarmCorrupt } from './effects/space.ts';
import { changeTemplate, reconfigureMembers, recreatePod, restartMember } from './effects/templates.ts';
import { noteVersions } from './effects/versions.ts';
import { growVolumes, hibernateMembers, wakeMembers } from './effects/volumes.ts';

/** For every action there is: what can be decided can be simulated. */
const effects = {
  'accept-disks': acceptDisks,
  'add-learner': addLearner,
  'advance-log': advanceLog,
  'apply-shared': applyShared,
  'change-template': changeTemplate,
  'bar-members': barMembers,
  compact,
  'defragment-member': defragmentMember,
  'delete-authorities': deleteAuthorities,
  'delete-peers': deletePeers,
  'delete-volumes': deleteVolumes,
  'delete-replaced-volume': deleteReplacedVolume,
  'disarm-alarm': disarmAlarm,
  'disarm-corrupt': disarmCorrupt,
  'follow-volumes': followVolumes,
  'grow-volumes': growVolumes,
  'hand-over-certificates': handOverCertificates,
  'hibernate-members': hibernateMembers,
  'issue-certificates': issueCertificates,
  'make-authorities': makeAuthorities,
  'note-disks': noteDisks,
  'note-served': noteServed,
  'note-versions': noteVersions,
  'prepare-members': prepareMembers,
  'promote-learner': promoteLearner,
  'reconfigure-members': reconfigureMembers,
  'recreate-pod': recreatePod,
  'remove-member': removeMember,
  'replace-unbound-volume': replaceUnboundVolume,
  'request-certificates': requestCertificates,
  'restart-member': restartMember,
  'restore-labels': restoreLabels,
  'retire-authorities': retireAuthorities,
  'retire-member': retireMember,
  'rotate-authorities': rotateAuthorities,
  'seal-members': sealMembers,
  'set-finalizer': setFinalizer,
  'start-members': startMembers,
  'begin-recovery': beginRecovery,
  'conclude-recovery': concludeRecovery,
  'delete-recovery-job': deleteRecoveryJob,
  'force-new-cluster': forceNewCluster,
  'outvote-members': outvoteMembers,
  'stop-members': stopMembers,
  'wake-members': wakeMembers,
} satisfies { readonly [K in ActionKind]: EffectsOf<K> };

/** One for each write, in the order in which they are sent; those that are sent side by side stand in the order of the action. */
export function effectsOf(action: Action, observation: Observation): readonly Effect[] {
  return wavesOf(action, observation).flat();
}

/** As {@link effectsOf}, telling apart what is sent side by side, and may arrive in any order. */
export function wavesOf(action: Action, observation: Observation): Waves {
  const writes: (action: never, observation: Observation) => Waves = effects[action.kind];
  return writes(action as never, observation);
}
