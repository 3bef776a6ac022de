import type { ClusterMemberStatus } from '../../manifests/api/etcd-cluster-status.ts';
import { memberCell, roleOf } from './cluster-screen.ts';
import type { Asked, ExitCode } from './command.ts';
import { clusterNamed, dataText } from './objects.ts';
import { type Cell, table } from './table.ts';
import { sizeOf } from './words.ts';

/** The members, as etcd and their pods had it at the last pass. */
export async function members(name: string, asked: Asked): Promise<ExitCode> {
  const { status } = await clusterNamed(name, asked);
  const { out, err, output, colours } = asked;
  const list = status?.members ?? [];
  if (output !== 'text') out(dataText({ clusterID: status?.clusterID, leader: status?.leader, members: list }, output));
  else if (list.length === 0) err(`${asked.namespace}/${name} has no members yet\n`);
  else {
    const heads = ['NAME', 'ID', 'STATE', 'ROLE', 'VERSION', 'DB SIZE', 'IN USE'];
    out(
      table(
        heads,
        list.map((member) => memberRow(member, status?.leader, asked.now())),
        colours,
      ),
    );
  }
  return 0;
}

function memberRow(member: ClusterMemberStatus, leader: string | undefined, now: Date): readonly Cell[] {
  const { name, id, version, dbBytes, dbInUseBytes } = member;
  return [
    name,
    id ?? '-',
    memberCell(member, now),
    roleOf(member, leader),
    version ?? '-',
    sizeOf(dbBytes),
    sizeOf(dbInUseBytes),
  ];
}

/** The last steps and why they were taken, the newest first. */
export async function history(name: string, asked: Asked): Promise<ExitCode> {
  const { status } = await clusterNamed(name, asked);
  const { out, err, output, colours } = asked;
  const entries = (status?.history ?? []).toReversed();
  if (output !== 'text') out(dataText({ history: entries }, output));
  else if (entries.length === 0) err(`nothing was done for ${asked.namespace}/${name} yet\n`);
  else {
    const rows = entries.map(({ at, action, target, outcome, reason, message }): readonly Cell[] => [
      at,
      `${action} ${target ?? ''}`.trim(),
      { tone: outcome === 'failed' ? 'bad' : 'good', text: outcome },
      reason,
      message,
    ]);
    out(table(['AT', 'STEP', 'OUTCOME', 'REASON', 'MESSAGE'], rows, colours));
  }
  return 0;
}
