import { after, describe, test } from 'node:test';
import { installEarlierRoles } from './support/earlier-roles.ts';
import { inOwnSandbox, startOwnCluster } from './support/own-cluster.ts';
import { ofRecoveries } from './support/runbooks/recovery.ts';
import { setNodesApart } from './support/runbooks/recovery-steps.ts';
import { tell } from './support/runbooks/tell.ts';
import { openScene } from './support/scene.ts';

/** What gets in the way of a recovery, as runbooks.test.ts has the other runbooks; side by side: they mostly wait. */

const binaries = await inOwnSandbox();
const cluster = await startOwnCluster({ binaries, nodes: 4 });
await setNodesApart(cluster.kubectl);
const withoutJobs = await installEarlierRoles(cluster);

describe('lost-quorum.md', { concurrency: true }, () => {
  after(() => cluster.stop());

  for (const story of ofRecoveries)
    test(story.title, async () => {
      const scene = await openScene({ fleet: false, ...(story.withoutJobs && { ticksAs: withoutJobs }) });
      await using closing = new AsyncDisposableStack();
      closing.defer(() => scene.close());
      await tell(scene, story);
    });
});
