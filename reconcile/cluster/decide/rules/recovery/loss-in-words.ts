import { annotations } from '../../../../../manifests/render/names.ts';
import { recordOf } from '../../../know/life.ts';
import type { Slot } from '../../../know/observation.ts';
import { approvalGiven, type Loss, type LostMember, type Survivor } from '../../../know/recovery/lost.ts';
import { type Attempted, newLifeOf } from '../../../know/recovery/new-life.ts';
import type { Situation } from '../../../know/situation.ts';
import { revisionsGoBack } from '../../restoring.ts';
import { alsoOnDisk } from './disks-in-words.ts';

/** A member on a dead node is not lost before the node is: then no snapshot is needed. */
export function nodesFirst(lost: Loss['lost']): string {
  const nodes = lost.flatMap(({ slot }) => (slot?.pod?.leaving && slot.pod.node !== undefined ? [slot.pod.node] : []));
  if (nodes.length === 0) return '';
  return `bring node ${[...new Set(nodes)].join(', ')} back: its members go on with the data that they have. Only where that is impossible: `;
}

/** Where there is an approval, and nothing was begun on it. */
export function whyNotBegun(asked: string, { slot, others }: Survivor, situation: Situation): string {
  const { membership } = situation;
  const given = approvalGiven(situation);
  if (given === undefined) return '';
  if (given !== asked) return `; the present approval (${annotations.recoverQuorum}) is for another loss, and void`;
  const hasList = membership.kind === 'unknown' && (membership.last ?? others) !== undefined;
  const missing = hasList ? `${slot.name} lacks its EtcdPeer or its PVC` : `${slot.name} does not tell the member list`;
  return `; that is approved, and can't begin: ${missing}`;
}

/** Whether clients that watch go on by themselves. */
export function asClientsSee({ slot }: Survivor, of: Attempted, situation: Situation): string {
  const record = recordOf(slot);
  if (!record || !newLifeOf(record, of, situation)) return revisionsGoBack;
  return `it goes on as a new etcd cluster, above all revisions that clients saw, so a watch that resumes is told \`compacted\`; for that its volume needs room for three more copies of the database${databaseOf(slot)}`;
}

function databaseOf({ endpoint }: Slot): string {
  if (endpoint.kind === 'unknown') return '';
  const mebibytes = Math.ceil(Number(endpoint.status.dbSize) / 2 ** 20);
  return ` of ${mebibytes} MiB`;
}

export function inWords({ name, because }: LostMember): string {
  return `${name} (${because})`;
}

/** What each has. Where two were started anew, a person may know better which disk is the newer one. */
export function holding(loss: Loss): string {
  const { survivors } = loss;
  const [best, ...rest] = survivors.map((one) => ({ name: one.name, has: `${amountOf(one)}${alsoOnDisk(one, loss)}` }));
  const others = rest.map(({ name, has }) => `; ${name} has ${has}`).join('');
  return `of the members that answer, ${best?.name} has the most data (${best?.has})${others}${unknownTail(survivors)}`;
}

function amountOf({ term, index, revision }: Survivor): string {
  return `${term === undefined ? '' : `term ${term}, `}index ${index}, revision ${revision}`;
}

/** etcd keeps what it knows to be committed. The leader may have told clients of the next entries, and not members. */
function unknownTail(survivors: readonly Survivor[]): string {
  const anew = survivors.filter(({ others }) => others);
  if (anew.length === 0) return '';
  return `; ${listed(anew)} started without a quorum: the log on its disk may hold more than it has applied, and what it does not know to be committed is dropped`;
}

export function listed(members: readonly { readonly name: string }[]): string {
  return members.map(({ name }) => name).join(', ');
}
