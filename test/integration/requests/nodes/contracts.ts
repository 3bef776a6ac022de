import { nodeRequests } from '../../../../reconcile/nodes/requests/all.ts';
import { contractsFor } from '../contract.ts';
import { jobs } from './jobs.ts';
import { leaving } from './leaving.ts';
import { objects } from './objects.ts';

/** Of requests about nodes. */
export const nodeContracts = contractsFor(nodeRequests, {
  ...objects,
  ...jobs,
  ...leaving,
});
