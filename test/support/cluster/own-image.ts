import { execFile } from 'node:child_process';
import { mkdir } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { build } from '../../../functions/build.ts';
import type { Sandbox } from './sandbox.ts';

export const checkout = resolve(import.meta.dirname, '../../..');

/** The checkout whose bundle is there already: a sandbox within another one sees what is mounted in that. */
const builtVariable = 'RATCHET_OWN_IMAGE';

/**
 * Bundles this checkout's entry points to where the process node finds what is in our own image: `dist`.
 *
 * Built on the run's own tmpfs and mounted over `dist`, which only this run sees: two runs of one checkout at once
 * would otherwise replace each other's files while pods start from them. Once for all the clusters of a run.
 *
 * @throws when a source does not build; esbuild has printed where.
 */
export async function buildOwnImage({ directory }: Sandbox): Promise<void> {
  if (process.env[builtVariable] === checkout) return;
  const built = join(directory, 'dist');
  const target = join(checkout, 'dist');
  await mkdir(target, { recursive: true });
  await build(built);
  await promisify(execFile)('mount', ['--bind', built, target]);
  process.env[builtVariable] = checkout;
}
