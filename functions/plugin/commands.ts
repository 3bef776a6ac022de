import type { Command } from 'commander';
import { interval, kubernetesName, ofInstallation, podLabels, requestNumber, seconds } from './arguments.ts';
import type { Asked, Common, ExitCode } from './command.ts';
import type { Installation } from './reconcile.ts';
import { subjectIn } from './subject.ts';

export interface Adding {
  readonly plain: (name: string, description: string) => Command;
  /** Of one cluster. */
  readonly add: (name: string, description: string) => Command;
  /** Of one cluster, without options. */
  readonly about: (name: string, description: string, load: () => Promise<Named<string, unknown>>) => void;
  /** An action that is loaded when it is carried out. */
  readonly run: <N, O>(load: () => Promise<Named<N, O>>) => (name: N, options: O) => Promise<void>;
  readonly common: () => Common;
  readonly connect: Connect;
}

type CarryOut = (asked: Asked) => Promise<ExitCode>;
type Named<N, O> = (name: N, asked: Asked, options: O) => Promise<ExitCode>;
export type Connect = (common: Common, carryOut: CarryOut) => Promise<void>;

export function addingTo(program: Command, connect: Connect): Adding {
  const plain = (name: string, description: string) =>
    program.command(name).description(description).allowExcessArguments(false);
  const add = (name: string, description: string) => plain(name, description).argument('<cluster>', '', kubernetesName);
  const common = () => program.opts<Common>();
  const run: Adding['run'] = (load) => async (name, options) => {
    const carryOut = await load();
    await connect(common(), (asked) => carryOut(name, asked, options));
  };
  const about: Adding['about'] = (name, description, load) => add(name, description).action(run(load));
  return { plain, add, about, run, common, connect };
}

export function addLooking({ plain, add, run }: Adding): void {
  const ofAny = (name: string, description: string) =>
    plain(name, description).argument('<object>', 'a cluster, or another kind like fleet/production', subjectIn);
  const view = <N, O>(command: Command, load: () => Promise<Named<N, O>>) =>
    command
      .option('-w, --watch', 'show it again whenever it has changed, until Ctrl-C', false)
      .option('--interval <seconds>', 'of --watch: between two looks', interval, 5)
      .action(run(async () => (await import('./watch.ts')).watchable(await load())));
  const status = plain(
    'status',
    'all clusters, those that need a person first, and fleets that are not well; or one, on a screen',
  )
    .argument('[cluster]', '', kubernetesName)
    .option('-A, --all-namespaces', 'of all namespaces', false)
    .option('--exit-code', 'exit with 3 if a cluster or a fleet needs a person, or no pass runs', false)
    .addOption(ofInstallation());
  view(status, async () => (await import('./status.ts')).status);
  view(
    ofAny('why', 'what it is doing or waiting for, and what you can do about it'),
    async () => (await import('./why.ts')).why,
  );
  const tree = plain('tree', 'from fleets by clusters and members to pods, each with its state')
    .argument('[fleet]', '', kubernetesName)
    .option('-A, --all-namespaces', 'of all namespaces', false);
  view(tree, async () => (await import('./tree.ts')).tree);
  plain('request', 'the report of a change request: what merging it would do, as its fleet keeps it')
    .argument('<number>', 'as the forge counts it', requestNumber)
    .option('--fleet <name>', 'where several fleets of the namespace have checked it', kubernetesName)
    .action(run(async () => (await import('./request.ts')).request));
  view(add('members', 'its members, as etcd and their pods have it'), async () => (await import('./look.ts')).members);
  view(
    ofAny('history', 'what was done for it and why, the newest first'),
    async () => (await import('./history.ts')).history,
  );
}

export function addAsking({ add, about, run, common, connect }: Adding): void {
  about('pause', 'observe it, and take no step', async () => (await import('./annotate.ts')).pause);
  about('resume', 'take steps again', async () => (await import('./annotate.ts')).resume);
  add('reconcile', 'ask for a pass now, and wait for it')
    .option('--wait <seconds>', 'until a pass has answered; 0: do not wait', seconds, 90)
    .addOption(ofInstallation())
    .action(run(async () => (await import('./reconcile.ts')).reconcile));
  add('defrag', 'ask that every member defragments its database once, one after the other, and wait for it')
    .option('--wait <seconds>', 'until all of them have; 0: do not wait', seconds, 300)
    .addOption(ofInstallation())
    .action(run(async () => (await import('./defrag.ts')).defrag));
  add('move-leader', 'hand the leadership of etcd to a healthy voter')
    .option('--to <member>', 'the member, instead of the one that has the most of the log', kubernetesName)
    .action(run(async () => (await import('./members/move-leader.ts')).moveLeader));
  add('etcdctl', 'run etcdctl of this machine with endpoints and certificates of the cluster; alone: a shell with them')
    .argument('[arguments...]', 'those of etcdctl, after --')
    .action(async (name: string, args: readonly string[]) => {
      const { etcdctl } = await import('./members/etcdctl.ts');
      await connect(common(), (asked) => etcdctl(name, args, asked));
    });
  add('approve', 'show what it asks a person to approve and what is lost with it, ask, and approve exactly that')
    .option('--fleet', 'the name is that of an EtcdFleet', false)
    .option('--for <word>', 'which, where it asks for several, like recover-quorum')
    .option('--value <value>', 'only if exactly this value is asked for, as status.approvals shows it')
    .option('-y, --yes', 'do not ask', false)
    .action(run(async () => (await import('./approve.ts')).approve));
}

const byJob = 'by a Job of the installation, which reaches the members; without it only where this machine does not';

interface CheckOptions {
  readonly inCluster: boolean;
  readonly pre: boolean;
  readonly certManager: boolean;
  readonly installation: Installation;
}

export function addPlanning({ plain, add, run, common, connect }: Adding): void {
  add('plan', 'what etcd-ratchet would do, step by step; nothing is changed')
    .option('-f, --file <file>', 'for the spec in this YAML file (-: stdin), not for that in the cluster')
    .option('--exit-code', 'exit with 3 if it ends with a person, with 4 if there is anything to do', false)
    .option('--in-cluster', byJob, false)
    .addOption(ofInstallation())
    .action(run(async () => (await import('./plan.ts')).plan));
  add('adopt', 'what the takeover of an existing etcd cluster would be, step by step; it takes --plan')
    .option('--plan', 'look and tell, and change nothing', false)
    .option('-f, --file <file>', 'the EtcdCluster with spec.bootstrap.existing in this YAML file (-: stdin)')
    .option('--pods <labels>', 'find the cluster by labels of its pods, like app=legacy, and say its IDs', podLabels)
    .option('--exit-code', 'exit with 3 if it ends with a person, with 4 if there is anything to do', false)
    .action(run(async () => (await import('./adoption/adopt.ts')).adopt));
  plain(
    'check',
    'look at it now, by the rules of a step: the exit code tells; or, with --pre, at what etcd-ratchet needs',
  )
    .argument('[cluster]', '', kubernetesName)
    .option('--in-cluster', byJob, false)
    .option('--pre', 'before an installation: what it will need of the API server; no cluster is named', false)
    .option('--cert-manager', 'with --pre: clusters will have TLS mode CertManager', false)
    .addOption(ofInstallation())
    .action(async (name: string | undefined, options: CheckOptions, command: Command) => {
      if (options.pre ? name !== undefined || options.inCluster : name === undefined || options.certManager)
        command.error('error: name a cluster, or give --pre without one; --cert-manager belongs to --pre');
      if (name === undefined) {
        const { preCheck } = await import('./pre/pre-check.ts');
        return connect(common(), (asked) => preCheck(asked, options));
      }
      const { check } = await import('./plan.ts');
      return connect(common(), (asked) => check(name, asked, options));
    });
}

export function addBackups({ plain, add, run, common, connect }: Adding): void {
  plain('offers', 'what backups and restores name and may not use yet, as commands with which its owner offers it')
    .option('-A, --all-namespaces', 'of all namespaces', false)
    .action(async (options: { allNamespaces: boolean }) => {
      const { offers } = await import('./offers.ts');
      await connect(common(), (asked) => offers(asked, options));
    });
  plain('backups', 'of that cluster, or of all, the newest first')
    .argument('[cluster]', '', kubernetesName)
    .action(run(async () => (await import('./backups.ts')).backups));
  add('backup', 'take one now, as a schedule of the cluster takes them')
    .option('--schedule <name>', 'the EtcdBackupSchedule, where the cluster has several', kubernetesName)
    .action(run(async () => (await import('./backups.ts')).backup));
  plain('restore', 'make a new cluster with the data of a backup, beside the one that was backed up')
    .argument('<backup>', '', kubernetesName)
    .requiredOption('--to <cluster>', 'the name of the new cluster', kubernetesName)
    .option('-f, --file <file>', 'a YAML file with its spec (-: stdin), not that of the cluster that was backed up')
    .action(run(async () => (await import('./restore.ts')).restore));
}

export function addSupport({ plain, common, connect }: Adding): void {
  plain('support-bundle', 'objects, events and logs of the namespace in one file, for others to read; no Secrets')
    .option('-f, --file <file>', 'instead of etcd-ratchet-<namespace>-<time>.yaml')
    .action(async (options: { file?: string }) => {
      const { kubectlLog, supportBundle } = await import('./support-bundle.ts');
      await connect(common(), (asked) => supportBundle(asked, options, kubectlLog));
    });
}
