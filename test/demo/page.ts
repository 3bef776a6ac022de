import { startServer } from '../e2e/support/serve.ts';
import { openOutlet } from '../support/cluster/bridge.ts';
import type { Ground } from './ground.ts';

export interface GroundPage extends AsyncDisposable {
  /** On the machine, outside the sandbox. */
  readonly url: string;
}

/**
 * The page of etcd-ratchet, as an admin of the cluster has it. Commit statuses lead there from the next pass on. It is
 * no pod: that would be reached by port-forward, which the process node has not.
 */
export async function openPage({ cluster }: Ground): Promise<GroundPage> {
  await using parts = new AsyncDisposableStack();
  const server = parts.use(await startServer({ RATCHET_PAGE: 'Enabled', KUBECONFIG: cluster.kubeconfigPath }));
  const { hostname: host, port } = new URL(server.url);
  const outlet = parts.use(await openOutlet({ host, port: Number(port) }));
  const url = `http://127.0.0.1:${outlet.port}`;
  const patch = JSON.stringify({ data: { RATCHET_PAGE_URL: url } });
  const settings = ['-n', 'etcd-ratchet', 'patch', 'configmap', 'etcd-ratchet-settings'];
  await cluster.kubectl([...settings, '--type=merge', '-p', patch]);
  const started = parts.move();
  return { url, [Symbol.asyncDispose]: () => started.disposeAsync() };
}
