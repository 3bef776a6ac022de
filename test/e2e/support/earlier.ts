import { execFile } from 'node:child_process';
import { symlink } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { checkout } from '../../support/cluster/own-image.ts';
import { type TickResult, tick } from './tick.ts';

const run = promisify(execFile);

/**
 * What installations are updated from: the newest release, by its commit. Before there was one, what main was on the
 * morning of 2026-11-24.
 */
export const earlier = { title: 'main before v0.1.0', commit: 'f4fc8e2' } as const;

export interface Earlier {
  /** The kustomizations of that state. */
  readonly manifests: string;
  tick(kubeconfig: string): Promise<TickResult>;
}

/**
 * Lays out and bundles that state, with the packages of this one.
 *
 * @throws where the clone has no such commit: it was made without history
 */
export async function layOutEarlier(directory: string): Promise<Earlier> {
  const archive = join(directory, 'earlier.tar');
  await run('git', ['-C', checkout, 'archive', '--output', archive, earlier.commit]).catch((cause: unknown) => {
    throw new Error(`this clone lacks ${earlier.commit} (${earlier.title}): run git fetch --unshallow`, { cause });
  });
  await run('tar', ['-xf', archive, '-C', directory]);
  await symlink(join(checkout, 'node_modules'), join(directory, 'node_modules'));
  await run(process.execPath, ['functions/build.ts'], { cwd: directory, timeout: 120_000 });
  return {
    manifests: join(directory, 'manifests/install'),
    tick: (kubeconfig) =>
      tick({ env: { KUBECONFIG: kubeconfig }, within: 90, program: join(directory, 'dist/tick.js') }),
  };
}
