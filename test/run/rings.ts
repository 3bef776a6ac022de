import { basename, dirname, relative, resolve } from 'node:path';
import { type OnlyHere, onlyHere } from '../e2e/support/only-here.ts';

/**
 * Ring 1 is `npm test`: what every change waits for, within the shares of shares.ts. Ring 2 is the rest; each run of CI
 * takes a slice of it (slices.ts), and `--all` takes everything.
 *
 * Of integration, ring 1 has the contract of every request, and of each other folder the file that is missed
 * most.
 */
export const integration: Readonly<Record<string, readonly string[]>> = {
  backup: ['s3'],
  clients: ['etcd-membership'],
  contributing: ['table'],
  docs: ['yaml'],
  fleet: ['apply'],
  gitops: ['fetch', 'personalities', 'reported', 'api-reports'],
  'local-cluster': ['sandbox'],
  manifests: ['crds', 'webhook-jobs'],
  'manifests-build': ['etcd-args'],
  monitoring: ['etcd-metrics'],
  node: ['pods'],
  nodes: ['system-bus'],
  page: ['page-access'],
  read: ['reader'],
  requests: ['contracts'],
  rights: ['rights'],
  serve: ['server'],
};

const tests = resolve(import.meta.dirname, '..');

const rows: Readonly<Record<string, OnlyHere>> = onlyHere;

/** Of the long lives, so many are told at a time. */
const livesAtOnce = 3;

/** The lives whose turn it is; as many runs after each other as there are lives tell each of them. */
export function livesOf(turn: number): readonly string[] {
  const lives = Object.keys(rows).filter((name) => rows[name]?.ring === 'turns');
  return Array.from({ length: livesAtOnce }, (_, index) => lives[(turn * livesAtOnce + index) % lives.length] ?? '');
}

/** Whether `npm test` runs this file, now or when it is its turn. @param file an absolute path */
export function isInRing1(file: string): boolean {
  const [room = '', folder = ''] = relative(tests, dirname(file)).split('/');
  const name = basename(file, '.test.ts');
  if (room === 'integration') return integration[folder]?.includes(name) ?? false;
  if (room === 'e2e') return rows[name]?.ring === 1 || rows[name]?.ring === 'turns';
  return true;
}

/** Whether it waits for its turn. */
export function isResting(file: string, turn: number): boolean {
  const name = basename(file, '.test.ts');
  return isInRing1(file) && rows[name]?.ring === 'turns' && !livesOf(turn).includes(name);
}
