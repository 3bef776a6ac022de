import { printable } from '../../../manifests/printable.ts';
import { KubeError } from '../../../reconcile/interfaces/kube.ts';
import type { Asked, ExitCode } from '../command.ts';
import { dataText } from '../objects.ts';
import type { Installation } from '../reconcile.ts';
import { type Cell, table } from '../table.ts';
import * as checks from './checks.ts';

interface PreOptions {
  readonly installation: Installation;
  readonly certManager: boolean;
}

/** In the order in which a person mends. */
const questions = {
  version: checks.kubernetesVersion,
  rights: checks.rights,
  policies: checks.admissionPolicies,
  CRDs: checks.definitionsOfOurs,
  storage: checks.storage,
  namespace: checks.podSecurity,
  clock: checks.clock,
  'cert-manager': checks.certManager,
} as const;

const bounds = { milliseconds: 15_000, mostBytes: 4 * 1024 * 1024 };
const words = {
  ok: { text: 'ok', tone: 'good' },
  do: { text: 'do', tone: 'bad' },
  unknown: { text: 'unknown', tone: 'busy' },
} as const satisfies Record<checks.Found['verdict'], Cell>;

/**
 * What an installation will need, asked of the API server before there is one. Nothing is changed.
 * @returns 0: all is there; 3: a person has something to do; 4: something could not be seen
 */
export async function preCheck(asked: Asked, { installation, certManager }: PreOptions): Promise<ExitCode> {
  const { namespace } = installation;
  const raw = (path: string) => asked.kubectl.text(['get', '--raw', path], { ...bounds, signal: asked.stop });
  const lines: (checks.Found & { readonly what: string })[] = [];
  for (const [what, find] of Object.entries(questions)) {
    if (what === 'cert-manager' && !certManager) continue;
    lines.push({ what, ...(await find({ asked, namespace, raw }).catch(unseen)) });
  }
  const code = codeOf(lines);
  if (asked.output === 'text') {
    const rows = lines.map(({ what, verdict, text }) => [what, words[verdict], text]);
    asked.out(table(['WHAT', 'IS', 'SAYS'], rows, asked.colours));
  } else asked.out(dataText({ checks: lines }, asked.output));
  return code;
}

function codeOf(lines: readonly checks.Found[]): 0 | 3 | 4 {
  if (lines.some(({ verdict }) => verdict === 'do')) return 3;
  return lines.some(({ verdict }) => verdict === 'unknown') ? 4 : 0;
}

/** One right that lacks hides no other line. Without an API server there is nothing to tell. */
function unseen(error: unknown): checks.Found {
  if (!(error instanceof KubeError) || error.reason !== 'Forbidden') throw error;
  return { verdict: 'unknown', text: printable(`you may not look: ${error.message}`) };
}
