import { installEverything } from '../e2e/support/everything.ts';
import { never } from '../e2e/support/installed.ts';
import { shop, shopIn } from '../e2e/support/shop.ts';
import type { Binaries } from '../support/cluster/binaries.ts';
import { installKinds } from '../support/cluster/kinds.ts';
import { type LocalCluster, startLocalCluster } from '../support/cluster/local-cluster.ts';
import { startRealCluster } from '../support/cluster/real-node/real-cluster.ts';
import type { Offer } from '../support/cluster/shared-control-plane.ts';

/** The one local cluster of all end-to-end tests. */
export interface SharedCluster extends AsyncDisposable {
  /** Starts with the first call: until then it would only take the processors from other tests. */
  started(): Promise<LocalCluster>;
  /** `undefined`: it was never asked for. */
  outcome(): Promise<LocalCluster | 'failed' | undefined>;
}

export interface Ground {
  readonly offer: Offer | undefined;
  readonly onRealNodes: boolean;
}

/**
 * With all that we install, and with other people's work, which each scene finds as it was (shop.ts). On real nodes
 * with our kinds alone: stories of theirs install what people install.
 */
export function sharedCluster(binaries: Binaries | undefined, { offer, onRealNodes }: Ground): SharedCluster {
  let starting: Promise<LocalCluster> | undefined;
  const start = async () => {
    await offer?.withdraw();
    const cluster = await (onRealNodes ? startRealCluster : startLocalCluster)(binaries ? { binaries } : {});
    if (onRealNodes) {
      await installKinds(cluster.kubectl);
      return cluster;
    }
    // A scenario makes its own ticks, and nobody else's may come between.
    await installEverything(cluster.kubectl, never);
    const objects = shopIn(shop).map((one) => JSON.stringify(one));
    await cluster.kubectl(['apply', '-f', '-'], { stdin: objects.join('\n---\n') });
    for (const [kind, name] of [
      ['deployment', 'web'],
      ['statefulset', 'db'],
    ])
      await cluster.kubectl(['-n', shop, 'rollout', 'status', `${kind}/${name}`, '--timeout=60s']);
    return cluster;
  };
  const outcome = async () => starting?.catch(() => 'failed' as const);
  return {
    started() {
      starting ??= start();
      return starting;
    },
    outcome,
    async [Symbol.asyncDispose]() {
      const cluster = await outcome();
      if (cluster && cluster !== 'failed') await cluster.stop();
    },
  };
}
