import type { Opener } from '../opener.ts';

export const gcs: Opener<'gs'> = {
  open: async (bucket, { gcs: settings }, { readOnly, egress }) => {
    const { openGcs } = await import('./gcs.ts');
    return openGcs(bucket, settings, { readOnly, egress });
  },
  ownHosts: ({ gcs: { keyFile, anonymous } = {} }) => ({
    vendor: [{ host: 'googleapis.com', below: true }],
    identity: keyFile === undefined && !anonymous ? ['metadata.google.internal', '169.254.169.254'] : [],
  }),
};
