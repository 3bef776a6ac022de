import type { Event } from '../../manifests/kube-types.ts';
import { type KubeObject, resources } from '../../reconcile/interfaces/kube.ts';
import type { Asked, ExitCode } from './command.ts';
import { shownKind } from './kinds/kinds.ts';
import type { Past } from './kinds/shown.ts';
import { dataText } from './objects.ts';
import { listPermitted, tellForbidden } from './permitted.ts';
import { calledSubject, objectOf, type Subject } from './subject.ts';
import { type Cell, table } from './table.ts';

/** An event is kept for an hour: more of one object are no history. */
const mostEvents = 200;

/** What was done and why, the newest first; also the events, where the status has no history of its own. */
export async function history(subject: Subject, asked: Asked): Promise<ExitCode> {
  const { out, err, output, colours } = asked;
  const object = await objectOf(subject, asked);
  const forbidden = new Set<string>();
  const own = shownKind(subject.kind).past(object);
  // The steps of a cluster are its events as well.
  const told = subject.kind === 'EtcdCluster' ? [] : await eventsOf(object, asked, forbidden);
  const entries = [...own, ...told].toReversed().toSorted((a, b) => Date.parse(b.at) - Date.parse(a.at));
  if (output !== 'text') {
    out(dataText({ history: entries.map(({ tone: _, ...entry }) => entry), notRead: [...forbidden] }, output));
    return 0;
  }
  if (entries.length === 0) err(`nothing was done for ${calledSubject(subject, asked)} yet\n`);
  else out(table(['AT', 'WHAT', 'OUTCOME', 'REASON', 'MESSAGE'], entries.map(row), colours));
  tellForbidden(forbidden, asked);
  return 0;
}

function row({ at, what, outcome, tone, reason, message }: Past): readonly Cell[] {
  return [at.replace(/\.\d+Z$/, 'Z'), what, { tone, text: outcome }, reason ?? '-', message ?? ''];
}

async function eventsOf({ metadata }: KubeObject, asked: Asked, forbidden: Set<string>): Promise<readonly Past[]> {
  // Events of what has no namespace are kept in `default`.
  const namespace = metadata.namespace ?? 'default';
  const fieldSelector = `regarding.name=${metadata.name}`;
  const options = { namespace, fieldSelector, limit: mostEvents };
  const events = await listPermitted<Event>(asked, resources.events, options, forbidden);
  return events.flatMap(({ regarding, eventTime, action, type, reason, note }) => {
    if (regarding?.uid !== metadata.uid || eventTime === undefined) return [];
    const tone = type === 'Warning' ? 'bad' : 'good';
    return [
      {
        ...({ at: eventTime, what: action ?? 'event', outcome: type ?? 'Normal', tone } as const),
        ...(reason !== undefined && { reason }),
        ...(note !== undefined && { message: note }),
      },
    ];
  });
}
