import type { EtcdCluster } from '../../manifests/api/etcd-cluster.ts';
import type { EtcdFleet } from '../../manifests/api/etcd-fleet.ts';
import type { Library } from '../cluster/load-ahead.ts';
import type { StepContext } from '../cluster/step-context.ts';
import type { FleetPlan } from '../fleet/plan.ts';
import type { KubeError, KubeObject } from '../interfaces/kube.ts';
import type { Listed, Lists } from './lists.ts';
import { hasWork, type StepResult } from './result.ts';
import type { Shard } from './shard.ts';
import type { Adopting, Waiting } from './wake.ts';

/** `<namespace>/<name>` */
export interface ObjectName {
  readonly namespace: string;
  readonly name: string;
}

/** What an invocation is about. Neither clusters nor a fleet: everything. */
export interface About {
  readonly fleet?: ObjectName | undefined;
  readonly clusters: readonly ObjectName[];
}

export interface SteppingContext extends StepContext, About {
  readonly namespace?: string | undefined;
  /** Milliseconds to wait for what the decisions named. */
  readonly waitMs: number;
  /** Asked after each wait: whether people have stopped everything, or a later follow-up goes on. */
  readonly isStopped?: () => Promise<boolean>;
  /** Told of what has work while others are still being stepped or read: it is gone on with at once. */
  readonly onEarly?: (news: EarlyNews) => Promise<void>;
  /** Loads what is used later on, before it is. The first use tells of a failure. */
  readonly loadAhead?: (library: Library) => void;
  /** Which of several it is that share out the pass. Absent: it is the only one. */
  readonly shard?: Shard | undefined;
  /** Where the Jobs are made that reboot nodes. Absent: the component node-reboots is not installed. */
  readonly rebootsIn?: string | undefined;
}

/** What the follow-up must know of what was done while others are still being stepped or read. */
export interface EarlyNews {
  readonly results: Readonly<Record<string, readonly StepResult[] | undefined>>;
  readonly workRemains: boolean;
  readonly moved: boolean;
  readonly unsettled: boolean;
}

export interface KindContext extends SteppingContext {
  readonly lists: Lists;
  readonly fleets: readonly EtcdFleet[];
  /** Which clusters the invocation is about. */
  readonly chosen: (clusters: readonly EtcdCluster[]) => readonly EtcdCluster[];
  /** The namespaces that are listed, of those that there are. Absent: all. */
  readonly within?: readonly string[];
}

type ListerContext = Pick<KindContext, 'kube' | 'namespace' | 'signal' | 'log' | 'within' | 'shard'>;

/** Kinds by name, each with why it comes after it. */
type After = Readonly<Record<string, string>>;

/** One row of the table of kinds: all that a pass must know of a kind. What steps it is loaded on first use. */
export interface Kind<Item extends KubeObject = KubeObject, Result extends StepResult = StepResult> {
  /** `whole`: stepped only by invocations that are about everything. `some`: also by those about some clusters. */
  readonly scope: 'whole' | 'some';
  /** Whose first steps must be over before the first of this kind. */
  readonly after: After;
  /** Whose lists are old when a step of this kind came out so. */
  readonly changes?: Readonly<Record<string, readonly StepResult['outcome'][]>>;
  /** Whether its component is installed. Absent: it needs none. */
  needs?(context: SteppingContext): boolean;
  /** Made once for a pass, and for a look within some namespaces. @throws {KubeError} */
  lister(context: ListerContext): () => Promise<Listed<Item>>;
  /** The objects that are worth a step. Absent: all. */
  worthAStep?(items: readonly Item[], context: KindContext): readonly Item[];
  /** Of each of these what it is stepped with by one invocation, where several share a pass. */
  units(items: readonly Item[], context: Pick<KindContext, 'lists'>): readonly string[];
  /** The namespaces that all is in that steps of these depend on. `undefined`, or absent: any. */
  looksInto?(items: readonly Item[], context: KindContext): ReadonlySet<string> | undefined;
  /** Its step gets also the objects of namespaces that lists leave out, and says so of each. Absent: they get none. */
  readonly tellsLeftOut?: true;
  /** Whether a step has something to do where no object is there. Then all of it is of one unit, the whole one. */
  readonly stepsNone?: true;
  /** One step for each of these, side by side, and a result for each. `all`: as listed. @throws {KubeError} */
  step(items: readonly Item[], context: KindContext, all: readonly Item[]): Promise<readonly Result[]>;
  /** `skipped`: a dry run steps none. Absent: its step says what it would do. */
  readonly dryRun?: 'skipped';
  /** What it means that the kind could not be looked at. Absent: without it no pass was made. */
  problem?(error: KubeError): string;
  /** Absent: one step for each, and no wait. */
  readonly waits?: Waits<Result>;
  /** Another turn, for the same objects. */
  readonly again?: Again<Result>;
  /** When it is worth a look of its own, where no follow-up waits for it. */
  next?(results: readonly Result[], now: Date): Date | undefined;
  /** Whether it failed in a way that may pass by itself, or another invocation was at it. */
  isUnsettled?(result: Result): boolean;
  /** How its results are shown. Absent: others tell of them. */
  readonly shown?: Shown<Result>;
  /** What would be done, and how a person reads it. Absent: nothing is foreseen. */
  plan?(context: Omit<SteppingContext, 'dryRun' | 'waitMs'>, asked: readonly FleetPlan[]): Promise<readonly Plan[]>;
}

export interface Waits<Result extends StepResult> {
  /** What each result waits for. */
  wakesOn(results: readonly Result[], now: Date): readonly Waiting[];
  /** Whether that may come before a tick would look. */
  isAwaited(results: readonly Result[], now: Date): boolean;
  /** On objects that change: its value is the name of the object that they belong to. Absent: only the clock wakes. */
  readonly label?: string;
  readonly adopts?: Adopting;
  /** Which are stepped again when some wake. */
  readonly again: 'woken' | 'all';
  /** Ends as soon as one has acted: no object gets more than one action from one invocation. */
  readonly untilActed?: true;
  /** Ends when these have ended their turn with work left, and why. */
  readonly until?: After;
}

export interface Again<Result extends StepResult> {
  /** Whose last steps it waits for. */
  readonly after: Readonly<Record<string, { readonly why: string; applies?(first: readonly Result[]): boolean }>>;
  isDue(first: readonly Result[], of: (kind: string) => readonly StepResult[]): boolean;
}

export interface Shown<Result extends StepResult> {
  /** Its key in JSON. */
  readonly as: string;
  /** How a line of it begins. */
  readonly label: string;
  /** Its label in metrics. */
  readonly metric: string;
  data(result: Result): object;
  line?(result: Result): string;
  /** Absent: none. */
  action?(result: Result): string;
}

export interface Plan {
  readonly data: object;
  readonly title: string;
  readonly lines: readonly string[];
}

/** In the order in which they begin. */
export type Kinds = Readonly<Record<string, Kind>>;

/** What a table's steps left, by kind. */
export type ResultsOf<Table extends Kinds> = {
  readonly [Name in keyof Table]?: Awaited<ReturnType<Table[Name]['step']>>;
};

/** Whether an invocation is about everything, and not about some clusters or one fleet only. */
export function isAboutAll({ clusters, fleet }: About): boolean {
  return clusters.length === 0 && fleet === undefined;
}

/** Whether this invocation steps the kind. What it leaves out, the next tick sees to. */
export function isStepped(kind: Kind, context: SteppingContext): boolean {
  if (kind.scope === 'whole' && !isAboutAll(context)) return false;
  if (kind.dryRun === 'skipped' && context.dryRun) return false;
  return kind.needs?.(context) ?? true;
}

/**
 * Whether there is news for a follow-up under way. A follow-up's own unsettled failures are none: it would go round.
 */
export function isNews(
  { moved, unsettled }: { readonly moved: boolean; readonly unsettled: boolean },
  isFollowUp: boolean,
): boolean {
  return moved || (!isFollowUp && unsettled);
}

/** Whether there is work that may go on before a tick would look. */
export function isAwaited(
  kinds: Kinds,
  results: Readonly<Record<string, readonly StepResult[] | undefined>>,
  now: Date,
): boolean {
  return Object.entries(kinds).some(([name, { waits }]) => {
    const of = results[name] ?? [];
    return waits !== undefined && of.some(hasWork) && waits.isAwaited(of, now);
  });
}
