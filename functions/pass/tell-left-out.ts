import { KubeError, resources } from '../../reconcile/interfaces/kube.ts';
import { writeEvent } from '../../reconcile/objects/event.ts';
import { leftOutCure, sayLeftOut } from '../../reconcile/objects/left-out.ts';
import { withCure } from '../../reconcile/reasons/cure.ts';
import type { PassContext } from './pass-context.ts';

/** An event is kept for an hour. */
const hourMs = 3_600_000;
/** More are in the log alone. */
const mostEvents = 20;

/** Says why this pass left a namespace out: in the log, and once an hour where its users look. Never throws. */
export async function tellLeftOut({ kube, log, dryRun, signal }: PassContext): Promise<void> {
  const at = kube.now() ?? new Date();
  const id = `left-out-${Math.floor(at.getTime() / hourMs)}`;
  const all = [...kube.leftOut()];
  for (const [namespace, why] of all)
    log({ namespace, problem: withCure(sayLeftOut(namespace, why), leftOutCure(namespace, why)) }, 'left out');
  if (dryRun || signal.aborted) return;
  await Promise.all(
    all.slice(0, mostEvents).map(async ([namespace, why]) => {
      const note = withCure(sayLeftOut(namespace, why), leftOutCure(namespace, why));
      const news = { type: 'Warning', action: 'Pass', reason: 'NamespaceLeftOut', note } as const;
      const about = { metadata: { name: namespace, namespace } };
      await writeEvent(kube, about, news, { id, at, signal, about: resources.namespaces }).catch((error: unknown) => {
        if (!(error instanceof KubeError)) throw error;
        if (error.reason !== 'AlreadyExists') log({ namespace, problem: error.message }, 'no event says so there');
      });
    }),
  );
}
