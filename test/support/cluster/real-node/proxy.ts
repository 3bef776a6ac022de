import { writeFile } from 'node:fs/promises';
import { get } from 'node:http';
import { join } from 'node:path';
import { type Daemon, startDaemon, untilReady } from '../daemon.ts';
import { addressesOf } from '../families.ts';

export interface ProxyOptions {
  readonly binary: string;
  readonly directory: string;
  readonly logs: string;
  readonly kubeconfig: string;
}

const health = '127.0.0.1:10256';

/** One for all nodes of the run: they share a network namespace. @throws with the last lines of its log */
export async function startProxy({ binary, directory, logs, kubeconfig }: ProxyOptions): Promise<Daemon> {
  const config = join(directory, 'kube-proxy.json');
  await writeFile(
    config,
    JSON.stringify({
      apiVersion: 'kubeproxy.config.k8s.io/v1alpha1',
      kind: 'KubeProxyConfiguration',
      mode: 'iptables',
      clientConnection: { kubeconfig },
      clusterCIDR: `${addressesOf.IPv4.pod(0, 0)}/${addressesOf.IPv4.prefix}`,
      hostnameOverride: 'node-1',
      // As the machine has them: they are the machine's.
      conntrack: { maxPerCore: 0, min: 0, tcpEstablishedTimeout: '0s', tcpCloseWaitTimeout: '0s' },
      healthzBindAddress: health,
      metricsBindAddress: '127.0.0.1:10249',
    }),
  );
  const daemon = startDaemon(binary, [`--config=${config}`], join(logs, 'kube-proxy.log'));
  try {
    await untilReady(daemon, (signal) => isHealthy(signal));
  } catch (error) {
    await daemon.stop();
    throw error;
  }
  return daemon;
}

function isHealthy(signal: AbortSignal): Promise<boolean> {
  return new Promise((resolve, reject) => {
    get(`http://${health}/healthz`, { signal, agent: false }, (response) => {
      response.resume();
      resolve(response.statusCode === 200);
    }).on('error', reject);
  });
}
