import type { ClusterCounters } from '../../../manifests/api/cluster-counters.ts';
import type { EtcdFleet } from '../../../manifests/api/etcd-fleet.ts';
import type { HaltAbove } from '../../../manifests/api/rollout.ts';
import { waitForStage } from '../../../reconcile/cluster/decide/wait-for-stage.ts';
import { countersAfter, processesOf } from '../../../reconcile/cluster/know/counters.ts';
import { clustersWithoutRoom } from '../../../reconcile/cluster/observe/room.ts';
import { slotsOf } from '../../../reconcile/cluster/observe/slots.ts';
import type { ClusterObjects } from '../../../reconcile/cluster/observe/snapshot.ts';
import { heldByStages } from '../../../reconcile/cluster/observe/stages.ts';
import type { Reason } from '../../../reconcile/reasons/reasons.ts';
import { timestamp } from '../../../reconcile/time/timestamp.ts';
import { fleetOf, one } from '../../unit/cluster/staged-objects.ts';

/**
 * One commit of a fleet, minute by minute. Which cluster may begin, what is counted and what halts, is what runs
 * everywhere; the clusters, and what the commit does to them, are played.
 */
export interface Rollout {
  readonly stages: readonly { readonly name: string; readonly clusters: number; readonly soak: string }[];
  /** Of all: those of no stage come last. */
  readonly clusters: number;
  readonly maxClustersInProgress: number;
  readonly haltAbove: HaltAbove;
  /** The share of the clusters that the commit hurts. */
  readonly hurts: number;
  /** Changes of the leader in ten minutes, on average: of clusters that are well, and of those that it hurts. */
  readonly changes: { readonly usual: number; readonly hurt: number };
}

export interface Ended {
  readonly began: number;
  readonly hurt: number;
  readonly isHalted: boolean;
  readonly minutes: number;
}

interface Played {
  readonly name: string;
  readonly stage: string;
  readonly isHurt: boolean;
  /** Members that lack the commit. */
  behind: number;
  hasBegun: boolean;
  reason: Reason;
  startedAt: Date;
  /** Of the leader, since a member started last. */
  changes: number;
  /** Of its next full look, in minutes. */
  nextLook: number;
  counters: ClusterCounters | undefined;
  objects: ClusterObjects;
}

const members = 3;
const minuteMs = 60_000;
const start = Date.parse('2026-01-02T00:00:00Z');
/** Until a person has reverted a commit that halted, in minutes. */
const reverts = 60;
/** In minutes: a rollout that neither ends nor halts is a defect. */
const longest = 30 * 24 * 60;

/** @param random from 0 to 1 @throws {Error} where it neither ends nor halts within thirty days */
export function simulate(rollout: Rollout, random: () => number): Ended {
  const all = Array.from({ length: rollout.clusters }, (_, index) => played(rollout, index, random));
  const fleet = fleetFor(rollout, all);
  let haltedAt: number | undefined;
  for (let minute = 0; minute < longest; minute += 1) {
    const now = new Date(start + minute * minuteMs);
    for (const cluster of all) goOn(cluster, { rollout, random, now, minute });
    decideAll(all, fleet, now);
    if (all.some(({ reason }) => reason === 'RolloutHalted')) haltedAt ??= minute;
    const isAll = all.every(({ reason, hasBegun }) => hasBegun && reason === 'Converged');
    if (!isAll && (haltedAt === undefined || minute - haltedAt < reverts)) continue;
    const began = all.filter(({ hasBegun }) => hasBegun);
    const hurt = began.filter(({ isHurt }) => isHurt).length;
    return { began: began.length, hurt, isHalted: haltedAt !== undefined, minutes: minute };
  }
  throw new Error('a rollout that neither ended nor halted within thirty days');
}

function played(rollout: Rollout, index: number, random: () => number): Played {
  const fresh = {
    name: `c-${String(index).padStart(5, '0')}`,
    stage: stageAt(rollout, index),
    isHurt: random() < rollout.hurts,
    behind: members,
    hasBegun: false,
    reason: 'Converged',
    startedAt: new Date(start - 24 * 60 * minuteMs),
    changes: 0,
    nextLook: 0,
    counters: undefined,
  } as const;
  return { ...fresh, objects: objectsOf(fresh) };
}

function stageAt({ stages }: Rollout, index: number): string {
  const names = stages.flatMap(({ name, clusters }) => Array<string>(clusters).fill(name));
  return names[index] ?? 'rest';
}

function objectsOf({ name, stage, behind, reason, startedAt, counters }: Omit<Played, 'objects'>): ClusterObjects {
  const at = timestamp(startedAt);
  const lastDecision = { kind: reason === 'Converged' ? 'Done' : 'Wait', reason, message: '' } as const;
  const status = { lastDecision, ...(counters && { counters }) };
  return one(name, { stage }, { behind, readyAt: at, startedAt: at, status });
}

function fleetFor({ stages, maxClustersInProgress, haltAbove }: Rollout, all: readonly Played[]): EtcdFleet {
  const { spec, ...others } = fleetOf(all.map(({ objects }) => objects));
  const rollout = {
    stages: stages.map(({ name, soak }) => ({ name, matchLabels: { stage: name }, soak })),
    haltAbove,
  };
  return { ...others, spec: { ...spec, maxClustersInProgress, rollout } };
}

interface Minute {
  readonly rollout: Rollout;
  readonly random: () => number;
  readonly now: Date;
  readonly minute: number;
}

/** A member a minute takes the commit; of what rests, the leader changes, and a full look counts it now and then. */
function goOn(cluster: Played, { rollout, random, now, minute }: Minute): void {
  if (!cluster.hasBegun) return;
  if (cluster.behind > 0) {
    cluster.behind -= 1;
    cluster.startedAt = now;
    cluster.changes = 0;
    if (cluster.behind === 0) cluster.reason = 'Converged';
    cluster.objects = objectsOf(cluster);
    return;
  }
  const { usual, hurt } = rollout.changes;
  cluster.changes += poisson((cluster.isHurt ? hurt : usual) / 10, random);
  if (minute < cluster.nextLook) return;
  cluster.nextLook = minute + 2 + Math.floor(random() * 3);
  const zero = { failedProposals: 0, fsyncs: 0, slowFsyncs: 0, commits: 0, slowCommits: 0 };
  const sum = { ...zero, leaderChanges: cluster.changes * members };
  const read = { ...processesOf(slotsOf(cluster.objects)), sum };
  cluster.counters = countersAfter(cluster.objects.cluster, { above: rollout.haltAbove, read }, now);
  cluster.objects = objectsOf(cluster);
}

/** One pass: all are looked at as they are before any of them acts. */
function decideAll(all: readonly Played[], fleet: EtcdFleet, at: Date): void {
  const objects = all.map((one) => one.objects);
  const [crowded, held] = [clustersWithoutRoom(objects, [fleet]), heldByStages(objects, [fleet], at)];
  for (const cluster of all.filter(({ hasBegun }) => !hasBegun)) {
    const { uid = '' } = cluster.objects.cluster.metadata;
    const stage = held.get(uid);
    const wait = stage && waitForStage({ stage, at })?.reason;
    const reason = wait ?? (crowded.has(uid) ? 'WaitingForRoom' : 'RollingConfiguration');
    if (reason === cluster.reason) continue;
    cluster.reason = reason;
    cluster.hasBegun = reason === 'RollingConfiguration';
    cluster.objects = objectsOf(cluster);
  }
}

/** By Knuth: products of uniform numbers. */
function poisson(mean: number, random: () => number): number {
  const least = Math.exp(-mean);
  let count = 0;
  for (let product = random(); product > least; product *= random()) count += 1;
  return count;
}
