import type { ForgeServer } from '../support/git/forge.ts';
import type { Narrator } from './narrator.ts';

/** Says every commit status as the forge is told it. */
export function followForge(forge: ForgeServer, narrator: Narrator): () => void {
  let told = 0;
  return () => {
    for (const status of forge.statuses.slice(told)) {
      narrator.say(`commit ${status.sha.slice(0, 7)}  ${status.context}: ${status.state} — ${status.description}`);
    }
    told = forge.statuses.length;
  };
}
