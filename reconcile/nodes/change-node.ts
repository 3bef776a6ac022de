import type { Node } from '../../manifests/kube-types.ts';
import type { NodeAction } from './decision.ts';
import { changedMarks, type MarkChange, noMarks, withMarks } from './marks.ts';
import type { NodeSeen } from './observation.ts';

/** The change of a Node: its marks, and whether it takes pods. Pure. */

export interface NodeChange extends MarkChange {
  readonly cordon?: boolean;
  readonly uncordon?: boolean;
  /** The wish for a reboot is taken away. */
  readonly fulfilled?: boolean;
}

export function cordoned({ marks, unschedulable }: NodeSeen, id: string): NodeChange {
  const isBegun = marks.granted?.word === id && marks.cordoned !== undefined;
  // Marks from before the first one of this reboot are a stranger's, or of an earlier reboot.
  const first = { ...noMarks, cordoned: unschedulable ? 'before' : 'by-us' };
  // An order was for the node as it was drained before: by this PUT or by the Job's, one of the two gets a 409.
  return { ...(isBegun ? {} : first), granted: id, now: undefined, cordon: true };
}

/** Whether this way cordoned it: what a person cordoned stays so. */
export function isOurs({ marks: { granted, cordoned: cordon } }: NodeSeen, id: string): boolean {
  return granted?.word === id && cordon?.word === 'by-us';
}

export function welcomed(node: NodeSeen, { id, bootId, why }: Extract<NodeAction, { kind: 'welcome' }>): NodeChange {
  return {
    now: undefined,
    inProgress: undefined,
    cordoned: undefined,
    returned: bootId,
    // A wish that came later, for another cause, is another one.
    fulfilled: node.needed === why,
    uncordon: isOurs(node, id),
  };
}

/** As the API server gets it. */
export function changedObject(node: Node, change: NodeChange, at: Date): Node {
  const { cordon = false, uncordon = false, fulfilled = false, ...marks } = change;
  const annotations = withMarks(node.metadata.annotations, marks, { at, needed: !fulfilled });
  const { unschedulable, ...spec } = node.spec ?? {};
  const isShut = cordon || (unschedulable === true && !uncordon);
  return {
    ...node,
    metadata: { ...node.metadata, annotations },
    spec: { ...spec, ...(isShut && { unschedulable: true }) },
  };
}

/** As it is seen afterwards: what {@link changedObject} means to an observation. */
export function changedNode(node: NodeSeen, change: NodeChange, at: Date): NodeSeen {
  const { cordon = false, uncordon = false, fulfilled = false, ...marks } = change;
  const { needed, ...rest } = node;
  return {
    ...rest,
    marks: changedMarks(node.marks, marks, at),
    unschedulable: cordon || (node.unschedulable && !uncordon),
    ...(needed !== undefined && !fulfilled && { needed }),
  };
}
