import { tools } from '../cluster/tools.ts';
import { startGitea } from './gitea.ts';
import type { ForgeAddress, PeoplesForge } from './peoples-forge.ts';
import { startStandIn } from './stand-in.ts';

/** A real Gitea where it is at hand or can be built, else the stand-in, whose title says so. */
export async function startPeoplesForge(address: ForgeAddress): Promise<PeoplesForge> {
  const gitea = await tools.gitea.provide();
  return 'missing' in gitea ? await startStandIn(address, gitea.missing) : await startGitea(gitea, address);
}
