import type { EtcdBackup } from '../../manifests/api/etcd-backup.ts';
import type { EtcdBackupSchedule } from '../../manifests/api/etcd-backup-schedule.ts';
import type { EtcdCluster } from '../../manifests/api/etcd-cluster.ts';
import type { ClusterMemberStatus } from '../../manifests/api/etcd-cluster-status.ts';
import type { Pod } from '../../manifests/kube-types.ts';
import { printable } from '../../manifests/printable.ts';
import { annotations, labels } from '../../manifests/render/names.ts';
import { resources } from '../../reconcile/interfaces/kube.ts';
import { newestFirst } from '../page/backups.ts';
import { quotaOf, toneOfShare } from '../page/quota.ts';
import { clusterState, memberState, readyState, scheduleState, type Tone } from '../page/state.ts';
import type { Asked } from './command.ts';
import { firstProblemText, problemsAmong } from './first-problem.ts';
import { type Lag, lagOf } from './lag.ts';
import { clusterNamed, dataText, nextCommand } from './objects.ts';
import { listPermitted, tellForbidden } from './permitted.ts';
import { type Cell, coloured, table } from './table.ts';
import { dayOf, since, sizeOf, stateCell, until } from './words.ts';

interface Screen {
  readonly cluster: EtcdCluster;
  readonly pods: readonly Pod[];
  readonly backups: readonly EtcdBackup[];
  readonly schedules: readonly EtcdBackupSchedule[];
  readonly lag: Lag;
  /** Unknown where members run with another than the spec's. */
  readonly quota: number | undefined;
  readonly now: Date;
}

/** One cluster on one screen. @returns whether a person is needed */
export async function clusterScreen(name: string, asked: Asked): Promise<boolean> {
  const { out, err, output, colours, namespace } = asked;
  const cluster = await clusterNamed(name, asked);
  const forbidden = new Set<string>();
  const [pods, backups, schedules] = await Promise.all([
    listPermitted<Pod>(asked, resources.pods, { namespace, labelSelector: `${labels.cluster}=${name}` }, forbidden),
    listPermitted<EtcdBackup>(asked, resources.backups, { namespace }, forbidden),
    listPermitted<EtcdBackupSchedule>(asked, resources.schedules, { namespace }, forbidden),
  ]);
  const lag = await lagOf(cluster, pods, asked);
  const screen: Screen = {
    ...{ cluster, pods, lag, quota: quotaOf(cluster), now: asked.now() },
    backups: newestFirst(backups.filter(({ spec }) => spec.clusterName === name)),
    schedules: schedules.filter(({ spec }) => spec.template.clusterName === name),
  };
  const problems = problemsAmong({ fleets: [], clusters: [cluster] }, undefined, screen.now);
  if (output !== 'text') {
    out(dataText({ ...factsOf(screen), notRead: [...forbidden] }, output));
    return problems.length > 0;
  }
  const state = clusterState(cluster);
  const lines = linesOf(screen, asked);
  const widest = Math.max(...lines.map(([label]) => label.length));
  out(`${namespace}/${name}: ${coloured(stateCell(state), colours)}\n`);
  if (problems.length === 0) out(`  ${printable(state.message)}\n`);
  out('\n');
  for (const [label, said] of lines) out(`${label.padEnd(widest)}   ${shown(said, colours)}\n`);
  out(`\n${membersText(screen, colours)}`);
  if (problems.length > 0) out(`\n${firstProblemText(problems, colours)}`);
  tellForbidden(forbidden, asked);
  if (lag.unknown !== undefined) err(`LAG is not known of all members: ${printable(lag.unknown)}\n`);
  return problems.length > 0;
}

function shown(cell: Cell, colours: boolean): string {
  return coloured(typeof cell === 'string' ? printable(cell) : { ...cell, text: printable(cell.text) }, colours);
}

type Line = readonly [label: string, said: Cell];

function linesOf(screen: Screen, asked: Asked): readonly Line[] {
  const { cluster, quota, now } = screen;
  const { metadata, spec, status } = cluster;
  const wanted = spec.version.replace(/^v/, '');
  const runs = status?.version;
  const step = status?.step;
  const fleet = metadata.annotations?.[annotations.fleetName];
  const fullest = fullestOf(cluster);
  return [
    ['Members', `${status?.readyReplicas ?? 0} of ${spec.replicas} healthy`],
    ['Version', runs === undefined || runs === wanted ? wanted : `${runs}, and ${wanted} is asked for`],
    ...(step
      ? [['Doing now', `${`${step.action} ${step.target ?? ''}`.trim()}, for ${since(step.startedAt, now)}`] as const]
      : []),
    ['Certificates', certificatesCell(cluster, now)],
    [
      'Quota',
      fullest === undefined || quota === undefined
        ? sizeOf(quota)
        : {
            tone: toneOfShare(fullest / quota),
            text: `${sizeOf(quota)}, and ${shareOf(fullest, quota)} of it is full`,
          },
    ],
    ['Volume', String(spec.storage.size)],
    ['Last backup', lastBackup(screen, asked)],
    ...screen.schedules.map((one): Line => ['Schedule', scheduleCell(one, now)]),
    ...(fleet === undefined ? [] : [['Fleet', `${fleet}${status?.revision ? `, ${status.revision}` : ''}`] as const]),
  ];
}

const dayMs = 86_400_000;

function certificatesCell({ spec, status }: EtcdCluster, now: Date): Cell {
  if (spec.tls?.mode === 'Disabled') return 'none: TLS is off';
  if (!status?.certificates) return 'none yet';
  const { notAfter, secretName } = status.certificates;
  const left = Date.parse(notAfter) - now.getTime();
  const tone: Tone = left < 3 * dayMs ? 'bad' : left < 14 * dayMs ? 'busy' : 'good';
  return { tone, text: `the first one ends ${until(notAfter, now)} (${dayOf(notAfter)}): ${secretName}` };
}

function lastBackup({ cluster, backups, now }: Screen, asked: Asked): Cell {
  const [newest] = backups;
  if (!newest) return `none; take one: ${nextCommand(asked, `backup ${cluster.metadata.name}`)}`;
  const state = readyState(newest.status);
  const { takenAt, bytes } = newest.status ?? {};
  const facts = [
    `${newest.metadata.name} ${state.word}`,
    ...(takenAt === undefined ? [] : [`taken ${since(takenAt, now)} ago`]),
    ...(bytes === undefined ? [] : [sizeOf(bytes)]),
  ];
  return { tone: state.tone, text: facts.join(', ') };
}

function scheduleCell(schedule: EtcdBackupSchedule, now: Date): Cell {
  const { metadata, spec, status } = schedule;
  const { tone, word } = scheduleState(schedule);
  const next = status?.nextAt === undefined ? '' : `, next ${until(status.nextAt, now)}`;
  const good = status?.lastGood ? `, last good ${since(status.lastGood.takenAt, now)} ago` : '';
  return { tone, text: `${metadata.name} (${spec.schedule}) ${word}${next}${good}` };
}

function fullestOf({ status }: EtcdCluster): number | undefined {
  const sizes = (status?.members ?? []).flatMap(({ dbBytes }) => dbBytes ?? []);
  return sizes.length === 0 ? undefined : Math.max(...sizes);
}

function shareOf(bytes: number, quota: number): string {
  return `${Math.round((bytes / quota) * 100)} %`;
}

function membersText(screen: Screen, colours: boolean): string {
  const members = screen.cluster.status?.members ?? [];
  if (members.length === 0) return 'it has no members yet\n';
  const heads = ['MEMBER', 'STATE', 'ROLE', 'NODE', 'VERSION', 'DB SIZE', 'IN USE', 'QUOTA', 'LAG'];
  return table(
    heads,
    members.map((member) => memberRow(member, screen)),
    colours,
  );
}

function memberRow(member: ClusterMemberStatus, screen: Screen): readonly Cell[] {
  const { cluster, lag, quota, now } = screen;
  const { name, version, dbBytes, dbInUseBytes } = member;
  const role = roleOf(member, cluster.status?.leader);
  return [
    ...[name, memberCell(member, now), role, nodeOf(name, screen) ?? '-', version ?? '-'],
    ...[sizeOf(dbBytes), sizeOf(dbInUseBytes)],
    dbBytes === undefined || quota === undefined
      ? '-'
      : { tone: toneOfShare(dbBytes / quota), text: shareOf(dbBytes, quota) },
    String(lag.behind.get(name) ?? '-'),
  ];
}

function nodeOf(member: string, { pods }: Screen): string | undefined {
  return pods.find(({ metadata }) => metadata.labels?.[labels.peer] === member)?.spec.nodeName;
}

/** `Not healthy for 3 h` */
export function memberCell(member: ClusterMemberStatus, now: Date): Cell {
  const { tone, word } = memberState(member);
  const time = tone === 'good' ? undefined : member.unhealthySince;
  return { tone, text: time === undefined ? word : `${word} for ${since(time, now)}` };
}

export function roleOf({ name, role }: ClusterMemberStatus, leader: string | undefined): string {
  return name === leader ? 'leader' : (role ?? '-');
}

function factsOf(screen: Screen) {
  const { cluster, backups, schedules, lag, quota } = screen;
  const { metadata, spec, status } = cluster;
  const { word, reason, message } = clusterState(cluster);
  const [last] = backups;
  return {
    ...{ namespace: metadata.namespace, name: metadata.name, state: word, reason, message },
    ...{ replicas: spec.replicas, readyReplicas: status?.readyReplicas ?? 0 },
    ...{ version: status?.version, leader: status?.leader, certificates: status?.certificates, quotaBytes: quota },
    members: (status?.members ?? []).map((one) => ({
      ...one,
      node: nodeOf(one.name, screen),
      lag: lag.behind.get(one.name),
    })),
    lastBackup: last && {
      name: last.metadata.name,
      state: readyState(last.status).word,
      takenAt: last.status?.takenAt,
    },
    schedules: schedules.map((one) => ({
      ...{ name: one.metadata.name, state: scheduleState(one).word },
      ...{ nextAt: one.status?.nextAt, lastGood: one.status?.lastGood?.takenAt },
    })),
  };
}
