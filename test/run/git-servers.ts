import { readFileSync } from 'node:fs';
import { basename } from 'node:path';

/** These say which servers they are about, or have another matter: what a lot of memory does to a pass. */
const aloneWithGit: readonly string[] = ['personalities', 'reported', 'hostile-bench', 'large-files'];

/** A server of its own, or a scene's. */
const starts = /(?<=from ')(\.\.\/)+support\/git\/server\.ts|(?<=from '\.\/)(scene|checks-stage|forge-scene)\.ts/;

/**
 * Whether `--all` runs this file of the integration room against each of `otherServers`, and not against git's own
 * server alone: of the folders whose matter Git is, each that starts a server.
 */
export function meetsAllGitServers(file: string): boolean {
  if (!/\/test\/integration\/(gitops|read|fleet)\/[^/]+\.test\.ts$/.test(file)) return false;
  return !aloneWithGit.includes(basename(file, '.test.ts')) && starts.test(readFileSync(file, 'utf8'));
}
