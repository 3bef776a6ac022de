import { resources } from '../../reconcile/interfaces/kube.ts';
import { leftOutWithCure } from '../../reconcile/objects/left-out.ts';
import type { PassContext } from './pass-context.ts';
import { tellHourly } from './tell-hourly.ts';

/** More are in the log alone. */
const mostEvents = 20;

/** Says why this pass left a namespace out: in the log, and once an hour where its users look. Never throws. */
export async function tellLeftOut(context: PassContext): Promise<void> {
  const { kube, log, dryRun, signal } = context;
  const all = [...kube.leftOut()].map(([namespace, why]) => [namespace, leftOutWithCure(namespace, why)] as const);
  for (const [namespace, problem] of all) log({ namespace, problem }, 'left out');
  if (dryRun || signal.aborted) return;
  await Promise.all(
    all.slice(0, mostEvents).map(async ([namespace, note]) => {
      const news = { type: 'Warning', action: 'Pass', reason: 'NamespaceLeftOut', note } as const;
      const about = { metadata: { name: namespace, namespace } };
      await tellHourly(context, 'left-out', { about, kind: resources.namespaces, news });
    }),
  );
}
