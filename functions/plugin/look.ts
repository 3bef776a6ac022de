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
