import type { EtcdCluster } from '../../manifests/api/etcd-cluster.ts';
import { printable } from '../../manifests/printable.ts';
import { defragmentRequestOf } from '../../manifests/render/defragment-request.ts';
import { annotations } from '../../manifests/render/names.ts';
import { isUnmanaged } from '../../reconcile/cluster/know/unmanaged.ts';
import { resources } from '../../reconcile/interfaces/kube.ts';
import { timestamp } from '../../reconcile/time/timestamp.ts';
import { annotateObject } from './annotate.ts';
import { type Asked, type ExitCode, Refusal } from './command.ts';
import { clusterNamed, nextCommand, say } from './objects.ts';
import { type ReconcileOptions, startJob, until } from './reconcile.ts';
import { sizeOf } from './words.ts';

type Member = NonNullable<NonNullable<EtcdCluster['status']>['members']>[number];

/**
 * Asks, by an annotation, that every member defragments its database once. Steps do it one member after the other, the
 * leader last, as soon as every member is healthy and no other change is left.
 */
export async function defrag(name: string, asked: Asked, options: ReconcileOptions): Promise<ExitCode> {
  const place = `${asked.namespace}/${name}`;
  const shown = await clusterNamed(name, asked);
  // By the API server's clock, as steps have it: a person's may be ahead, and then nothing would be due yet.
  const since = timestamp(asked.kube.now() ?? asked.now());
  const check = (cluster: EtcdCluster) => {
    if (cluster.metadata.uid !== shown.metadata.uid) throw new Refusal(`${place} was made anew meanwhile: look again`);
    if (!isUnmanaged(cluster)) return;
    throw new Refusal(`${place} is paused or suspended, so no member would be defragmented: go on with it first`);
  };
  const changes = { [annotations.defragment]: since, [annotations.reconcile]: since };
  const read = async () => clusterNamed(name, asked);
  await annotateObject(resources.clusters, { read, check }, asked, changes);
  if ((shown.status?.members ?? []).length === 1) asked.err(`${place} has one member: it does not serve meanwhile\n`);
  asked.err(`${await startJob(name, asked, options)}\n`);
  const facts = { namespace: asked.namespace, name, request: since };
  if (options.wait === 0) {
    say(asked, `${place} was asked; ${nextCommand(asked, `why ${name}`)} shows how far it is`, facts);
    return 0;
  }
  const seen = await until(name, asked, options, (cluster) => waitingFor(cluster, since).length === 0);
  const waiting = waitingFor(seen.cluster, since);
  const members = (seen.cluster.status?.members ?? []).map(({ name: member, dbBytes }) => ({ name: member, dbBytes }));
  if (seen.kind === 'answered') {
    const failed = failuresIn(seen.cluster, since);
    if (failed.length > 0) throw new Refusal(`each member was asked once, and not all could: ${failed.join('; ')}`);
    const sizes = members.map(({ name: member, dbBytes }) => `${member} (${sizeOf(dbBytes)})`).join(', ');
    say(asked, `${place} was defragmented: ${sizes}`, { ...facts, members });
    return 0;
  }
  throw new Refusal(
    `${place} was asked, and within ${options.wait} s ${waiting.join(', ')} was not defragmented; it goes on by itself: ${nextCommand(asked, `why ${name}`)} shows what it waits for`,
  );
}

/** How far the request of a person is. `undefined`: there is none, or all of it is done. */
export function defragmentationAsked(cluster: EtcdCluster, now: Date): Asking | undefined {
  const request = defragmentRequestOf(cluster, now);
  if (request.kind !== 'asked') return undefined;
  const since = timestamp(request.since);
  const waiting = waitingFor(cluster, since);
  return waiting.length === 0 ? undefined : { since, waiting };
}

interface Asking {
  readonly since: string;
  readonly waiting: readonly string[];
}

function failuresIn({ status }: EtcdCluster, since: string): readonly string[] {
  return (status?.history ?? []).flatMap(({ at, action, outcome, target, message }) =>
    action === 'defragment-member' && outcome === 'failed' && Date.parse(at) >= Date.parse(since)
      ? [printable(`${target}: ${message}`)]
      : [],
  );
}

/** Members are never asked while they are learners. A status without members says nothing yet. */
function waitingFor({ status }: EtcdCluster, since: string): readonly string[] {
  const isDone = ({ defragmentedAt, role }: Member) =>
    role === 'Learner' || (defragmentedAt !== undefined && Date.parse(defragmentedAt) >= Date.parse(since));
  const members = status?.members ?? [];
  return members.length === 0 ? ['all members'] : members.filter((one) => !isDone(one)).map(({ name }) => name);
}
