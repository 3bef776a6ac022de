import { named } from '../../../requests/define.ts';
import { askAuth, changeAuth, requireLogin } from './auth.ts';
import { deleteAuthority, hasMemberPods, readAuthority, trustOnlyNewest, writeAuthorityRecord } from './authorities.ts';
import { createBackup } from './backup.ts';
import { askQuorum, askRemains, askWhatRuns, seeWhereTheyRun } from './before-recovery.ts';
import { adoptIssued, orderCertificate, readCertificate, readIssued } from './cert-manager.ts';
import { growVolume, markReplacing, unmarkReplacing, writeConfigMap } from './changing.ts';
import { applySharedObject, restoreLabelsOf, setClusterFinalizer } from './cluster.ts';
import { isOnDisk, readDiskBehind } from './disks.ts';
import { dropSigning, orderSigning, readSigning, takeSigned } from './intermediates.ts';
import { askMember, askMembers, moveLeader, requireAgreement } from './leadership.ts';
import { handOverLeaf, readLeaf, signLeaf, trustBesideLeaf } from './leaves.ts';
import { makeConfigMap, makePeer, makeStatefulSet, makeVolume, makeVolumeAnew } from './making.ts';
import { addToList, listMembers, promote, removeFromList } from './membership.ts';
import { makeAuthority, succeedAuthority } from './new-authorities.ts';
import { readConfigMap, readPeer, readStatefulSet } from './objects.ts';
import { deletePod, evictPod, readOtherPods, readPod } from './pods.ts';
import {
  askRestoresEnded,
  createLogJob,
  createRecoveryJob,
  createRestoreJob,
  deleteJob,
  readAttempt,
} from './recovery.ts';
import { awaitVolumeGone, deleteConfigMap, deletePeer, deletePodOf, deleteStatefulSet } from './removing.ts';
import {
  addEntries,
  askSizes,
  compactTo,
  defragment,
  disarm,
  listAlarms,
  noteDefragmented,
  requireSameData,
} from './space.ts';
import { readDrift, tryTemplate, writeInputs, writeTemplate } from './templates.ts';
import { askMayGoBackTo } from './versions.ts';
import { deleteVolume, listOtherVolumes, readPvc, readVolume, touchVolume, writeRecord } from './volumes.ts';

/** All requests about a cluster. Each needs a contract in `test/integration/requests`, or it does not compile. */
export const requests = named({
  readVolume,
  readPvc,
  readDiskBehind,
  isOnDisk,
  makeVolume,
  makeVolumeAnew,
  makePeer,
  makeConfigMap,
  makeStatefulSet,
  markReplacing,
  unmarkReplacing,
  writeConfigMap,
  growVolume,
  awaitVolumeGone,
  deletePeer,
  deleteStatefulSet,
  deleteConfigMap,
  deletePodOf,
  applySharedObject,
  setClusterFinalizer,
  restoreLabelsOf,
  addToList,
  writeRecord,
  listOtherVolumes,
  touchVolume,
  deleteVolume,
  readPeer,
  readConfigMap,
  readStatefulSet,
  tryTemplate,
  writeInputs,
  writeTemplate,
  readDrift,
  readPod,
  readOtherPods,
  evictPod,
  deletePod,
  listMembers,
  promote,
  removeFromList,
  askMembers,
  askMember,
  moveLeader,
  requireAgreement,
  askMayGoBackTo,
  hasMemberPods,
  readAuthority,
  makeAuthority,
  succeedAuthority,
  trustOnlyNewest,
  writeAuthorityRecord,
  deleteAuthority,
  readSigning,
  orderSigning,
  takeSigned,
  dropSigning,
  readLeaf,
  signLeaf,
  trustBesideLeaf,
  handOverLeaf,
  readCertificate,
  orderCertificate,
  readIssued,
  adoptIssued,
  askSizes,
  listAlarms,
  disarm,
  compactTo,
  defragment,
  noteDefragmented,
  requireSameData,
  addEntries,
  askQuorum,
  askRemains,
  seeWhereTheyRun,
  askRestoresEnded,
  askWhatRuns,
  readAttempt,
  createRecoveryJob,
  createLogJob,
  createRestoreJob,
  deleteJob,
  createBackup,
  askAuth,
  changeAuth,
  requireLogin,
});

export type RequestKind = keyof typeof requests;
