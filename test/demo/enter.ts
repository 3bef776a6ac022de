import { allBinaries, demoBinaries, type LeastBinaries } from '../support/cluster/binaries.ts';
import { buildOwnImage } from '../support/cluster/own-image.ts';
import { enterSandbox, type Sandbox } from '../support/cluster/sandbox.ts';
import { tools } from '../support/cluster/tools.ts';
import { createNarrator, type Narrator } from './narrator.ts';

export interface Entered {
  readonly binaries: LeastBinaries;
  readonly sandbox: Sandbox;
  readonly narrator: Narrator;
}

/**
 * Into the sandbox of the demo or the playground, with all that the network must give before.
 *
 * @param toPlayOn whether people do there what they like. Else nothing is built that the demo can do without: a Gitea
 *   that is not there yet has a stand-in, which says so.
 */
export async function enter(chapter: string, toPlayOn: boolean): Promise<Entered> {
  const { provide, environment } = toPlayOn ? allBinaries : demoBinaries;
  const binaries = await provide();
  const gitea = await tools.gitea.provide({ builds: toPlayOn });
  const sandbox = await enterSandbox({ ...environment(binaries), ...tools.gitea.environment(gitea) });
  const narrator = createNarrator();
  narrator.chapter(chapter);
  await buildOwnImage(sandbox);
  return { binaries, sandbox, narrator };
}
