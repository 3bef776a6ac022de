import { type ApprovalAsked, longestFleetApprovalText } from '../../manifests/api/approval.ts';
import { approveCommand } from '../../manifests/render/kubectl.ts';
import { annotations, labels } from '../../manifests/render/names.ts';
import type { UnlistedReport } from './outcome.ts';
import type { KeptBecause } from './prune.ts';

const why = {
  PruneOff: 'spec.prune is off; switch it on, or delete them with kubectl',
  TreeIncomplete: 'not everything in the repository could be read',
  DocumentsBroken: 'nothing is deleted while a document of the repository is broken',
  TreeEmpty: 'the repository lists no cluster at all, which is taken for a mistake',
  SourceMoved:
    'url, ref or path changed since they were applied; list them in the new place, or delete them with kubectl',
  SourceUnknown: 'it is not recorded which file they came from; list them again, or delete them with kubectl',
  FileStillThere: 'the file that they came from is still there; delete the file, or delete them with kubectl',
  NamespaceLeftOut:
    'the objects of a namespace are too large to be read, and a fleet there may list them; it is deleted once they can be read',
  LabelChanged: `their label ${labels.fleet} is no longer this fleet's; set it to the UID of this fleet again, or delete them with kubectl`,
  ListedElsewhere: 'another fleet lists them; hand them over to it',
  PruneDisabled: `the annotation ${annotations.prune} protects them; to delete them, list them once without it, or use kubectl`,
  NeedsConfirmation: `deleting several at once, what has the annotation ${annotations.prune}: confirm, or data that a plan showed to stay, must be confirmed`,
} as const satisfies Record<KeptBecause, string>;

/** Why a cluster that Git no longer lists stays, and what a person can do. */
export function whyKept(because: KeptBecause): string {
  return why[because];
}

/** What a person may approve: to delete several at once. */
export function pruneApproval({ kept, confirmation, refused }: UnlistedReport): ApprovalAsked | undefined {
  if (confirmation === undefined) return undefined;
  const keys = kept.flatMap(({ because, key }) => (because === 'NeedsConfirmation' ? [key] : []));
  return {
    reason: 'PruneNeedsConfirmation',
    annotation: annotations.confirmPrune,
    value: confirmation,
    approves: `${keys.length === 1 ? 'this is' : `these ${keys.length} are`} deleted, which Git no longer lists: ${fitting(keys.sort())}`,
    loses: 'these objects, and the data of each cluster whose spec.volumeRetention.whenDeleted is Delete',
    ...(refused && { refused: refused.why }),
  };
}

/** Whole names, and how many others there are: what is approved covers them, too. */
function fitting(keys: readonly string[]): string {
  const room = longestFleetApprovalText - 200;
  const named: string[] = [];
  let length = 0;
  for (const key of keys) {
    length += key.length + 2;
    if (length > room) break;
    named.push(key);
  }
  const others = keys.length - named.length;
  return `${named.join(', ')}${others > 0 ? `, and ${others} others: see status.inventory` : ''}`;
}

/** For the condition `Unlisted`: which clusters are no longer in Git, why they stay, and what a person can do. */
export function unlistedMessage(fleet: string, report: UnlistedReport): string {
  const { kept, notes } = report;
  const reasons = [...new Set(kept.map(({ because }) => because))].sort();
  const sentences = reasons.map((reason) => {
    const keys = kept.filter(({ because }) => because === reason).map(({ key }) => key);
    const note = reason === 'TreeIncomplete' && notes[0] ? ` (${notes[0]})` : '';
    return `${enumerate(keys.sort())}: ${why[reason]}${note}`;
  });
  const asked = pruneApproval(report);
  if (asked) {
    const [namespace, name = ''] = fleet.split('/');
    const { refused } = report;
    if (refused) sentences.push(`the confirmation is given and does not count: ${refused.why}; ${refused.cure}`);
    sentences.push(`to confirm: ${approveCommand('etcdfleets', { namespace, name }, asked)}`);
  }
  return `no longer in Git, kept: ${sentences.join('; ')}`;
}

/** The most telling of several reasons, for `reason`. */
export function unlistedReason({ kept }: UnlistedReport): KeptBecause | undefined {
  const order = Object.keys(why) as KeptBecause[];
  return kept.map(({ because }) => because).sort((a, b) => order.indexOf(b) - order.indexOf(a))[0];
}

/** Ten names at most. */
export function enumerate(keys: readonly string[]): string {
  const shown = keys.slice(0, 10).join(', ');
  return keys.length > 10 ? `${shown} and others` : shown;
}
