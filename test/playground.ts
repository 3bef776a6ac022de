import { enter } from './demo/enter.ts';
import { startGround } from './demo/ground.ts';
import { stay } from './demo/stay.ts';

/** An installation without a cluster of etcd, for docs/tutorials: `npm run playground`. */

const { binaries, narrator } = await enter('A Kubernetes cluster, a Git server, a forge, and etcd-ratchet', true);
await using ground = await startGround(binaries);
await ground.install();
narrator.say('the fleet "production" looks at an empty repository');
await stay(
  ground,
  binaries,
  `Then follow docs/tutorials/first-cluster.md there, from "Push a cluster" on.
`,
);
