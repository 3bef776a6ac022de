/** The worker's progress, in memory that outlives it: it can't answer while it works, nor once out of memory. */
export interface Progress {
  readonly memory: SharedArrayBuffer;
  /** By the worker: on what, and in which file. */
  write(task: number, file: string): void;
  /** By the worker, now and then: it does not come to it while it is stuck. */
  beat(): void;
  read(): { readonly task: number; readonly file: string; readonly beats: number };
}

const numbers = 3;
const textBytes = 1024;

export function openProgress(memory = new SharedArrayBuffer(4 * numbers + textBytes)): Progress {
  const [taskAt, lengthAt, beatsAt] = [0, 1, 2];
  const words = new Int32Array(memory, 0, numbers);
  const text = new Uint8Array(memory, 4 * numbers);
  return {
    memory,
    write: (task, file) => {
      const { written } = new TextEncoder().encodeInto(file.slice(0, textBytes), text);
      Atomics.store(words, lengthAt, written);
      Atomics.store(words, taskAt, task);
    },
    beat: () => void Atomics.add(words, beatsAt, 1),
    read: () => {
      const bytes = Uint8Array.from(text.subarray(0, Atomics.load(words, lengthAt)));
      const [task, beats] = [Atomics.load(words, taskAt), Atomics.load(words, beatsAt)];
      return { task, beats, file: new TextDecoder().decode(bytes) };
    },
  };
}
