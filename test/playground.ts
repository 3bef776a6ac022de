import { startGround } from './demo/ground.ts';
import { createNarrator } from './demo/narrator.ts';
import { stay } from './demo/stay.ts';
import { binariesEnvironment, provisionBinaries } from './support/cluster/binaries.ts';
import { buildOwnImage } from './support/cluster/own-image.ts';
import { enterSandbox } from './support/cluster/sandbox.ts';

/** An installation without a cluster of etcd, for docs/tutorials: `npm run playground`. */

const binaries = await provisionBinaries();
const sandbox = await enterSandbox(binariesEnvironment(binaries));
const narrator = createNarrator();

narrator.chapter('A Kubernetes cluster, a Git server, a forge, and etcd-ratchet');
await buildOwnImage(sandbox);
await using ground = await startGround(binaries);
await ground.install();
narrator.say('the fleet "production" looks at an empty repository');
await stay(ground, binaries);
