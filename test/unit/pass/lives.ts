import { createHash } from 'node:crypto';
import { pass } from '../../../functions/pass/pass.ts';
import type { PassContext } from '../../../functions/pass/pass-context.ts';
import type { EtcdBackup } from '../../../manifests/api/etcd-backup.ts';
import type { EtcdBackupSchedule } from '../../../manifests/api/etcd-backup-schedule.ts';
import type { EtcdFleet } from '../../../manifests/api/etcd-fleet.ts';
import type { EtcdRestore } from '../../../manifests/api/etcd-restore.ts';
import type { Pod } from '../../../manifests/kube-types.ts';
import { KubeError, type KubeObject, resources } from '../../../reconcile/interfaces/kube.ts';
import { offer, offerNamed } from '../../support/fakes/offered.ts';
import { virtualTime } from '../../support/virtual-time.ts';
import { nodesWorld } from '../../support/world/nodes.ts';
import { orderly } from '../../support/world/orderly.ts';
import { passIn } from '../../support/world/passing.ts';
import { createWorld, namespace, type World } from '../../support/world/world.ts';
import { endJobs } from './ended-jobs.ts';

/** Lives of a world with objects of every kind, drawn by a seed, and what each pass asked, wrote and answered. */

export type LifeKind = 'plain' | 'nodes' | 'waiting';

export interface PassTrace {
  /** What happened before it. */
  readonly after: string;
  /** The requests of each turn, then what the pass came to. */
  readonly lines: readonly Line[];
}

export interface Line {
  readonly short: string;
  /** With bodies, and with reasons. */
  readonly full: string;
}

interface Stage {
  readonly world: World;
  /** What others do between two passes. */
  readonly goOn: () => Promise<void>;
  readonly more: readonly (readonly [string, (draw: Draw) => void | Promise<void>])[];
}

type Draw = (below: number) => number;

const api = 'etcd.ratchet.dev/v1alpha1' as const;
const to = {
  object: 'gs://backups/{{namespace}}/{{cluster}}/{{timestamp}}.db',
  gcs: { keySecretName: 'key' },
} as const;

export async function lived(kind: LifeKind, seed: number, passes: number): Promise<readonly PassTrace[]> {
  const draw = drawnFrom(seed);
  const stage = kind === 'nodes' ? await withNodes() : plain();
  const traces: PassTrace[] = [];
  for (let number = 0; number < passes; number += 1) {
    const [first] = stage.more;
    const [happened, happen] = number === 0 && first ? first : pick([...happenings(stage.world), ...stage.more], draw);
    await happen(draw);
    const [how, options] = pick(manners[kind], draw);
    const context = { ...options, ...(kind === 'nodes' && { rebootsIn: 'etcd-ratchet-reboots' }) };
    traces.push({ after: `${happened}; ${how}`, lines: await traced(stage.world, number, context) });
    await stage.goOn();
    stage.world.advance(pick([2, 20, 65, 600], draw));
  }
  return traces;
}

type Manner = readonly [string, Partial<PassContext>];

/** Mostly ticks. */
const ticks: readonly Manner[] = [
  ...Array.from({ length: 8 }, () => ['tick', {}] as const),
  ['follow-up', { followUp: true }],
  ['dry run', { dryRun: true }],
  ['one cluster', { clusters: [{ namespace, name: 'orders' }], tellFleets: true }],
  ['one fleet', { fleet: { namespace, name: 'shop' } }],
];
const waits: Manner = ['waits', { followUp: true, waitMs: 25_000 }];
const manners: Readonly<Record<LifeKind, readonly Manner[]>> = {
  plain: ticks,
  nodes: [...ticks, waits, waits],
  waiting: [waits],
};

function plain(): Stage {
  const world = createWorld();
  return {
    world,
    goOn: async () => {
      world.settle();
      endJobs(world.kube);
    },
    more: [
      ['a cluster is made or changed', (draw) => world.apply({ replicas: pick([1, 3], draw) })],
      ['an upgrade', () => world.apply({ version: '3.6.17' })],
      ['a cluster is removed', () => world.remove()],
      ['nothing', () => undefined],
      ['nothing', () => undefined],
    ],
  };
}

async function withNodes(): Promise<Stage> {
  const stage = await nodesWorld();
  const node = (draw: Draw) => `node-${1 + draw(3)}`;
  return {
    world: stage.world,
    goOn: async () => {
      await stage.pass();
      endJobs(stage.world.kube);
    },
    more: [
      ['a node is to be rebooted', (draw) => stage.ask(node(draw))],
      ['a node is to be rebooted', (draw) => stage.ask(node(draw))],
      ['a reboot is called off', (draw) => stage.withdraw(node(draw))],
      ['nothing', () => undefined],
    ],
  };
}

function happenings(world: World): Stage['more'] {
  const { kube } = world;
  offerNamed(kube, namespace, to);
  offer(kube, namespace, { kind: 'PersistentVolumeClaim', name: 'backups' });
  const make = (resource: (typeof resources)[keyof typeof resources], object: KubeObject) => async () => {
    await kube.create(resource, object).catch((error: unknown) => {
      if (!(error instanceof KubeError && error.reason === 'AlreadyExists')) throw error;
    });
  };
  const metadata = (name: string) => ({ name, namespace });
  const fleet: EtcdFleet = {
    apiVersion: api,
    kind: 'EtcdFleet',
    metadata: metadata('shop'),
    spec: { git: { url: 'https://git.example.com/shop.git', ref: 'main' }, suspend: true },
  };
  const cluster = { name: 'copy', spec: { replicas: 1, version: '3.6.16', storage: { size: '1Gi' } } } as const;
  const restored = { ...cluster, spec: { ...cluster.spec, tls: { mode: 'Disabled' as const } } };
  return [
    ['a fleet', make(resources.fleets, fleet)],
    [
      'a backup',
      make(resources.backups, {
        apiVersion: api,
        kind: 'EtcdBackup',
        metadata: metadata('last'),
        spec: { clusterName: 'orders', to },
      } as EtcdBackup),
    ],
    [
      'a schedule',
      make(resources.schedules, {
        apiVersion: api,
        kind: 'EtcdBackupSchedule',
        metadata: metadata('often'),
        spec: { schedule: '*/10 * * * *', template: { clusterName: 'orders', to } },
      } as EtcdBackupSchedule),
    ],
    [
      'a restore of a backup',
      make(resources.restores, {
        apiVersion: api,
        kind: 'EtcdRestore',
        metadata: metadata('of-backup'),
        spec: { backupName: 'last', cluster: { ...restored, name: 'again' } },
      } as EtcdRestore),
    ],
    [
      'a restore of an object',
      make(resources.restores, {
        apiVersion: api,
        kind: 'EtcdRestore',
        metadata: metadata('of-object'),
        spec: { from: { object: 'pvc://backups/a.db' }, cluster: restored },
      } as EtcdRestore),
    ],
    ['a member dies', (draw) => world.kill(pick(podsOf(world), draw) ?? '')],
  ];
}

function podsOf({ kube }: World): readonly string[] {
  const names = kube.stored<Pod>(resources.pods).map(({ metadata }) => metadata.name);
  return names.filter((name) => name.endsWith('-0')).toSorted();
}

async function traced(world: World, number: number, options: Partial<PassContext>): Promise<readonly Line[]> {
  const lines: Line[] = [];
  const note = (short: string, full = short) => lines.push({ short, full });
  const { kube, isBusy } = orderly(world.kube, (turn) =>
    note(turn.map(({ what }) => what).join(' | '), turn.map(({ what, body }) => `${what} ${body}`).join(' | ')),
  );
  using time = virtualTime(isBusy);
  for (const ms of options.waitMs === undefined ? [] : [300, 4_000, 11_000])
    time.after(ms, () => {
      note('meanwhile members start, and Jobs end');
      world.settle();
      endJobs(world.kube);
    });
  const passed = pass(passIn(world, { kube, rebootsIn: undefined, ...options }, `pass-${number}`));
  const { fleets, clusters, results, workRemains, moved, unsettled, nextLook } = await time.until(passed);
  const { backup: backups = [], nodePolicy: nodes = [] } = results;
  for (const { fleet, result } of fleets) note(`fleet ${fleet.metadata.name} ${result.kind}`);
  for (const { name, decision, outcome } of clusters)
    note(`cluster ${name} ${outcome}`, `cluster ${name} ${outcome} ${decision.kind} ${decision.reason}`);
  for (const { name, reason, outcome } of backups)
    note(`backup ${name} ${outcome}`, `backup ${name} ${outcome} ${reason}`);
  for (const { name, reason, outcome } of nodes) note(`nodes ${name} ${outcome}`, `nodes ${name} ${outcome} ${reason}`);
  note(JSON.stringify({ workRemains, moved, unsettled, nextLook: nextLook?.toISOString() }));
  return lines;
}

/** Short enough to be kept. */
export function digestOf(text: string): string {
  return createHash('sha256').update(text).digest('hex').slice(0, 12);
}

function pick<T>(all: readonly T[], draw: Draw): T {
  return all[draw(all.length)] as T;
}

/** mulberry32 */
function drawnFrom(seed: number): Draw {
  let state = seed;
  return (below) => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return Math.floor((((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32) * below);
  };
}
