import type { Opener } from '../opener.ts';

export const gcs: Opener<'gs'> = {
  open: async (bucket, { gcs: settings }) => {
    const { openGcs } = await import('./gcs.ts');
    return openGcs(bucket, settings);
  },
  ownHosts: ({ gcs: { keyFile, anonymous } = {} }) => ({
    vendor: [{ host: 'googleapis.com', below: true }],
    identity: keyFile === undefined && !anonymous ? ['metadata.google.internal', '169.254.169.254'] : [],
  }),
};
