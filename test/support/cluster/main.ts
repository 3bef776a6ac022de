import { once } from 'node:events';
import { binariesEnvironment, provisionBinaries } from './binaries.ts';
import { startLocalCluster } from './local-cluster.ts';
import { enterSandbox } from './sandbox.ts';

/** `node test/support/cluster/main.ts`: a local cluster until Ctrl-C, for looking around. */
const [command = 'up', ...rest] = process.argv.slice(2);
if (command !== 'up' || rest.length > 0) {
  console.error('usage: node test/support/cluster/main.ts [up]');
  process.exit(2);
}

const binaries = await provisionBinaries();
await enterSandbox(binariesEnvironment(binaries));

const started = performance.now();
const interrupted = Promise.race([once(process, 'SIGTERM'), once(process, 'SIGINT')]);
await using cluster = await startLocalCluster({ binaries });
console.log(`A Kubernetes cluster is up after ${((performance.now() - started) / 1000).toFixed(1)} s. Use it with

  export KUBECONFIG=${await cluster.expose()}
  ${binaries.kubernetes.kubectl} get nodes

It stays until Ctrl-C, and leaves nothing behind.`);

const alive = setInterval(() => {}, 60_000);
await interrupted;
clearInterval(alive);
