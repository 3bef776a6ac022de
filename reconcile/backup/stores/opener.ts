import type { RequestOf, Scheme } from '../../../manifests/stores/stores.ts';
import type { OwnHosts } from './guard.ts';
import type { Store } from './store.ts';

export interface Opener<S extends Scheme> {
  /** Loads the client only now: those of object stores are large. */
  readonly open: (bucket: string, request: RequestOf<S>) => Promise<Store>;
  /** Hosts of a pod's identity are among them only where the request uses that identity. */
  readonly ownHosts: (request: RequestOf<S>) => OwnHosts;
}
