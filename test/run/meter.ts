import { currentSandbox } from '../support/cluster/sandbox.ts';
import { namespaceProcessorSeconds, processorSeconds } from '../support/processor-time.ts';
import type { Room } from './options.ts';
import type { Metered, RoomSeconds } from './shares.ts';

/** What a run took of processors before it entered its sandbox, in seconds. */
export const startedVariable = 'RATCHET_STARTED_SECONDS';

export interface RoomMeter {
  /** Counts all use from now on for this room. */
  enter(room: Room): void;
  /** What each room has used, with all that served it; the start is what came before the first. */
  end(): RoomSeconds;
}

/** Rooms come after each other. What serves several files (a control plane, members) counts where it is used. */
export function roomMeter(): RoomMeter {
  const inSandbox = currentSandbox() !== undefined;
  const now = inSandbox ? namespaceProcessorSeconds : processorSeconds;
  const used: Partial<Record<Metered, number>> = {
    start: now() + (inSandbox ? Number(process.env[startedVariable] ?? 0) : 0),
  };
  let current: { readonly room: Room; readonly from: number } | undefined;
  const leave = () => {
    if (current) used[current.room] = (used[current.room] ?? 0) + now() - current.from;
  };
  return {
    enter(room) {
      leave();
      current = { room, from: now() };
    },
    end() {
      leave();
      current = undefined;
      return used;
    },
  };
}
