/** Keeps the files of one pod that are made of API objects up to date. */
export type VolumeRefresher = {
  /** What they are made of has changed. */
  ask(): void;
  /** The first files are written, and the network is there: what was asked before is done now. */
  open(): void;
};

/**
 * One refresh at a time: of two, the one that read the older object could be the last to write. What is asked
 * meanwhile, or before the first files are all written, is done afterwards: nobody asks for it again.
 */
export function createVolumeRefresher(refresh: () => Promise<void>, failed: (error: unknown) => void): VolumeRefresher {
  let isOpen = false;
  let isBusy = false;
  let isAsked = false;

  async function run(): Promise<void> {
    if (!isOpen || isBusy) return;
    isBusy = true;
    while (isAsked) {
      isAsked = false;
      await refresh().catch(failed);
    }
    isBusy = false;
  }

  return {
    ask: () => {
      isAsked = true;
      void run();
    },
    open: () => {
      isOpen = true;
      void run();
    },
  };
}
