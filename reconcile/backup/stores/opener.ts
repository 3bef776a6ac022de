import type { Egress } from '../../../manifests/egress/egress.ts';
import type { RequestOf, Scheme } from '../../../manifests/stores/stores.ts';
import type { OwnHosts } from './guard.ts';
import type { Store } from './store.ts';

/** What a store is opened with, besides what the request says. */
export interface Opening {
  /** Nothing is written: where an identity can have less rights for that, it is asked for those. */
  readonly readOnly: boolean;
  readonly egress: Egress;
  /** Before what is found in a Secret is sent as a token. @throws {BackupFailure} HostRefused */
  readonly assertToken: () => void;
}

export interface Opener<S extends Scheme> {
  /** Loads the client only now: those of object stores are large. */
  readonly open: (bucket: string, request: RequestOf<S>, opening: Opening) => Promise<Store>;
  /** Hosts of a pod's identity are among them only where the request uses that identity. */
  readonly ownHosts: (request: RequestOf<S>) => OwnHosts;
}
