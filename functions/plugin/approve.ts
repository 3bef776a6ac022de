import { isDeepStrictEqual } from 'node:util';
import type { ApprovalAsked } from '../../manifests/api/approval.ts';
import type { EtcdCluster } from '../../manifests/api/etcd-cluster.ts';
import type { EtcdFleet } from '../../manifests/api/etcd-fleet.ts';
import { printable } from '../../manifests/printable.ts';
import { approvals, approverOf, group } from '../../manifests/render/names.ts';
import { type KubeObject, resources } from '../../reconcile/interfaces/kube.ts';
import { annotateObject } from './annotate.ts';
import { type Asked, type ExitCode, Refusal } from './command.ts';
import { clusterNamed, fleetNamed, say } from './objects.ts';
import { coloured } from './table.ts';

/** Nothing is sent but the question, and nothing is kept. */
interface SelfReview extends KubeObject {
  readonly status?: { readonly userInfo?: { readonly username?: string } };
}

interface ApproveOptions {
  /** The name is that of an EtcdFleet. */
  readonly fleet: boolean;
  /** Which, where several are asked for: the annotation without its group. */
  readonly for?: string;
  /** What the caller has seen to be asked: nothing else is approved. */
  readonly value?: string;
  readonly yes: boolean;
}

type Asking = EtcdCluster | EtcdFleet;

/**
 * Shows what etcd-ratchet asks a person to approve, and what is lost with it; asks; and sets the annotation if the same
 * is still asked. @throws {Refusal} when nothing is asked, it has changed, or the person does not confirm.
 */
export async function approve(name: string, asked: Asked, options: ApproveOptions): Promise<ExitCode> {
  const read = async (): Promise<Asking> => (options.fleet ? fleetNamed(name, asked) : clusterNamed(name, asked));
  const place = `${options.fleet ? 'EtcdFleet' : 'EtcdCluster'} ${asked.namespace}/${name}`;
  const shown = await read();
  const one = chosen(shown, place, options);
  const { annotation, value } = one;
  if (options.value !== undefined && options.value !== value) {
    throw new Refusal(
      `${place} asks for an approval of another value, ${printable(value)}: nothing was approved; look again`,
    );
  }
  const isGiven = shown.metadata.annotations?.[annotation] === value;
  const by = await ownName(asked);
  // Where another's does not count, one's own may.
  const isOwn = shown.metadata.annotations?.[approverOf(annotation)] === by;
  if (!isGiven || (!isOwn && one.refused !== undefined)) {
    show(one, place, asked);
    await confirm(name, asked, options);
    const check = (fresh: Asking) => {
      const same = approvalsOf(fresh).some((other) => isDeepStrictEqual(other, one));
      if (fresh.metadata.uid === shown.metadata.uid && isCurrent(fresh) && same) return;
      throw new Refusal(`${place} does not ask for that any more, or asks otherwise: nothing was approved; look again`);
    };
    const resource = options.fleet ? resources.fleets : resources.clusters;
    await annotateObject(resource, { read, check }, asked, { [annotation]: value, [approverOf(annotation)]: by });
  }
  const done = isGiven ? 'was approved already' : 'is approved';
  const sentence = `${place}: ${printable(one.reason)} ${done}; the next pass acts on it`;
  say(asked, sentence, { namespace: asked.namespace, name, ...one });
  return 0;
}

/** The API server lets in no other name beside an approval. */
async function ownName({ kube, stop }: Asked): Promise<string> {
  const review = await kube.create<SelfReview>(resources.selfReviews, { metadata: { name: '' } }, { signal: stop });
  const by = review.status?.userInfo?.username;
  if (!by) throw new Refusal('the API server does not say who you are: nothing was approved');
  return by;
}

/** What a person is asked to approve, and whether it was given in vain. @param command that gives it */
export function askedText(
  { reason, approves, loses, refused }: ApprovalAsked,
  command: string,
  colours: boolean,
): string {
  const lines = [
    `${coloured({ tone: 'bad', text: 'asks for an approval' }, colours)} (${printable(reason)})`,
    `  approves: ${printable(approves)}`,
    `  loses:    ${printable(loses)}`,
    ...(refused === undefined ? [] : [`  given:    it does not count: ${printable(refused)}`]),
    `  do:       ${command}`,
  ];
  return lines.map((line) => `${line}\n`).join('');
}

/** A status is written by others: only annotations that approve something are ever set from it. */
export function approvalsOf({ status }: Asking): readonly ApprovalAsked[] {
  return (status?.approvals ?? []).filter(({ annotation }) => approvals.includes(annotation));
}

/** An approval in the status belongs to the spec that a pass has looked at. */
function isCurrent({ metadata, status }: Asking): boolean {
  return status?.observedGeneration === metadata.generation;
}

function chosen(object: Asking, place: string, options: ApproveOptions): ApprovalAsked {
  const all = approvalsOf(object);
  if (!isCurrent(object))
    throw new Refusal(`no pass has looked at the present spec of ${place} yet: try again after it`);
  const word = ({ annotation }: ApprovalAsked) => annotation.slice(group.length + 1);
  const fitting = options.for === undefined ? all : all.filter((one) => word(one) === options.for);
  const [only, ...more] = fitting;
  if (only && more.length === 0) return only;
  const words = [...new Set(all.map(word))].join(', ');
  if (all.length === 0) throw new Refusal(`${place} asks for no approval`);
  throw new Refusal(
    only === undefined
      ? `${place} asks for no such approval; it asks for: ${words}`
      : `${place} asks for several approvals: name one of ${words} by --for`,
  );
}

function show({ reason, approves, loses }: ApprovalAsked, place: string, { err }: Asked): void {
  err(`${place} asks for an approval (${printable(reason)})\n`);
  err(`  approves: ${printable(approves)}\n`);
  err(`  loses:    ${printable(loses)}\n`);
}

async function confirm(name: string, { ask, stop }: Asked, { yes }: ApproveOptions): Promise<void> {
  if (yes) return;
  if (!ask) throw new Refusal('nothing was approved: there is no terminal to ask on; read the above, then add --yes');
  const answer = await ask(`This can't be undone. To approve it, type the name ${name}: `);
  if (stop.aborted || answer.trim() !== name) throw new Refusal('nothing was approved');
}
