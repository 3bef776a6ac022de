import { ports } from '../../../manifests/render/names.ts';
import type { AskWire } from '../../../reconcile/cluster/observe/certificates/read.ts';
import type { State } from './state.ts';
import { peerParty, serverParty } from './tls.ts';

/** What members present: what their files say at this moment, because etcd reads them again at every handshake. */
export function wireOf(state: State): AskWire {
  return async ({ host, port }) => {
    const process = [...state.processes.values()].find(({ address }) => address === host);
    const party = process && (port === ports.peer ? peerParty : serverParty)(state, process);
    return party?.shows?.fingerprint;
  };
}
