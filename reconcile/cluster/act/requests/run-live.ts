import type { EtcdAdmin } from '../../../interfaces/etcd-admin.ts';
import type { KubeObject } from '../../../interfaces/kube.ts';
import { runLive as runWith } from '../../../requests/live.ts';
import type { Program } from '../../../requests/program.ts';
import { offeredToMembers } from '../../observe/offered.ts';
import type { ActContext } from '../actions/context.ts';
import { requests } from './all.ts';
import type { Live } from './live.ts';
import type { ReadAt } from './read-at.ts';

/**
 * Carries out a program about a cluster. Every write is fenced by the context that it is given (`write-fence.ts`), and
 * by what its request carries.
 *
 * @throws {StepError | KubeError | EtcdError}
 */
export async function runLive<R>(program: Program<R>, context: ActContext): Promise<R> {
  const live = liveFrom(context);
  try {
    return await runWith(program, requests, live);
  } finally {
    await live.close();
  }
}

function liveFrom(context: ActContext): Live & { close(): Promise<void> } {
  const objects = new Map<string, KubeObject>();
  let connecting: Promise<EtcdAdmin> | undefined;
  return {
    ...context,
    etcdNow: async () => {
      connecting ??= context.etcd.connect();
      return { etcd: await connecting, endpoints: [...context.etcd.endpoints.values()] };
    },
    offered: offeredToMembers(context),
    keep: (object, name, found) => {
      const readAt: ReadAt = { object, name, at: found.metadata.resourceVersion ?? '' };
      objects.set(keyOf(readAt), found);
      return readAt;
    },
    kept: <T extends KubeObject>(readAt: ReadAt) => {
      const found = objects.get(keyOf(readAt));
      if (!found) throw new Error(`${readAt.object} ${readAt.name} was not read at version ${readAt.at}`);
      return found as T;
    },
    close: async () => {
      const etcd = await connecting?.catch(() => undefined);
      etcd?.close();
    },
  };
}

function keyOf({ object, name, at }: ReadAt): string {
  return `${object}/${name}/${at}`;
}
