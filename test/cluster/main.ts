import { binariesEnvironment, provisionBinaries } from './binaries.ts';
import { startLocalCluster } from './local-cluster.ts';
import { enterSandbox } from './sandbox.ts';

const binaries = await provisionBinaries();
await enterSandbox(binariesEnvironment(binaries));

const started = performance.now();
await using cluster = await startLocalCluster({ binaries, nodes: 0 });
console.log(`ready after ${((performance.now() - started) / 1000).toFixed(1)} s`);
console.log(await cluster.kubectl(['get', 'ns,sc,svc,endpointslices', '-A']));
console.log(await cluster.kubectl(['auth', 'can-i', '--list', '--as', 'system:serviceaccount:default:default']));
