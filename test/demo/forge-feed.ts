import type { PeoplesForge } from '../support/forge/peoples-forge.ts';
import type { Narrator } from './narrator.ts';

export interface ForgeFeed {
  /** Says from now on what is said of this commit. */
  watch(sha: string): void;
  say(): Promise<void>;
}

/** Says every commit status as the forge shows it. */
export function followForge(forge: PeoplesForge, narrator: Narrator): ForgeFeed {
  const told = new Map<string, Set<string>>();
  return {
    watch: (sha) => void told.set(sha, told.get(sha) ?? new Set()),
    async say() {
      for (const [sha, before] of told) {
        const shown = await forge.statusesOf(sha);
        for (const { context, status, description } of shown.toReversed()) {
          const line = `commit ${sha.slice(0, 7)}  ${context}: ${status} — ${description}`;
          if (before.has(line)) continue;
          before.add(line);
          narrator.say(line);
        }
      }
    },
  };
}
