import type { NodeReason } from '../../../reconcile/nodes/reasons.ts';
import { isStuck } from '../../../reconcile/nodes/reasons.ts';
import { type Fingerprint, type Fingerprints, keyOf } from '../search/fingerprint.ts';
import type { Violation } from '../search/search.ts';
import { createSeen } from '../search/seen.ts';
import { happenings, timePasses } from './happenings.ts';
import type { ModelNode, NodesState, NodesWorld } from './state.ts';
import { begins, type NodesRules, turned, went } from './transitions.ts';

/**
 * From here on nothing goes wrong: the nodes must come to rest, with every cordon of ours taken back, or held by a node
 * that a person must look at. Where a disruption budget never lets a pod go, it is tried for ever: each time around the
 * node takes pods again.
 */
export function createRest(rules: NodesRules, { ofWhole }: Fingerprints): (state: NodesState) => Violation | undefined {
  const known = createSeen();
  return (state) => {
    const way = new Map<number, { readonly print: Fingerprint; readonly world: NodesWorld }>();
    let current: NodesState = state;
    for (let steps = 0; steps < longest; steps += 1) {
      const { world, acting } = current;
      const print = ofWhole({ world, acting });
      if (known.has(print)) break;
      const key = keyOf(print);
      if (way.has(key)) {
        const around = [...way.keys()];
        const circle = around.slice(around.indexOf(key)).flatMap((one) => way.get(one)?.world ?? []);
        const later = isSame(circle) ? timePasses(world) : undefined;
        if (later) {
          current = { ...current, world: later, acting: [] };
          continue;
        }
        if (circle.some(({ nodes }) => !nodes.some(isOurs))) break;
        return wrong('it goes round in circles, and a node stays cordoned');
      }
      way.set(key, { print, world });
      const next = ideal(current, rules);
      if (next === undefined) {
        const why = restsWrongly(world, rules);
        if (why !== undefined) return wrong(why);
        break;
      }
      if (steps === longest - 1) return wrong('it has not come to rest after a thousand steps');
      current = next;
    }
    for (const { print } of way.values()) known.add(print);
    return undefined;
  };
}

const longest = 1000;

function wrong(message: string): Violation {
  return { invariant: 'convergence', message };
}

function ideal(state: NodesState, rules: NodesRules): NodesState | undefined {
  if (state.acting.length > 0) return went(state, 0, rules)[1];
  let first: NodesWorld | undefined;
  happenings(state.world, (_, after) => {
    first ??= after;
  });
  if (first) return turned(state, first);
  const found = begins(state.world, rules);
  if (found) return found.acting ? { ...state, acting: [found.acting] } : { ...state, world: found.world };
  const later = timePasses(state.world);
  return later && { ...state, world: later };
}

/** Nothing comes of what is tried again and again: then time passes. */
function isSame(circle: readonly NodesWorld[]): boolean {
  const [first] = circle;
  const parts = ({ nodes, clusters, jobs, pods }: NodesWorld) => JSON.stringify([nodes, clusters, jobs, pods]);
  return first !== undefined && circle.every((one) => parts(one) === parts(first));
}

function isOurs({ marks }: ModelNode): boolean {
  return marks.granted !== undefined || marks.cordoned !== undefined;
}

/** What a person must end, or has decided. */
const forPeople: ReadonlySet<NodeReason> = new Set(['TwoMembersThere', 'QuorumNeedsNode', 'NodeNotReady', 'Suspended']);

function restsWrongly(world: NodesWorld, { decide }: NodesRules): string | undefined {
  const { verdicts } = decide(world);
  const isHeld =
    verdicts.some(({ reason }) => isStuck(reason)) ||
    world.nodes.some((node) => node.broken || (node.cordoned && !isOurs(node)));
  for (const node of world.nodes) {
    const verdict = verdicts.find((one) => one.node === node.name);
    if (isOurs(node) && (!verdict || !isStuck(verdict.reason)))
      return `${node.name} stays cordoned, and is not told as stuck`;
    if (node.needed === undefined || isHeld) continue;
    if (verdict && !forPeople.has(verdict.reason))
      return `${node.name} waits for ever: ${verdict.reason}: ${verdict.message}`;
  }
  return undefined;
}
