import type { Action, ActionKind, ActionOf } from '../../../reconcile/cluster/actions.ts';
import { prepareMembers, replaceUnboundVolume, startMembers } from './births.ts';
import { changeTemplate, growVolumes, reconfigureMembers, restartMember } from './configuration.ts';
import { acceptDisks, barMembers, noteDisks } from './disks.ts';
import {
  addLearner,
  deleteReplacedVolume,
  followVolumes,
  hibernateMembers,
  promoteLearner,
  recreatePod,
  removeMember,
  retireMember,
  sealMembers,
  wakeMembers,
} from './members.ts';
import type { Program } from './program.ts';
import {
  beginRecovery,
  concludeRecovery,
  deleteRecoveryJob,
  forceNewCluster,
  outvoteMembers,
  stopMembers,
} from './recovery.ts';
import { applyShared, deletePeers, deleteVolumes, setFinalizer } from './shared.ts';
import { advanceLog, noteVersions } from './versions.ts';

type Programs = {
  readonly [K in ActionKind]: ((action: ActionOf<K>) => Program) | 'certificates' | 'space' | 'corruption' | 'labels';
};

/** Every action there is: how it goes, or which part of the world that is left out it belongs to. */
const programs: Programs = {
  'set-finalizer': setFinalizer,
  'delete-peers': deletePeers,
  'delete-volumes': deleteVolumes,
  'apply-shared': applyShared,
  'follow-volumes': followVolumes,
  'restore-labels': 'labels',
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
  'make-authorities': 'certificates',
  'issue-certificates': 'certificates',
  'request-certificates': 'certificates',
  'hand-over-certificates': 'certificates',
  'rotate-authorities': 'certificates',
  'note-served': 'certificates',
  'retire-authorities': 'certificates',
  'delete-authorities': 'certificates',
  'seal-members': sealMembers,
  'begin-recovery': beginRecovery,
  'outvote-members': outvoteMembers,
  'stop-members': stopMembers,
  'force-new-cluster': forceNewCluster,
  'conclude-recovery': concludeRecovery,
  'delete-recovery-job': deleteRecoveryJob,
  'disarm-corrupt': 'corruption',
  compact: 'space',
  'defragment-member': 'space',
  'disarm-alarm': 'space',
  'add-learner': addLearner,
  'promote-learner': promoteLearner,
  'remove-member': removeMember,
  'retire-member': retireMember,
  'delete-replaced-volume': deleteReplacedVolume,
  'recreate-pod': recreatePod,
  'hibernate-members': hibernateMembers,
  'wake-members': wakeMembers,
};

/** @throws where a rule asks for what can't be needed in this world: then the model, or the rule, is wrong. */
export function programOf(action: Action): Program {
  const program = programs[action.kind];
  if (typeof program === 'string') throw new Error(`${action.kind} was decided, and the model has no ${program}`);
  return (program as (action: Action) => Program)(action);
}
