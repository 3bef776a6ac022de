import assert from 'node:assert/strict';
import { setTimeout as pause } from 'node:timers/promises';
import type { EtcdBackup } from '../../manifests/api/etcd-backup.ts';
import type { EtcdCluster } from '../../manifests/api/etcd-cluster.ts';
import { urlOf } from '../../manifests/render/hosts.ts';
import { ports } from '../../manifests/render/names.ts';
import { resources } from '../../reconcile/interfaces/kube.ts';
import { backupStore } from '../e2e/support/backup-store.ts';
import { connectTo, lookUpAccess } from '../e2e/support/client.ts';
import { until } from '../e2e/support/until.ts';
import { type Ticking, untilConverged } from './converged.ts';
import { measure } from './measure.ts';
import { namespace, podsOf, type Stage } from './stage.ts';
import { aim } from './table.ts';
import { type Share, shardArgs } from './ticks.ts';
import { startWriterProcess } from './writer-process.ts';

/**
 * What each cluster is owed, beside however many others, at a tick a minute: a figure counts only where all of it held.
 * Some clusters have trouble at once, just before a tick; five minutes of ticks follow.
 */

/** Clusters of their own, with real members, that the trouble comes to; in Git beside the others. */
const troubled = { lost: 3, pushed: 1, alarmed: 1, saved: 1 } as const;
/** Of those, and their members. */
export const troubledClusters = Object.keys(troubled).length;
export const troubledMembers = Object.values(troubled).reduce((sum, one) => sum + one, 0);

const minutes = 5;
/** Of a lost member. */
const grace = '20s';
const most = { tickSeconds: 50, fullLookMs: 300_000, gapMs: 1_500 };

export async function pushTroubled({ work }: Stage, snapshotCount: number): Promise<string> {
  const documents = Object.entries(troubled).map(([name, replicas]) => ({
    apiVersion: 'etcd.ratchet.dev/v1alpha1',
    kind: 'EtcdCluster',
    metadata: { name, namespace },
    spec: {
      replicas,
      version: '3.6.16',
      storage: { size: '1Gi' },
      healing: { podGracePeriod: '5s', memberGracePeriod: grace },
      ...(name === 'pushed' && { etcd: { snapshotCount } }),
    },
  }));
  const text = documents.map((one) => JSON.stringify(one)).join('\n---\n');
  return await work.push(`snapshotCount ${snapshotCount}`, { 'clusters/prod/troubled.yaml': `${text}\n` });
}

interface Ticked {
  readonly seconds: number;
  readonly clusters: readonly {
    readonly namespace: string;
    readonly name: string;
    readonly outcome: string;
    readonly decision: { readonly kind: string; readonly reason: string };
  }[];
  readonly namespacesLeftOut?: Readonly<Record<string, unknown>>;
}

export interface LevelsAsked extends Ticking {
  /** Absent: its ticks see to all. */
  readonly share?: Share;
  /** That its ticks see to. */
  readonly clusters: number;
  /** A namespace of stand-ins that its ticks see to. */
  readonly standIns: string;
  /** Another one each time. */
  readonly number: number;
}

/** What was there after each tick. */
interface Seen {
  readonly ticks: readonly Ticked[];
  readonly told: number;
  readonly backupIsBegun: boolean;
  readonly hasLostMember: readonly boolean[];
  readonly oldestFullLook: number;
  readonly writer: { readonly lost: number; readonly gapMs: number };
}

/** Eleven; the text of each, and whether it held. */
const levels: readonly (readonly [string, (seen: Seen, asked: LevelsAsked) => boolean])[] = [
  [
    'each tick sees to every cluster and leaves no namespace out',
    ({ ticks }, { clusters }) =>
      ticks.every((one) => one.clusters.length === clusters + 1 && isEmpty(one.namespacesLeftOut)),
  ],
  [
    `each tick is over within ${most.tickSeconds} s`,
    ({ ticks }) => ticks.every(({ seconds }) => seconds <= most.tickSeconds),
  ],
  ['each cluster has had a full look within five minutes', ({ oldestFullLook }) => oldestFullLook <= most.fullLookMs],
  ['a push is acted on by the next tick', ({ ticks }) => of(ticks[0], namespace, 'pushed')?.outcome === 'acted'],
  ['its commit has a status when that tick is over', ({ told }) => told > 0],
  [
    'a new cluster is begun by the next tick, and Ready within three minutes',
    ({ ticks }, { standIns, number }) =>
      of(ticks[0], standIns, bornOf(number))?.outcome === 'acted' &&
      ticks.slice(0, 4).some((one) => of(one, standIns, bornOf(number))?.decision.kind === 'done'),
  ],
  [
    'a StatefulSet that another hand deletes is made anew by the next tick',
    ({ ticks }, { standIns }) => of(ticks[0], standIns, 'orders-0')?.outcome === 'acted',
  ],
  [
    'a member whose disk is lost is acted on within a tick and its grace, and replaced by the next one',
    ({ ticks, hasLostMember: [before, acted, after] }) =>
      before === true &&
      (acted === false || of(ticks[1], namespace, 'lost')?.outcome === 'acted') &&
      after === false &&
      of(ticks[2], namespace, 'lost')?.decision.kind === 'done',
  ],
  ['an alarm is acted on by the next tick', ({ ticks }) => of(ticks[0], namespace, 'alarmed')?.outcome === 'acted'],
  ['a backup that is asked for is begun by the next tick', ({ backupIsBegun }) => backupIsBegun],
  [
    `of the cluster with the lost disk no acknowledged write is lost, and none waits for ${most.gapMs} ms`,
    ({ writer: { lost, gapMs } }) => lost === 0 && gapMs < most.gapMs,
  ],
];

/**
 * Prints each level and whether it held, and leaves the clusters as they were.
 *
 * @throws when the trouble can't be made, or is not over afterwards
 */
export async function measureLevels(stage: Stage, asked: LevelsAsked): Promise<void> {
  const { kube, kubectl } = stage;
  const { standIns, number, clusters, share } = asked;
  const args = shardArgs(share);
  const backup = `asked-${number}`;
  const setting = { kubeconfig: stage.cluster.kubeconfigPath, namespace, name: 'lost', prefix: `levels-${number}` };
  const writer = await startWriterProcess(setting);
  await until('writes', async () => (await writer.report()).acknowledged > 50);
  const { sha, victim } = await makeTrouble(stage, { standIns, number, backup });

  const ticks: Ticked[] = [];
  const hasLostMember: boolean[] = [];
  let [told, backupIsBegun, oldestFullLook] = [0, false, 0];
  const started = performance.now();
  for (let minute = 0; minute <= minutes; minute += 1) {
    await pause(Math.max(0, started + minute * 60_000 - performance.now()));
    ticks.push(await tick(asked, args));
    const { status } = (await kube.get<EtcdCluster>(resources.clusters, namespace, 'lost')) ?? assert.fail();
    hasLostMember.push(status?.members?.some(({ name }) => name === victim) ?? false);
    if (minute > 0) continue;
    told = stage.forge.statuses.filter((one) => one.sha === sha).length;
    backupIsBegun = (await kube.get(resources.jobs, namespace, `${backup}-take-1`)) !== undefined;
  }
  const { items } = await kube.list<EtcdCluster>(resources.clusters, {});
  for (const { status } of items.filter((one) => share?.isOwn(one) ?? true))
    oldestFullLook = Math.max(oldestFullLook, Date.now() - Date.parse(status?.fullLook?.at ?? '1970-01-01'));
  const { gap } = await writer.report();
  const { lost } = await writer.finish();
  const seen: Seen = {
    ticks,
    told,
    backupIsBegun,
    hasLostMember,
    oldestFullLook,
    writer: { lost, gapMs: gap.milliseconds },
  };
  print(seen, asked);
  await kubectl(['-n', standIns, 'delete', 'etcdcluster', bornOf(number), '--wait=false']);
  await untilConverged({ ...asked, args }, clusters);
}

interface Trouble {
  readonly standIns: string;
  readonly number: number;
  readonly backup: string;
}

async function makeTrouble(
  stage: Stage,
  { standIns, number, backup }: Trouble,
): Promise<{ readonly sha: string; readonly victim: string }> {
  const { kube, kubectl } = stage;
  const group = 'etcd.ratchet.dev/v1alpha1';
  const { status } = (await kube.get<EtcdCluster>(resources.clusters, namespace, 'lost')) ?? assert.fail();
  const victim = status?.members?.find(({ name }) => name !== status.leader)?.name ?? assert.fail('no follower');
  await kubectl(['apply', '-f', '-'], { stdin: JSON.stringify(backupStore(namespace)) });
  const sha = await pushTroubled(stage, 5_000 + number);
  await kube.create<EtcdCluster>(resources.clusters, {
    apiVersion: group,
    kind: 'EtcdCluster',
    metadata: { name: bornOf(number), namespace: standIns },
    spec: { replicas: 1, version: '3.6.16', storage: { size: '1Gi' } },
  });
  await kube.create<EtcdBackup>(resources.backups, {
    apiVersion: group,
    kind: 'EtcdBackup',
    metadata: { name: backup, namespace },
    spec: { clusterName: 'saved', to: { object: 'pvc://backups/{{cluster}}/{{timestamp}}.db' } },
  });
  // By its pod: at the addresses of Services the stand-ins answer.
  const [pod] = await podsOf(kube, namespace, 'alarmed');
  const url = urlOf('https', pod?.status?.podIP ?? assert.fail('alarmed has no pod'), ports.client);
  const alarmed = connectTo({ ...(await lookUpAccess(kube, namespace, 'alarmed')), url }, 5_000);
  try {
    const { header } = await alarmed.maintenance.status();
    await alarmed.maintenance.alarm({ action: 'Activate', memberID: header.member_id, alarm: 'Nospace' });
  } finally {
    alarmed.close();
  }
  await kubectl(['-n', standIns, 'delete', 'statefulset', 'orders-0-0']);
  await kubectl(['-n', namespace, 'delete', 'pvc', victim, '--wait=false']);
  await kubectl(['-n', namespace, 'delete', 'pod', `${victim}-0`, '--grace-period=0', '--force']);
  return { sha, victim };
}

function bornOf(number: number): string {
  return `born-${number}`;
}

async function tick({ directory, env, options }: LevelsAsked, args: readonly string[]): Promise<Ticked> {
  const all = ['--output', 'json', ...args];
  const { stdout, wallMilliseconds } = await measure(`${directory}/tick.js`, all, env, options);
  return { ...(JSON.parse(stdout) as Omit<Ticked, 'seconds'>), seconds: wallMilliseconds / 1000 };
}

function of(tick: Ticked | undefined, inNamespace: string, name: string): Ticked['clusters'][number] | undefined {
  return tick?.clusters.find((one) => one.namespace === inNamespace && one.name === name);
}

function isEmpty(leftOut: Ticked['namespacesLeftOut'] = {}): boolean {
  return Object.keys(leftOut).length === 0;
}

function print(seen: Seen, asked: LevelsAsked): void {
  const { ticks, told, oldestFullLook, writer } = seen;
  const held = levels.map(([text, isHeld]) => [text, isHeld(seen, asked)] as const);
  console.log(`\nWhat ${asked.clusters} clusters are owed, in ${minutes} minutes with a tick in each:\n`);
  for (const [text, isMet] of held) console.log(aim(text, isMet));
  const seconds = ticks.map((one) => one.seconds.toFixed(1)).join(', ');
  console.log(`\nTicks of ${seconds} s; ${told} statuses of the commit after the first; the oldest full look was`);
  console.log(`${(oldestFullLook / 1000).toFixed(0)} s ago; no write took longer than ${writer.gapMs.toFixed(0)} ms.`);
  if (held.every(([, isMet]) => isMet)) return;
  console.log('\nNOT ALL HELD: the figures above do not count. What each tick did:');
  const others = [bornOf(asked.number), 'orders-0'].map((name) => [asked.standIns, name] as const);
  const places = [...Object.keys(troubled).map((name) => [namespace, name] as const), ...others];
  for (const [inNamespace, name] of places) {
    const each = ticks.map((tick) => of(tick, inNamespace, name));
    console.log(`  ${name}: ${each.map((one) => `${one?.outcome} ${one?.decision.reason}`).join(', ')}`);
  }
}
