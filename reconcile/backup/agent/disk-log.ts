import { lstat, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { type DiskLog, LogUnreadable } from '../../jobs/disk-log.ts';
import { valueIn } from './bolt.ts';
import { ignoreMissing } from './files.ts';
import { fieldsOf } from './protobuf.ts';
import { readWalFile, type WalOptions, walRecords } from './wal-file.ts';

/** etcd keeps five. */
const mostFiles = 1000;
const walName = /^[0-9a-f]{16}-[0-9a-f]{16}\.wal$/;

/**
 * Reads a member's disk, whether or not an etcd runs on it. Not a byte is changed.
 * @throws {LogUnreadable}
 */
export async function readDiskLog(dataDirectory: string, signal: AbortSignal): Promise<DiskLog> {
  const member = join(dataDirectory, 'member');
  const directory = join(member, 'wal');
  const names = ((await readdir(directory).catch(ignoreMissing)) ?? []).filter((name) => walName.test(name));
  if (names.length === 0) throw new LogUnreadable(`there is no log in ${directory}`);
  if (names.length > mostFiles) throw new LogUnreadable(`there are ${names.length} files of a log in ${directory}`);
  // Before the log, which an etcd that runs may go on writing.
  const consistentIndex = await consistentIndexOf(join(member, 'snap', 'db'));
  const { owner, state, last } = await newestIn(directory, names.toSorted().toReversed(), signal);
  // etcd starts, and applies none of its next entries up to there: nothing that is written is kept (seen with 3.6.16).
  if (consistentIndex > last.index)
    throw new LogUnreadable(
      `the log in ${directory} ends at entry ${last.index}, and its database has applied ${consistentIndex}`,
    );
  const [clusterId, memberId] = [owner.cluster.toString(16), owner.member.toString(16)];
  return { clusterId, memberId, ...state, lastTerm: last.term, lastIndex: last.index, consistentIndex };
}

interface Entry {
  readonly term: bigint;
  readonly index: bigint;
}
interface State {
  readonly term: bigint;
  readonly vote: bigint;
  readonly commit: bigint;
}
interface Owner {
  readonly cluster: bigint;
  readonly member: bigint;
}
interface Found {
  owner?: Owner;
  state?: State;
  last?: Entry;
  snapshot?: Entry;
}

/** Each file begins with the state. One that was just begun has no entry: the last one is in the file before it. */
async function newestIn(
  directory: string,
  newestFirst: readonly string[],
  signal: AbortSignal,
): Promise<{ readonly owner: Owner; readonly state: State; readonly last: Entry }> {
  let newest: Found = {};
  for (const [age, name] of newestFirst.entries()) {
    newest = { ...(await foundIn(join(directory, name), { isNewest: age === 0, signal })), ...newest };
    if (newest.owner && newest.state && newest.last) break;
  }
  const { owner, state = { term: 0n, vote: 0n, commit: 0n }, last, snapshot } = newest;
  if (!owner) throw new LogUnreadable(`the log in ${directory} does not say whose it is`);
  // A leader sends a snapshot to a member that is far behind. It counts once it is known to be committed.
  const begins = snapshot && snapshot.index <= state.commit ? snapshot : undefined;
  const ends = last && last.index >= (begins?.index ?? 0n) ? last : (begins ?? { term: 0n, index: 0n });
  // Lost at its end: etcd refuses to start on it.
  if (state.commit > ends.index)
    throw new LogUnreadable(
      `the log in ${directory} ends at entry ${ends.index}, and says that ${state.commit} are committed`,
    );
  return { owner, state, last: ends };
}

/** An entry takes the place of all that were written with its index, or a higher one, before it. */
async function foundIn(path: string, options: WalOptions): Promise<Found> {
  const found: Found = {};
  await readWalFile(path, options, (type, data) => {
    if (type === walRecords.crc) return;
    const fields = fieldsOf(data);
    if (!fields) throw new LogUnreadable(`${path}: a record is none of etcd’s`);
    const [first, second, third] = [fields.number(1), fields.number(2), fields.number(3)];
    if (type === walRecords.state) found.state = { term: first, vote: second, commit: third };
    else if (type === walRecords.entry) found.last = { term: second, index: third };
    else if (type === walRecords.snapshot) found.snapshot = { index: first, term: second };
    else if (type === walRecords.metadata) found.owner = { member: first, cluster: second };
  });
  return found;
}

async function consistentIndexOf(database: string): Promise<bigint> {
  const isFile = (await lstat(database).catch(ignoreMissing))?.isFile() === true;
  const value = isFile ? await valueIn(database, 'meta', 'consistent_index') : undefined;
  if (value?.length !== 8) throw new LogUnreadable(`${database} is no database of etcd`);
  return value.readBigUInt64BE();
}
