import { egressFrom, networkFrom } from '../../functions/environment.ts';
import type { Network } from '../../gitops/net/agent.ts';

/** What the admin of an installation says whose Git servers, forges and stores are on this very machine. */
export const localSettings = {
  RATCHET_LOCAL_HOSTS: '127.0.0.1 localhost',
  // Where pods of the local cluster reach what runs beside it.
  RATCHET_PLAIN_HTTP_HOSTS: '127.0.0.1 localhost 10.244.0.1',
} as const;

export const localEgress = egressFrom(localSettings);

export const localNetwork: Network = networkFrom(localSettings);

/** With a proxy, as the variables of the environment name it. */
export function localNetworkWith(env: Readonly<Record<string, string>>): Network {
  return networkFrom({ ...localSettings, ...env });
}

/** For this process and those that it starts: what starts a server here is to reach it. */
export function allowThisMachine(): void {
  Object.assign(process.env, localSettings);
}
