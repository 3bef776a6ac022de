import type { EtcdFleet } from '../../manifests/api/etcd-fleet.ts';
import { fleetKinds, isClusterScoped } from '../../manifests/api/fleet-kinds.ts';
import { longestDescription } from '../../manifests/description.ts';
import { kubectl, kubectlRatchet, resourceName } from '../../manifests/render/kubectl.ts';
import { inBrief } from './in-brief.ts';
import { statusContext } from './names.ts';
import { identityOf, otherKindOf } from './objects.ts';
import type { FleetOutcome } from './outcome.ts';
import type { PageLinks } from './page-links.ts';
import { type SpecProblem, shaOf } from './reading.ts';
import type { ClusterVerdict } from './roll-up.ts';
import { type FleetFacts, named, place, progressOf } from './statements.ts';
import { states } from './states.ts';

/** What a commit should say about itself. */
export interface WantedStatus {
  readonly sha: string;
  readonly context: string;
  readonly state: 'pending' | 'success' | 'failure';
  /** At most 140 characters, free of counters and clocks: it is sent again whenever it differs. */
  readonly description: string;
  /** Where it leads. */
  readonly targetURL?: string;
  /** This very commit changed what it is about. */
  readonly changed?: boolean;
}

/** A fleet up to this size gets a status per cluster; of a larger one, the clusters that the commit changed. */
export const smallFleet = 10;
/** A commit that touches everything must not spend the forge's rate limit. */
export const maxPerCluster = 50;

export interface StatusFacts extends FleetFacts {
  /** With the cluster that each is about, where this pass knows it. */
  readonly problems: readonly SpecProblem[];
  /** Absent: statuses lead nowhere. */
  readonly links?: PageLinks | undefined;
}

/** The commit statuses as they should be now. Pure. Empty when no commit could be named. */
export function wantedStatuses(facts: StatusFacts): readonly WantedStatus[] {
  const sha = shaFor(facts.fleet, facts.outcome);
  if (!sha) return [];
  const { namespace = '', name } = facts.fleet.metadata;
  const context = statusContext(facts.fleet);
  const sent = new Map(
    (facts.fleet.status?.commitStatuses ?? [])
      .filter((status) => status.sha === sha)
      .map((status) => [status.context, status] as const),
  );
  // A status keeps the first problems only; whose are beyond, a follow-up can't know.
  const isCut = facts.outcome.problems === undefined && (facts.fleet.status?.problemCount ?? 0) > facts.problems.length;
  const progress = progressOf(facts);
  const ofFleet: WantedStatus = {
    sha,
    context,
    state: fleetStates[progress.kind],
    description: ofWhole(progress, facts),
    ...leadingTo(facts.links?.fleet(namespace, name)),
  };

  const ofClusters = clustersOf(facts).filter(
    ({ key, few }) => few || facts.outcome.changed.has(key) || sent.has(`${context}/${key}`),
  );
  return [
    ofFleet,
    ...ofClusters.slice(0, maxPerCluster).map(({ key, cluster }) => {
      const own = `${context}/${key}`;
      const before = sent.get(own);
      const isChanged = facts.outcome.changed.has(key) || before?.changed === true;
      const problem = problemOf(cluster, facts, before?.description);
      const said = problem
        ? ({ state: 'failure', description: refused(problem, facts.fleet) } as const)
        : isCut && before?.state === 'failure'
          ? ({ state: 'failure', description: before.description } as const)
          : ({ state: states[cluster.verdict].commit, description: saidOf(cluster, isChanged) } as const);
      return { sha, context: own, ...said, ...leadingTo(linkOf(cluster, facts)), ...(isChanged && { changed: true }) };
    }),
  ];
}

/** What the fleet says of itself, or of the object that is in its way. */
function ofWhole(progress: ReturnType<typeof progressOf>, { fleet, problems }: StatusFacts): string {
  const { kind, reason, message, subject, besides } = progress;
  const more = besides && named(besides);
  if (subject) {
    const about = named({ ...subject, message: '' });
    const pointer = kind === 'stalled' ? pointerTo(subject) : undefined;
    return inBrief({ about, message: subject.message, besides: more }, { pointer });
  }
  const [first] = problems;
  if (first && reason === 'DocumentsRefused') {
    const others = [...(problems.length > 1 ? ['and others'] : []), ...(more === undefined ? [] : [more])];
    return refused(first, fleet, others.length === 0 ? undefined : others.join('; '));
  }
  const { namespace = 'default', name } = fleet.metadata;
  const command = reason === 'PruneNeedsConfirmation' ? `approve --fleet ${name}` : 'status';
  return inBrief({ message }, { pointer: kind === 'stalled' ? kubectlRatchet(namespace, command) : undefined });
}

/** The commit that changed it is told what became of the plan, too. */
function saidOf(cluster: ClusterVerdict, isChanged: boolean): string {
  const { message, receipt, verdict } = cluster;
  const pointer = verdict === 'Failed' ? pointerTo(cluster) : undefined;
  const besides = isChanged ? receipt : undefined;
  // What does not fit is cut: of a cluster that is as asked, the receipt is the news.
  const isFirst =
    besides !== undefined && verdict === 'Current' && `${message}; ${besides}`.length > longestDescription;
  return inBrief(isFirst ? { message: besides, besides: message } : { message, besides }, { pointer });
}

/** A cure that does not fit is in the fleet's status. */
function refused(problem: FleetFacts['problems'][number], { metadata }: EtcdFleet, besides?: string): string {
  const pointer = kubectl(metadata, `describe ${resourceName('etcdfleets')} ${metadata.name}`);
  return inBrief({ place: place({ ...problem, message: '' }), message: problem.message, besides }, { pointer });
}

/** The command that shows the whole message, for a person to type. */
function pointerTo({ kind, namespace, name }: ClusterVerdict): string {
  if (kind === undefined) return kubectlRatchet(namespace, `why ${name}`);
  const command = `describe ${resourceName(fleetKinds[kind].plural)} ${name}`;
  return isClusterScoped(kind) ? `kubectl ${command}` : kubectl({ namespace }, command);
}

/** Backups and schedules have no page of their own: the fleet's names them. */
function linkOf({ kind, namespace, name }: ClusterVerdict, { links, fleet }: StatusFacts): string | undefined {
  if (kind === undefined) return links?.cluster(namespace, name);
  return links?.fleet(fleet.metadata.namespace ?? '', fleet.metadata.name);
}

/** Forges refuse longer ones, and a status that leads nowhere is better than none. */
const longestTarget = 255;

function leadingTo(targetURL: string | undefined): Pick<WantedStatus, 'targetURL'> {
  return targetURL === undefined || targetURL.length > longestTarget ? {} : { targetURL };
}

export const fleetStates = {
  ready: states.Current.commit,
  reconciling: states.InProgress.commit,
  stalled: states.Failed.commit,
} as const satisfies Record<ReturnType<typeof progressOf>['kind'], WantedStatus['state']>;

/** The commit that this pass looked at, or (in a follow-up) the one that is being rolled out. */
function shaFor({ status }: EtcdFleet, { reading }: FleetOutcome): string | undefined {
  switch (reading.kind) {
    case 'unchanged':
    case 'tree':
      return shaOf(reading.revision);
    case 'failed':
      return reading.revision && shaOf(reading.revision);
    case 'skipped': {
      const attempted = status?.revision?.attempted;
      return reading.because === 'follow-up' && attempted ? shaOf(attempted) : undefined;
    }
    default:
      return reading satisfies never;
  }
}

/** The live clusters, and those that are not there because their document is refused. */
function clustersOf({
  clusters,
  problems,
}: StatusFacts): readonly { key: string; cluster: ClusterVerdict; few: boolean }[] {
  const all = new Map<string, ClusterVerdict>(
    clusters.map((cluster) => [identityOf(cluster.kind, cluster), cluster] as const),
  );
  for (const { kind, namespace, name } of problems) {
    const key = identityOf(kind, { namespace, name });
    if (name && (namespace || isClusterScoped(kind)) && !all.has(key)) {
      const other = otherKindOf(kind);
      all.set(key, {
        ...(other && { kind: other }),
        namespace: namespace ?? '',
        name,
        verdict: 'InProgress',
        message: 'is not created',
      });
    }
  }
  const few = all.size <= smallFleet;
  return [...all].map(([key, cluster]) => ({ key, cluster, few }));
}

/**
 * The problem of one cluster's document. A follow-up has the problems from the fleet's status, which names no clusters:
 * the status sent before for this cluster then tells which is its own.
 */
function problemOf(
  cluster: ClusterVerdict,
  { problems, fleet }: StatusFacts,
  sent: string | undefined,
): SpecProblem | undefined {
  return problems.find((problem) =>
    problem.name === undefined
      ? refused(problem, fleet) === sent
      : identityOf(problem.kind, problem) === identityOf(cluster.kind, cluster),
  );
}
