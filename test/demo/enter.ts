import { type Binaries, binariesEnvironment, provisionBinaries } from '../support/cluster/binaries.ts';
import { buildOwnImage } from '../support/cluster/own-image.ts';
import { enterSandbox, type Sandbox } from '../support/cluster/sandbox.ts';
import { tools } from '../support/cluster/tools.ts';
import { createNarrator, type Narrator } from './narrator.ts';

export interface Entered {
  readonly binaries: Binaries;
  readonly sandbox: Sandbox;
  readonly narrator: Narrator;
}

/** Into the sandbox of the demo or the playground, with all that the network must give before. */
export async function enter(chapter: string): Promise<Entered> {
  const binaries = await provisionBinaries();
  const gitea = await tools.gitea.provide();
  const sandbox = await enterSandbox({ ...binariesEnvironment(binaries), ...tools.gitea.environment(gitea) });
  const narrator = createNarrator();
  narrator.chapter(chapter);
  await buildOwnImage(sandbox);
  return { binaries, sandbox, narrator };
}
