import { mkdir, rm } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { BackupFailure } from '../../jobs/failure.ts';
import { type Fetched, type FetchRequest, type FetchTools, fetchSnapshot } from './fetch.ts';
import { placeData, whatIsPresent } from './place.ts';
import { run } from './run-program.ts';

export interface RestoreRequest extends FetchRequest {
  /** The asker, so that a repeated request finds what it made. */
  readonly id: string;
  /** etcd's data directory: absolute, in a directory that is ours, as of a PVC's subdirectory. */
  readonly dataDirectory: string;
  /** The program, of the version that is to run on the data. */
  readonly etcdutl: string;
  readonly member: RestoredMember;
}

interface RestoredMember {
  readonly name: string;
  readonly peerUrl: string;
  /** Of a new cluster: members of the old one must not be able to join. */
  readonly token: string;
  /** Revisions that the restored store is ahead, so that watchers can't go back in time. etcdutl 3.6 and later. */
  readonly bumpRevision?: number;
}

export interface Restored {
  readonly dataDirectory: string;
  /** What was restored; `undefined` where an earlier call with this ID had done it all. */
  readonly fetched: Fetched | undefined;
}

/**
 * Makes a member's data directory out of a snapshot, alone in a new cluster. It gets its name when it is whole;
 * existing data are never touched. @throws {BackupFailure} DataPresent for data that this request did not restore
 */
export async function restoreSnapshot(request: RestoreRequest, tools: FetchTools): Promise<Restored> {
  const { dataDirectory, id } = request;
  const restorer = { id, attempt: 0 };
  if ((await whatIsPresent(dataDirectory, restorer)) === 'made') return { dataDirectory, fetched: undefined };
  const fetched = await fetchSnapshot(request, tools);
  const parent = dirname(dataDirectory);
  const temporary = join(parent, `.restoring-${basename(dataDirectory)}`);
  await mkdir(parent, { recursive: true });
  await rm(temporary, { recursive: true, force: true });
  await run(request.etcdutl, restoreArguments(fetched.file, temporary, request.member), {
    signal: tools.signal,
    failed: notRestorable,
  });
  await placeData(temporary, dataDirectory, restorer);
  return { dataDirectory, fetched };
}

function restoreArguments(file: string, directory: string, member: RestoredMember): readonly string[] {
  const { name, peerUrl, token, bumpRevision } = member;
  return [
    'snapshot',
    'restore',
    file,
    `--name=${name}`,
    `--data-dir=${directory}`,
    `--initial-cluster=${name}=${peerUrl}`,
    `--initial-cluster-token=${token}`,
    `--initial-advertise-peer-urls=${peerUrl}`,
    ...(bumpRevision === undefined ? [] : [`--bump-revision=${bumpRevision}`, '--mark-compacted']),
  ];
}

function notRestorable(said: string): BackupFailure {
  return new BackupFailure(
    'NotRestorable',
    `etcdutl does not restore the snapshot: ${said}; see that it is not of a newer minor than etcdutl, or use another backup`,
  );
}
