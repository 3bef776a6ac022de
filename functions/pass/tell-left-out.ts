import { KubeError, resources } from '../../reconcile/interfaces/kube.ts';
import { writeEvent } from '../../reconcile/objects/event.ts';
import { leftOutWithCure } from '../../reconcile/objects/left-out.ts';
import type { PassContext } from './pass-context.ts';

/** An event is kept for an hour. */
const hourMs = 3_600_000;
/** More are in the log alone. */
const mostEvents = 20;

/** Says why this pass left a namespace out: in the log, and once an hour where its users look. Never throws. */
export async function tellLeftOut({ kube, log, dryRun, signal }: PassContext): Promise<void> {
  const at = kube.now() ?? new Date();
  const id = `left-out-${Math.floor(at.getTime() / hourMs)}`;
  const all = [...kube.leftOut()].map(([namespace, why]) => [namespace, leftOutWithCure(namespace, why)] as const);
  for (const [namespace, problem] of all) log({ namespace, problem }, 'left out');
  if (dryRun || signal.aborted) return;
  await Promise.all(
    all.slice(0, mostEvents).map(async ([namespace, note]) => {
      const news = { type: 'Warning', action: 'Pass', reason: 'NamespaceLeftOut', note } as const;
      const about = { metadata: { name: namespace, namespace } };
      await writeEvent(kube, about, news, { id, at, signal, about: resources.namespaces }).catch((error: unknown) => {
        if (!(error instanceof KubeError)) throw error;
        if (error.reason !== 'AlreadyExists') log({ namespace, problem: error.message }, 'no event says so there');
      });
    }),
  );
}
