import type { Opener } from '../opener.ts';

export const pvc: Opener<'pvc'> = {
  open: async (name, { directory = '' }) => {
    const { openDirectory } = await import('./directory.ts');
    return openDirectory(directory, `pvc://${name}`);
  },
  ownHosts: () => ({ vendor: [], identity: [] }),
};
