import type { Violation } from '../search/search.ts';
import { type NodesEvent, type NodesState, type NodesWorld, quorum, serves, serving } from './state.ts';

/** What must never happen to nodes that reboot, and to the clusters on them, looked at in the truth. */
type Invariant = (before: NodesState, event: NodesEvent, after: NodesState) => string | undefined;

/** What a step lets go, and a host that goes down as we told it, leaves a quorum of every cluster. */
function keepsQuorum({ world: before }: NodesState, { evicts, downs }: NodesEvent, { world }: NodesState) {
  if (evicts === undefined && downs === undefined) return undefined;
  for (const cluster of before.clusters) {
    const left = world.clusters.find(({ key }) => key === cluster.key);
    if (!left || isAllowed(world, cluster.key)) continue;
    const [had, has] = [serving(before, cluster).length, serving(world, left).length];
    if (has < had && has < quorum(left)) return `${has} members of ${cluster.key} are left of ${left.members.length}`;
  }
  return undefined;
}

function neverTwo(_: NodesState, __: NodesEvent, { world }: NodesState) {
  const two = world.clusters.find(
    ({ key, members }) => !isAllowed(world, key) && members.filter(({ away }) => away).length > 1,
  );
  return two && `two members of ${two.key} are down by reboots of ours`;
}

/** When a node is granted, every cluster with a member there is whole, and keeps its quorum without that one. */
function sparesNode({ world }: NodesState, { grants: node }: NodesEvent) {
  if (node === undefined) return undefined;
  for (const cluster of world.clusters) {
    const { key, members, lease } = cluster;
    const here = members.filter((member) => member.node === node);
    if (here.length === 0 || isAllowed(world, key)) continue;
    const others = members.filter((member) => member.node !== node && serves(world, member));
    if (lease) return `${node} is granted while a step of ${key} is under way`;
    if (others.length < members.length - here.length)
      return `${node} is granted while another member of ${key} is down`;
    if (others.length < quorum(cluster)) return `${node} is granted, and ${key} has no quorum without it`;
  }
  return undefined;
}

/** A member leaves only while the step that lets it go holds its cluster. */
function heldWhileLeaving({ world }: NodesState, { evicts }: NodesEvent, { world: after }: NodesState) {
  if (evicts === undefined) return undefined;
  for (const { key, members, lease } of world.clusters) {
    const left = after.clusters.find((one) => one.key === key)?.members ?? [];
    const goes = members.some(
      ({ name, pod }) => pod !== 'leaving' && left.some((one) => one.name === name && one.pod === 'leaving'),
    );
    if (goes && lease?.by !== 'nodes') return `a member of ${key} leaves while its cluster is not held`;
  }
  return undefined;
}

/** The other way round: a cluster lets no member go while one of its members is away for a reboot. */
function rollsNone({ world }: NodesState, { rolls }: NodesEvent) {
  const cluster =
    rolls === undefined ? undefined : world.clusters.find(({ members }) => members.some(({ name }) => name === rolls));
  const away = cluster?.members.find((one) => one.away && one.name !== rolls);
  return away && `${rolls} is let go while ${away.name} is away for a reboot`;
}

function movesLeaders(_: NodesState, { evictsLeader }: NodesEvent) {
  return evictsLeader === undefined ? undefined : `${evictsLeader} is to leave, and leads its cluster`;
}

/** An order is taken up only for a grant that stands, on a node that no person took back. */
function rebootsGranted({ world }: NodesState, { takes }: NodesEvent) {
  if (!takes) return undefined;
  const { node: name, id } = takes;
  const node = world.nodes.find((one) => one.name === name);
  if (!world.policy.grants.some((grant) => grant.id === id && grant.node === name))
    return `${name} is rebooted without a grant`;
  if (!node?.cordoned) return `${name} is rebooted, and takes pods`;
  return node.takenBack ? `${name} is rebooted, and a person took it back` : undefined;
}

function isAllowed({ policy }: NodesWorld, key: string): boolean {
  return policy.spec.allowDowntimeOf?.includes(key) ?? false;
}

const invariants: readonly (readonly [string, Invariant])[] = [
  ['I1', keepsQuorum],
  ['I1', neverTwo],
  ['I1', sparesNode],
  ['I7', heldWhileLeaving],
  ['I7', rollsNone],
  ['I1', movesLeaders],
  ['I7', rebootsGranted],
];

export function judge(before: NodesState, event: NodesEvent, after: NodesState): Violation | undefined {
  for (const [invariant, says] of invariants) {
    const message = says(before, event, after);
    if (message !== undefined) return { invariant, message };
  }
  return undefined;
}
