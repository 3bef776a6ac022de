import type { EtcdNodePolicy } from '../../manifests/api/etcd-node-policy.ts';
import type { Node } from '../../manifests/kube-types.ts';
import { isReason, type Kube, resources } from '../interfaces/kube.ts';
import { writeEvent } from '../objects/event.ts';
import { clockSkew, marksOf, noMarks, withMarks } from './marks.ts';

/** Milliseconds for which a mark without a grant is left alone: the policies were listed before the nodes. */
const patience = 120_000;

/** How long a node may take to go down whose grant is gone. As `spec.reboot.timeout` by default. */
const rebootPatience = 15 * 60_000;

/**
 * Nodes with marks but without a grant of any policy: its policy was deleted, or its status lost. Pure. A node that was
 * told to go down is left alone until another boot has come, or none will.
 */
export function orphansAmong(nodes: readonly Node[], policies: readonly EtcdNodePolicy[], at: Date): readonly Node[] {
  const ids = new Set(policies.flatMap(({ status }) => status?.grants?.map(({ id }) => id) ?? []));
  return nodes.filter((node) => {
    const { granted, inProgress } = marksOf(node);
    const age = granted ? at.getTime() - granted.at.getTime() : 0;
    // One from the future is a stranger's: it would never be old enough.
    if (!granted || ids.has(granted.word) || (age < patience && age > -clockSkew)) return false;
    const isGoingDown = inProgress !== undefined && inProgress.word === node.status?.nodeInfo?.bootID;
    return !isGoingDown || at.getTime() - inProgress.at.getTime() > rebootPatience;
  });
}

/**
 * Takes the marks away, and says so in an event. The node stays as it is: marks without a grant prove nothing, so the
 * cordon may be a person's. @throws {KubeError}
 */
export async function release(
  kube: Kube,
  node: Node,
  { at, id, signal }: { readonly at: Date; readonly id: string; readonly signal: AbortSignal },
): Promise<void> {
  const annotations = withMarks(node.metadata.annotations, { ...noMarks, putOff: 'PolicyGone' }, { at });
  try {
    await kube.update<Node>(resources.nodes, { ...node, metadata: { ...node.metadata, annotations } }, { signal });
  } catch (error) {
    if (isReason(error, 'Conflict') || isReason(error, 'NotFound')) return;
    throw error;
  }
  const { name, uid = '' } = node.metadata;
  const about = { metadata: { name, namespace: 'default', uid } };
  const note = orphanNote(node);
  const news = { type: 'Warning', action: 'Reboot', reason: 'PolicyGone', note } as const;
  await writeEvent(kube, about, news, { id, at, signal, about: resources.nodes });
}

/** The note that tells what happens to an orphan's marks. */
export function orphanNote({ metadata: { name }, spec }: Node): string {
  const what = `no policy has begun with ${name}: its marks are taken away`;
  return spec?.unschedulable === true
    ? `${what}. It stays cordoned; to let it take pods: kubectl uncordon ${name}`
    : what;
}
