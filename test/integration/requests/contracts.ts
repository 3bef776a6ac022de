import { requests } from '../../../reconcile/cluster/act/requests/all.ts';
import { auth } from './auth.ts';
import { authorities } from './authorities.ts';
import { backup } from './backup.ts';
import { certManager } from './cert-manager.ts';
import { changing } from './changing.ts';
import { cluster } from './cluster.ts';
import { contractsFor } from './contract.ts';
import { disks } from './disks.ts';
import { intermediates } from './intermediates.ts';
import { leadership } from './leadership.ts';
import { leaves } from './leaves.ts';
import { making } from './making.ts';
import { membership } from './membership.ts';
import { objects } from './objects.ts';
import { pods } from './pods.ts';
import { recovery } from './recovery.ts';
import { removing } from './removing.ts';
import { space } from './space.ts';
import { templates } from './templates.ts';
import { volumes } from './volumes.ts';

/** Of requests about a cluster. */
export const contracts = contractsFor(requests, {
  ...volumes,
  ...disks,
  ...making,
  ...changing,
  ...removing,
  ...cluster,
  ...objects,
  ...templates,
  ...pods,
  ...membership,
  ...leadership,
  ...authorities,
  ...auth,
  ...intermediates,
  ...leaves,
  ...certManager,
  ...space,
  ...recovery,
  ...backup,
});
