import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { copyFile, mkdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { until } from '../e2e/support/until.ts';
import { post } from '../integration/clients/etcd-members.ts';
import { type NewMember, newMember, type Programs, restoreData, serves, startMember } from './backup-by-hand.ts';

/** What a careful person types to bring three members back from one snapshot. */

export interface Task {
  readonly programs: Programs;
  readonly snapshot: string;
  /** On the disk that the cluster's volumes are on; made here, and gone at the end. */
  readonly directory: string;
  readonly keys: number;
}

/** Seconds from the first command. */
export interface Sizes {
  /** One member serves every key. */
  readonly first: number;
  /** Three voters serve every key. */
  readonly full: number;
}

interface Members {
  readonly first: NewMember;
  readonly others: readonly NewMember[];
  readonly bringBack: (member: NewMember, members: readonly NewMember[]) => Promise<void>;
  readonly start: (member: NewMember, members: readonly NewMember[], state: 'new' | 'existing') => void;
  /** Seconds since the beginning. */
  readonly since: () => number;
}

const patience = { every: 50, within: 300 };

/** One member is restored and started; each other one is added as a learner, started and promoted. */
export async function growByHand(task: Task): Promise<Sizes> {
  return await withMembers(task, async ({ first, others, bringBack, start, since }) => {
    await bringBack(first, [first]);
    start(first, [first], 'new');
    await serves(first.clientUrl, task.keys);
    const seconds = since();
    const there = [first];
    for (const member of others) {
      const ID = await addLearner(first, member);
      there.push(member);
      start(member, there, 'existing');
      const promoted = async () => 'members' in (await post(first.clientUrl, '/v3/cluster/member/promote', { ID }));
      await until(`${member.name} is a voter`, promoted, patience);
      await serves(member.clientUrl, task.keys);
    }
    return { first: seconds, full: since() };
  });
}

/** As etcd's documentation has it: the snapshot is restored for each of three members, then all are started. */
export async function restoreThreeByHand(task: Task): Promise<Sizes> {
  return await withMembers(task, async ({ first, others, bringBack, start, since }) => {
    const members = [first, ...others];
    // On three machines they would not wait for each other either.
    await Promise.all(members.map((member) => bringBack(member, members)));
    for (const member of members) start(member, members, 'new');
    const seen = members.map(async ({ clientUrl }) => {
      await serves(clientUrl, task.keys);
      return since();
    });
    return { first: await Promise.race(seen), full: Math.max(...(await Promise.all(seen))) };
  });
}

async function withMembers(
  { programs, snapshot, directory }: Task,
  work: (members: Members) => Promise<Sizes>,
): Promise<Sizes> {
  await mkdir(directory, { recursive: true });
  const children: ChildProcess[] = [];
  const dataOf = ({ name }: NewMember) => join(directory, name);
  const started = performance.now();
  try {
    return await work({
      first: newMember('m0'),
      others: [newMember('m1'), newMember('m2')],
      bringBack: async (member, members) => {
        const copy = join(directory, `${member.name}.db`);
        await copyFile(snapshot, copy);
        await restoreData(programs, copy, dataOf(member), member, members);
      },
      start: (member, members, state) => {
        const more = [`--initial-cluster-state=${state}`];
        children.push(startMember(programs, dataOf(member), member, members, more));
      },
      since: () => (performance.now() - started) / 1000,
    });
  } finally {
    await Promise.all(children.map(end));
    await rm(directory, { recursive: true, force: true });
  }
}

/** Refused while etcd has not been connected to all members for five seconds: asked again, as a person does. */
async function addLearner(first: NewMember, { name, peerUrl }: NewMember): Promise<string> {
  return await until(
    `${name} is added`,
    async () => {
      const asked = { peerURLs: [peerUrl], isLearner: true };
      const { member } = await post(first.clientUrl, '/v3/cluster/member/add', asked);
      return (member as { readonly ID: string } | undefined)?.ID;
    },
    patience,
  );
}

async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const ended = once(child, 'exit');
  child.kill('SIGKILL');
  await ended;
}
