import { controlNode } from '../../support/cluster/node/index.ts';

/** The process node's faults: kill, freeze, wipe. Only on the local cluster, which is where these scenarios run. */
export function node(): ReturnType<typeof controlNode> {
  const socket = process.env.RATCHET_NODE_SOCKET;
  if (!socket) throw new Error('this scenario breaks things, and needs the local cluster: run it with "npm run e2e"');
  return controlNode(socket);
}
