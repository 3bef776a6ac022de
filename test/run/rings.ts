import { basename, dirname, relative, resolve } from 'node:path';

/**
 * Ring 1 is `npm test`: what every change waits for, within the shares of shares.ts. Ring 2 is the rest; each run of CI
 * takes a slice of it (slices.ts), and `--all` takes everything.
 *
 * Of integration, ring 1 has the contract of every request, and of each other folder the file that would miss most.
 */
export const integration: Readonly<Record<string, readonly string[]>> = {
  backup: ['s3'],
  clients: ['etcd-membership'],
  docs: ['yaml'],
  fleet: ['apply'],
  gitops: ['fetch'],
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

/** Stories that are the only proof of something that must never break. */
const stories: readonly string[] = [
  ...['bootstrap', 'heal', 'upgrade', 'recover', 'restore', 'tls-rotation', 'deaths', 'webhook', 'chain'],
];

const tests = resolve(import.meta.dirname, '..');

/** Whether `npm test` runs this file. @param file an absolute path */
export function isInRing1(file: string): boolean {
  const [room = '', folder = ''] = relative(tests, dirname(file)).split('/');
  const name = basename(file, '.test.ts');
  if (room === 'integration') return integration[folder]?.includes(name) ?? false;
  if (room === 'e2e') return stories.includes(name);
  return true;
}
