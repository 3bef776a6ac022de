import type { NodeGrant } from '../../manifests/api/etcd-node-policy.ts';
import { type NodeAction, type NodeVerdict, rebootTimeoutOf } from './decision.ts';
import type { Mark } from './marks.ts';
import type { NodeSeen, NodesObservation } from './observation.ts';
import { isStuck, type NodeReason } from './reasons.ts';

/** Words and actions about one node that has begun. */

/** While only time, or the node itself, brings news. */
const lookSeconds = 5;

export interface Begun {
  readonly all: NodesObservation;
  readonly node: NodeSeen;
  readonly grant: NodeGrant;
}

export function outOf({ all }: Begun, { at }: Mark, limit: number): boolean {
  return all.at.getTime() - at.getTime() > limit;
}

export function timeout({ all }: Begun): string {
  return `spec.reboot.timeout (${rebootTimeoutOf(all.policy.spec) / 60_000} min)`;
}

type Rest<T> = T extends NodeAction ? Omit<T, 'node'> : never;

export function doing({ node }: Begun, reason: NodeReason, words: string, action: Rest<NodeAction>): NodeVerdict {
  return {
    node: node.name,
    reason,
    message: `${node.name} ${words}`,
    action: { ...action, node: node.name } as NodeAction,
  };
}

/** The way ends, and the node bears why: others have their turn. */
export function putOff(seen: Begun, reason: NodeReason, words: string): NodeVerdict {
  return doing(seen, reason, words, { kind: 'put-off', id: seen.grant.id, reason });
}

export function saying({ node }: Begun, reason: NodeReason, words: string, afterSeconds = lookSeconds): NodeVerdict {
  // A node that is stuck is left to the ticks.
  return { node: node.name, reason, message: `${node.name}: ${words}`, ...(!isStuck(reason) && { afterSeconds }) };
}
