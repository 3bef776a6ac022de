import type { Scheme } from '../../../manifests/stores/stores.ts';
import { azure } from './azure/opener.ts';
import { gcs } from './gcs/opener.ts';
import type { Opener } from './opener.ts';
import { pvc } from './pvc/opener.ts';
import { s3 } from './s3/opener.ts';

/** What each store is: manifests/stores/stores.ts. */
export const openers = { gs: gcs, s3, azure, pvc } satisfies { readonly [S in Scheme]: Opener<S> };
