import { Command, CommanderError, Option } from 'commander';
import { repositoryFiles } from '../../manifests/documentation.ts';
import { printable } from '../../manifests/printable.ts';
import { version } from '../../manifests/release.ts';
import { kubeThrough } from '../../reconcile/clients/kube.ts';
import { findAccess } from '../../reconcile/clients/kube-access.ts';
import { isReason, KubeError } from '../../reconcile/interfaces/kube.ts';
import { kubernetesName } from './arguments.ts';
import { type Common, type ExitCode, formats, type Opened, type Reach, Refusal } from './command.ts';
import { addAsking, addBackups, addingTo, addLooking, addPlanning, addSupport, type Connect } from './commands.ts';
import { kubectlOf } from './kubectl.ts';
import type { Terminal } from './terminal.ts';

const epilogue = `
Exit codes:
  0  done
  1  it could not be done: the message says why, and what to do
  2  wrong usage
  3  of check, and with --exit-code of status and plan: a cluster needs a person
  4  of check, and with --exit-code of plan: steps are to be taken, or something is awaited;
     of check --pre: something could not be seen

It uses your kubeconfig, and no rights but yours. NO_COLOR: plain text on a terminal.
`;

/** What an admin is to be asked for. */
const roles = `Roles of a namespace: view looks, edit pauses, asks for passes and backups, etcd-ratchet-approve approves
(${repositoryFiles}/docs/how-to/install.md). Name a namespace by -n.
`;

/**
 * Carries out a person's command, and returns the exit code. Never throws for a person's mistakes or lacking rights.
 */
export async function runPlugin(
  args: readonly string[],
  terminal: Terminal,
  open: (common: Common) => Promise<Opened> = openCluster,
): Promise<ExitCode> {
  let code: ExitCode = 0;
  const program = programFor(terminal, async (common, carryOut) => {
    const { namespace: own, ...opened } = await open(common);
    try {
      const namespace = common.namespace ?? own ?? 'default';
      code = await carryOut({ ...terminal, ...opened, namespace, output: common.output });
    } finally {
      opened.kube.close();
    }
  });
  if (args[0] === '__complete') {
    await (await import('./complete.ts')).complete(args.slice(1), program, terminal, open);
    return 0;
  }
  try {
    await program.parseAsync([...args], { from: 'user' });
    return code;
  } catch (error) {
    if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : 2;
    if (!(error instanceof Refusal || error instanceof KubeError)) throw error;
    terminal.err(`error: ${printable(error.message)}\n${isReason(error, 'Forbidden') ? roles : ''}`);
    return 1;
  }
}

/** Each client is loaded only where members are asked. */
const reach: Reach = {
  etcd: async (tls) => (await import('../../reconcile/clients/etcd.ts')).connectEtcd(tls ? { tls } : {}),
  wire: async (...what) => (await import('../../reconcile/clients/served-fingerprint.ts')).servedFingerprint(...what),
};

/** The help of the plugin, and then of each command that has options. @param columns as wide as a line may be */
export function helpOfPlugin(columns: number): readonly string[] {
  const silent = { out: () => {}, err: () => {}, colours: false, now: () => new Date(0), stop: AbortSignal.abort() };
  const program = programFor(silent, async () => {});
  const commands = program.commands.filter(({ options }) => options.length > 0);
  return [program, ...commands].map((one) => {
    const texts: string[] = [];
    one.configureOutput({ writeOut: (text) => texts.push(text), getOutHelpWidth: () => columns });
    one.outputHelp();
    return texts.join('');
  });
}

async function openCluster(common: Common): Promise<Opened> {
  const access = await findAccess(common.kubeconfig, process.env, common.context);
  const kube = kubeThrough(access, { userAgent: `kubectl-ratchet/${version}` });
  return { kube, namespace: access.namespace, reach, kubectl: kubectlOf(common) };
}

function programFor(terminal: Terminal, connect: Connect): Command {
  const program = new Command('kubectl ratchet')
    .description('Looks at EtcdClusters, says why they do what they do, and asks etcd-ratchet for a pass.')
    .version(version)
    .option('-n, --namespace <namespace>', 'instead of that of the kubeconfig’s context', kubernetesName)
    .option('--context <name>', 'of the kubeconfig')
    .option('--kubeconfig <file>', 'instead of KUBECONFIG')
    .addOption(new Option('-o, --output <format>', 'of the results').choices([...formats]).default('text'))
    .addHelpText('after', epilogue)
    .showHelpAfterError('--help shows how it is used.')
    .exitOverride()
    .configureOutput({ writeOut: terminal.out, writeErr: terminal.err });
  const adding = addingTo(program, connect);
  addLooking(adding);
  addAsking(adding);
  addPlanning(adding);
  addBackups(adding);
  adding
    .plain('completion', 'print the script that completes words for kubectl: kubectl_complete-ratchet')
    .action(async () => {
      terminal.out((await import('./complete.ts')).completionScript);
    });
  addSupport(adding);
  return program;
}
