import type { EtcdFleet } from '../../../manifests/api/etcd-fleet.ts';
import { meaningOf } from '../../../reconcile/reasons/reasons.ts';
import { fleetConcerns } from '../../page/attention.ts';
import { fleetState, revisionTones } from '../../page/state.ts';
import { since } from '../words.ts';
import { factsOf, type ShownKind } from './shown.ts';

export const fleetShown: ShownKind<EtcdFleet> = {
  state: fleetState,
  concerns: fleetConcerns,
  meaningOf,
  facts({ spec, status }, now) {
    const { ready = 0, total = 0 } = status?.clusters ?? {};
    const problems = status?.problems ?? [];
    const more = (status?.problemCount ?? problems.length) - problems.length;
    return factsOf(
      ['Ref', spec.git.ref],
      ['Applied', status?.revision?.applied],
      ['Clusters', `${ready} of ${total} ready`],
      ['Last pass', status?.lastRun && `${since(status.lastRun, now)} ago`],
      ...problems.map(
        ({ file, line, column, message }) =>
          ['Problem', `${line > 0 ? `${file}:${line}:${column}` : file}: ${message}`] as const,
      ),
      ['Problem', more > 0 ? `and ${more} more` : undefined],
    );
  },
  past: ({ status }) =>
    (status?.history ?? []).map(({ at, revision, outcome }) => ({
      ...{ at, what: revision, outcome, tone: revisionTones[outcome] ?? 'calm' },
    })),
};
