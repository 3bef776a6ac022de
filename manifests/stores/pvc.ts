import type { ClaimStore } from './store-kind.ts';

/** A PersistentVolumeClaim of the resource's own namespace. */
export const pvc = {
  reach: 'claim',
  bucket: {
    pattern: '[a-z0-9]([a-z0-9.-]{0,251}[a-z0-9])?',
    words: 'a PersistentVolumeClaim (up to 253 of a-z, 0-9, "-", ".")',
  },
} as const satisfies ClaimStore;
