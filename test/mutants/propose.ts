import { globSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { type Guard, guardsIn } from './guards.ts';
import { type Mutant, mutated } from './mutant.ts';
import { rowsIn } from './rows.ts';

const checkout = resolve(import.meta.dirname, '../..');

/** Where guards are looked for, and the tests of that room. Patterns of files, from the root of the checkout. */
interface Room {
  readonly files: readonly string[];
  readonly killers: readonly string[];
  /** Absent: guards. */
  readonly finds?: (source: string) => readonly Guard[];
}

const cluster = 'reconcile/cluster';
const unit = 'test/unit/cluster';

/** Rooms of which no person has picked the guards one by one. */
export const rooms = {
  adoption: {
    files: [
      `${cluster}/{know,decide/rules}/adoption/*.ts`,
      `${cluster}/act/actions/membership/remove-inherited.ts`,
      `${cluster}/observe/ask-existing.ts`,
    ],
    killers: [
      `${unit}/{adopt*,ask-existing,finish-deletion}.test.ts`,
      'test/unit/plugin/adopt*.test.ts',
      `${unit}/world/adoption*.test.ts`,
    ],
  },
  rollback: {
    files: [
      `${cluster}/decide/rules/recovery/roll-back.ts`,
      `${cluster}/act/actions/recovery/{begin-rollback,call-off-rollback,restore-snapshot,conclude-restore,drop-peers}.ts`,
    ],
    killers: [
      `${unit}/{roll-back,restore-snapshot}.test.ts`,
      `${unit}/actions/{restore*,recovery}.test.ts`,
      `${unit}/world/roll*back*.test.ts`,
    ],
  },
  'hand-over': {
    files: [`${cluster}/decide/rules/recovery/hand-over.ts`, `${cluster}/know/recovery/outvoted.ts`],
    killers: [
      `${unit}/{hand-over,roll-back,restore-snapshot,recover-quorum,recovery*,new-life}.test.ts`,
      `${unit}/world/{roll*back*,recover,restored}.test.ts`,
    ],
  },
  sleep: {
    files: [
      `${cluster}/decide/rules/deletion/{hibernate,back-up-before-hibernation}.ts`,
      `${cluster}/act/actions/deletion/hibernate-members.ts`,
      `${cluster}/know/backups/hibernation-backup.ts`,
    ],
    killers: [
      `${unit}/{back-up-first,back-up-before-hibernation,hibernat*,maintenance,room,actions/volumes}.test.ts`,
      `${unit}/world/{hibernat*,final-backup}.test.ts`,
    ],
  },
  schedules: { files: ['reconcile/schedule/*.ts'], killers: ['test/unit/schedule/*.test.ts'] },
  retention: {
    files: ['reconcile/backup/agent/{retention,own-backups,prune}.ts'],
    killers: ['test/unit/backup/{own-backups,retention}.test.ts', 'test/integration/backup/directory.test.ts'],
  },
  nodes: { files: ['reconcile/nodes/**/*.ts'], killers: ['test/unit/nodes/*.test.ts'] },
  tables: {
    files: [
      'manifests/api/{reserved-flags,version-defects}.ts',
      'reconcile/{jobs/failure,clients/etcd-errors,backup/stores/s3/s3-failures}.ts',
      `${cluster}/{decide/what-may-go-on,know/set-aside,know/membership/learners-time,know/volumes/sealed-disk}.ts`,
      `${cluster}/{decide/rules/birth/adopt,act/actions/birth/seal-members,act/actions/recovery/stop-members}.ts`,
    ],
    killers: [
      'test/unit/manifests/{reserved-flags,build-args,sealed-disk}.test.ts',
      'test/unit/{backup/failures,backup/s3-words,clients/etcd-errors}.test.ts',
      `${unit}/{what-may-go-on,set-aside,learners-time,outage,life,other-disk,adopt-and-start}.test.ts`,
      `${unit}/actions/{membership,volumes,recovery}.test.ts`,
    ],
    finds: rowsIn,
  },
} as const satisfies Readonly<Record<string, Room>>;

export type RoomName = keyof typeof rooms;

/** Every guard, or row, of a room that no table takes out in the same way, each as a mutant for all its tests. */
export function proposed(name: RoomName, known: readonly Mutant[]): readonly Mutant[] {
  const { files, killers, finds = guardsIn }: Room = rooms[name];
  const [first, ...others] = filesOf(killers);
  if (first === undefined) throw new TypeError(`no test is left of the room "${name}"`);
  return filesOf(files).flatMap((file) => {
    const source = readFileSync(join(checkout, file), 'utf8');
    const left = (change: Pick<Mutant, 'from' | 'to'>) => mutated(source, change).replaceAll(/\s+/g, '');
    const taken = new Set(known.filter((mutant) => mutant.file === file).map(left));
    return finds(source)
      .filter((guard) => !taken.has(left(guard)))
      .map((guard) => ({ file, ...guard, killers: [first, ...others] as const }));
  });
}

function filesOf(patterns: readonly string[]): readonly string[] {
  return patterns.flatMap((pattern) => globSync(pattern, { cwd: checkout })).toSorted();
}
