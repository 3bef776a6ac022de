import type { Mutant } from './mutant.ts';
import { ofAdoption } from './tables/adoption.ts';
import { ofAllowLists } from './tables/allow-lists.ts';
import { ofAuth } from './tables/auth.ts';
import { ofAwaitedBackups } from './tables/awaited-backups.ts';
import { ofBackups } from './tables/backups.ts';
import { ofCertificates } from './tables/certificates.ts';
import { ofClients } from './tables/clients.ts';
import { ofFacts } from './tables/facts.ts';
import { ofFleets } from './tables/fleet.ts';
import { ofFourEyes } from './tables/four-eyes.ts';
import { ofFunctions } from './tables/functions.ts';
import { ofGitops } from './tables/gitops.ts';
import { ofHalts } from './tables/halts.ts';
import { ofLooks } from './tables/looks.ts';
import { ofMembersAndPods } from './tables/members-and-pods.ts';
import { ofNodes } from './tables/nodes.ts';
import { ofNodesDrained } from './tables/nodes-drained.ts';
import { ofNodesSeen } from './tables/nodes-seen.ts';
import { ofNodesTold } from './tables/nodes-told.ts';
import { ofOtherHands } from './tables/other-hands.ts';
import { ofOutages } from './tables/outages.ts';
import { ofPlugin } from './tables/plugin.ts';
import { ofRecovery } from './tables/recovery.ts';
import { ofRestore } from './tables/restore.ts';
import { ofRevisions } from './tables/revisions.ts';
import { ofRolloutApprovals } from './tables/rollout-approvals.ts';
import { ofRules } from './tables/rules.ts';
import { ofSchedules } from './tables/schedules.ts';
import { ofShards } from './tables/shards.ts';
import { ofSignatures } from './tables/signatures.ts';
import { ofStages } from './tables/stages.ts';
import { ofStepping } from './tables/stepping.ts';
import { ofVolumes } from './tables/volumes.ts';

/** All guards that must be missed when they are gone. Whoever moves a guard moves its row. */
export const mutants: readonly Mutant[] = [
  ...ofRules,
  ...ofOutages,
  ...ofAdoption,
  ...ofOtherHands,
  ...ofMembersAndPods,
  ...ofVolumes,
  ...ofCertificates,
  ...ofSchedules,
  ...ofRecovery,
  ...ofRestore,
  ...ofRevisions,
  ...ofAuth,
  ...ofClients,
  ...ofLooks,
  ...ofHalts,
  ...ofRolloutApprovals,
  ...ofShards,
  ...ofStages,
  ...ofStepping,
  ...ofGitops,
  ...ofFourEyes,
  ...ofSignatures,
  ...ofFleets,
  ...ofFunctions,
  ...ofPlugin,
  ...ofAllowLists,
  ...ofBackups,
  ...ofAwaitedBackups,
  ...ofNodes,
  ...ofNodesTold,
  ...ofNodesDrained,
  ...ofNodesSeen,
  ...ofFacts,
];
