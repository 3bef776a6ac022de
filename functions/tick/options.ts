import { Command, CommanderError, InvalidArgumentError, Option } from 'commander';
import type { ObjectName } from '../../reconcile/stepping/kind.ts';
import { mostShards, type Shard } from '../../reconcile/stepping/shard.ts';
import type { ChainLink } from '../pass/follow-up/chain.ts';

export interface TickOptions {
  readonly fleet?: ObjectName;
  readonly clusters: readonly ObjectName[];
  readonly namespace?: string;
  readonly dryRun: boolean;
  readonly plan?: boolean;
  /** A change request's number, or a commit: what merging it would do. */
  readonly check?: string;
  readonly output: 'text' | 'json';
  readonly detailedExitcode: boolean;
  /** Present in a follow-up: which link of which chain this invocation is. `{}`: one that a person started. */
  readonly followUp?: Partial<ChainLink>;
  /** Started for some objects only, and still followed up where work remains: its caller does not come again. */
  readonly goOn?: boolean;
  /** Which of several invocations it is that share out what there is. */
  readonly shard?: Pick<Shard, 'index' | 'of'>;
  /** Seconds before anything is looked at: what others say meanwhile is seen, too. */
  readonly delay?: number;
  /** Seconds to wait for what the decisions named. */
  readonly wait: number;
  /** Seconds for everything. */
  readonly timeout: number;
  readonly kubeconfig?: string;
}

export type Parsed =
  | { readonly kind: 'options'; readonly options: TickOptions }
  /** Help, the version, or what is wrong: all said, nothing to do but to leave. */
  | { readonly kind: 'exit'; readonly code: 0 | 2 };

export interface ParseContext {
  readonly version: string;
  readonly out: (text: string) => void;
  readonly err: (text: string) => void;
  /** The width of the help. Without it, the terminal's. */
  readonly columns?: number;
}

const epilogue = `
Exit codes:
  0  the pass was made (also if something is Stalled)
  1  it could not be made: the API server does not answer, the CRDs are not installed, …;
     its time was over before the clusters of a second namespace got a step;
     or, of a follow-up, it was made, and no next one could be
  2  wrong usage
  with --detailed-exitcode also:
  3  something is Stalled and needs a person
  4  work remains
  with --check
  0  merging it does what is printed
  1  it has problems, or could not be checked

Environment:
  KUBECONFIG               the cluster, as for kubectl; in a pod, its service account
  POD_NAME, POD_UID, POD_NAMESPACE   the holder of the leases of this invocation
  JOB_COMPLETION_INDEX     of a Job whose pods share out the pass: its share, of as many as the CronJob has completions
  CRONJOB_NAME             makes follow-up Jobs of this CronJob's template in POD_NAMESPACE; unset: none
  RATCHET_PAGE_URL         where the page is for people: commit statuses lead there
  OTEL_EXPORTER_OTLP_ENDPOINT   a collector that is told of each pass: docs/how-to/monitoring.md; unset: none
  RATCHET_HOSTS            the only hosts of Git, forges and stores that may be named; unset: all but this machine and the like
  RATCHET_LOCAL_HOSTS      hosts that may be on this machine or its link all the same
  RATCHET_PLAIN_HTTP_HOSTS   hosts that a Secret may be shown to without TLS
  RATCHET_CERTIFICATE_NAMES  what issuers of cert-manager may be asked for besides a cluster's own names
  RATCHET_IMAGES           what images of members and of a podTemplate begin with; unset: any
  RATCHET_BUCKETS          what names of stored backups begin with, scheme included; unset: any
  RATCHET_SERVICE_TYPES    types of Services for clients outside, beside ClusterIP; unset: any
  RATCHET_SERVICE_ANNOTATIONS   what keys of their annotations begin with; unset: any
  RATCHET_STRICT           Enabled: of these lists and of RATCHET_HOSTS, one that is unset allows nothing
  RATCHET_STORAGE_MIGRATION  Enabled: after its pass a tick moves stored objects to the newest version of the API
  RATCHET_NODE_REBOOTS     the namespace of the Jobs that reboot nodes; unset: no EtcdNodePolicy is looked at
  NO_COLOR                 plain text on a terminal

Results go to stdout; one line per step goes to stderr, as JSON unless stderr is a terminal.
`;

/** Reads the command line. Never exits and never throws for what a person wrote. */
export function parseOptions(args: readonly string[], context: ParseContext): Parsed {
  const { columns } = context;
  const command = new Command('etcd-ratchet')
    .description('Takes one step for every EtcdCluster, after applying what the Git repositories of the fleets say.')
    .version(context.version)
    .option('--fleet <namespace/name>', 'this fleet and its clusters only', objectName)
    .option('--cluster <namespace/name>', 'this cluster only, without asking Git (repeatable)', collect, [])
    .option(
      '-n, --namespace <namespace>',
      'look at one namespace only (for an installation without cluster-wide rights)',
    )
    .option('--dry-run', 'print the decisions and touch nothing', false)
    .option('--plan', 'print every step to convergence, as if Git were applied now, and touch nothing', false)
    .option(
      '--check <number|sha>',
      'print what merging this open request, or this commit, into the fleet’s branch would do, and touch nothing',
      checked,
    )
    .addOption(new Option('-o, --output <format>', 'of the results').choices(['text', 'json']).default('text'))
    .option('--detailed-exitcode', 'tell by the exit code what is left to do', false)
    .option('--follow-up [chain.number]', 'continue a roll-out: step what can move, without asking Git', chainLink)
    .option(
      '--shard <index/of>',
      'only its share of the fleets and clusters, like 0/4: others see to the rest',
      shardOf,
    )
    .option(
      '--wait <seconds>',
      'wait so long for what the decisions named (default: 0, in a follow-up 45)',
      seconds(0, 3600),
    )
    .option('--go-on', 'leave a follow-up Job behind where work remains, also with --fleet or --cluster', false)
    .option(
      '--delay <seconds>',
      'before anything is looked at, so that what is pushed meanwhile is seen',
      seconds(0, 3700),
      0,
    )
    .option('--timeout <seconds>', 'for everything', seconds(1, 3600), 50)
    .option('--kubeconfig <file>', 'instead of KUBECONFIG')
    .addHelpText('after', epilogue)
    .allowExcessArguments(false)
    .exitOverride()
    .configureOutput({
      writeOut: context.out,
      writeErr: context.err,
      ...(columns !== undefined && { getOutHelpWidth: () => columns }),
    });
  try {
    command.parse([...args], { from: 'user' });
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error;
    return { kind: 'exit', code: error.exitCode === 0 ? 0 : 2 };
  }
  const raw = command.opts<Raw>();
  const problem = contradiction(raw);
  if (problem) {
    context.err(`error: ${problem}\n`);
    return { kind: 'exit', code: 2 };
  }
  return { kind: 'options', options: toOptions(raw) };
}

interface Raw {
  fleet?: ObjectName;
  cluster: ObjectName[];
  namespace?: string;
  dryRun: boolean;
  plan: boolean;
  check?: string;
  output: 'text' | 'json';
  detailedExitcode: boolean;
  followUp?: true | ChainLink;
  shard?: Pick<Shard, 'index' | 'of'>;
  wait?: number;
  goOn: boolean;
  delay: number;
  timeout: number;
  kubeconfig?: string;
}

function toOptions({ cluster, followUp, wait, timeout, ...rest }: Raw): TickOptions {
  // A wait must leave time to act afterwards.
  const longestWait = Math.max(0, timeout - 5);
  const wanted = wait ?? (followUp ? 45 : 0);
  return {
    ...rest,
    clusters: cluster,
    ...(followUp && { followUp: followUp === true ? {} : followUp }),
    wait: Math.min(wanted, longestWait),
    timeout,
  };
}

function contradiction({ namespace, fleet, cluster, followUp, shard, dryRun, plan, check }: Raw): string | undefined {
  if (shard && (fleet || cluster.length > 0 || plan || check))
    return '--shard excludes --fleet, --cluster, --plan and --check';
  if (check && (plan || followUp || dryRun || cluster.length > 0))
    return '--check excludes --plan, --dry-run, --follow-up and --cluster';
  if (fleet && cluster.length > 0) return '--fleet and --cluster exclude each other';
  if (followUp && dryRun) return '--follow-up and --dry-run exclude each other';
  if (plan && (followUp || dryRun)) return `--plan and ${dryRun ? '--dry-run' : '--follow-up'} exclude each other`;
  const elsewhere = [...(fleet ? [fleet] : []), ...cluster].find((one) => namespace && one.namespace !== namespace);
  return elsewhere && `${elsewhere.namespace}/${elsewhere.name} is not in --namespace ${namespace}`;
}

function checked(text: string): string {
  if (!/^(#?\d{1,12}|[0-9a-f]{40})$/i.test(text))
    throw new InvalidArgumentError('It must be the number of a request, or a commit’s 40 hexadecimal digits.');
  return text.replace(/^#/, '').toLowerCase();
}

function objectName(text: string): ObjectName {
  const match = /^([a-z0-9](?:[-a-z0-9]*[a-z0-9])?)\/([a-z0-9](?:[-a-z0-9.]*[a-z0-9])?)$/.exec(text);
  const [, namespace, name] = match ?? [];
  if (!namespace || !name) throw new InvalidArgumentError('It must be <namespace>/<name>.');
  return { namespace, name };
}

function collect(text: string, before: ObjectName[]): ObjectName[] {
  return [...before, objectName(text)];
}

function chainLink(text: string): ChainLink {
  const match = /^([a-z0-9]{1,16})\.(\d{1,6})$/.exec(text);
  const [, chain, number] = match ?? [];
  if (!chain || !number)
    throw new InvalidArgumentError('It must be <chain>.<number>, as etcd-ratchet itself writes it.');
  return { chain, number: Number(number) };
}

function shardOf(text: string): Pick<Shard, 'index' | 'of'> {
  const [, index, of] = /^(\d{1,3})\/(\d{1,3})$/.exec(text) ?? [];
  const shard = { index: Number(index), of: Number(of) };
  if (!(shard.index < shard.of && shard.of <= mostShards))
    throw new InvalidArgumentError(`It must be <index>/<of>, from 0/1 to ${mostShards - 1}/${mostShards}.`);
  return shard;
}

function seconds(least: number, most: number) {
  return (text: string): number => {
    const value = Number(text);
    if (!/^\d+$/.test(text) || value < least || value > most) {
      throw new InvalidArgumentError(`It must be a whole number of seconds from ${least} to ${most}.`);
    }
    return value;
  };
}
