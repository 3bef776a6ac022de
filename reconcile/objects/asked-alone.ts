import { withCure } from '../reasons/cure.ts';
import type { ClusterNews } from './event.ts';

/** Of a cluster during whose questions an invocation ended without a word. */
export const askedAlone: ClusterNews = {
  type: 'Warning',
  action: 'Pass',
  reason: 'AskedAlone',
  note: withCure(
    'a pass ended without a word, as for want of memory, while its members were asked: it is asked last, and alone',
    'see what its members run and answer, and the logs of the pods of etcd-ratchet that ended',
  ),
};
