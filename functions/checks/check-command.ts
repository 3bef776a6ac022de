import { ForgeError } from '../../gitops/forges/error.ts';
import type { ChangeRequest } from '../../gitops/forges/forge.ts';
import { GitError } from '../../gitops/git/error.ts';
import { resolveRef } from '../../gitops/git/resolve.ts';
import type { CheckReport } from '../../manifests/api/check-report.ts';
import type { EtcdCluster } from '../../manifests/api/etcd-cluster.ts';
import type { EtcdFleet } from '../../manifests/api/etcd-fleet.ts';
import { keyOf } from '../../reconcile/fleet/names.ts';
import { resources } from '../../reconcile/interfaces/kube.ts';
import { chosenFleets } from '../pass/chosen.ts';
import { openFleetForge } from '../pass/fleet-forge.ts';
import { connectFleetGit } from '../pass/fleet-git.ts';
import type { PlanPassContext } from '../pass/plan-pass.ts';
import { dryRunOnly } from '../pass/read-only.ts';
import { createReader } from '../read/reader.ts';
import { branchOf } from './branch.ts';
import type { Question } from './check-context.ts';
import { checkRequest } from './check-request.ts';
import { reportMarkdown } from './markdown.ts';

/**
 * Prints what merging a request, or a commit, would do for each chosen fleet, and writes nothing.
 * @throws {KubeError} when fleets and clusters can't be listed
 */
export async function printChecks(
  what: string,
  format: 'text' | 'json',
  context: PlanPassContext,
  out: (text: string) => void,
): Promise<0 | 1> {
  const kube = dryRunOnly(context.kube);
  const { namespace, signal } = context;
  const [fleets, clusters] = await Promise.all([
    kube.list<EtcdFleet>(resources.fleets, { namespace, signal }),
    kube.list<EtcdCluster>(resources.clusters, { namespace, signal }),
  ]);
  const chosen = chosenFleets(context, fleets.items, clusters.items).filter((fleet) => branchOf(fleet) !== undefined);
  using reader = createReader();
  const world = { ...context, reader, kube, fleets: fleets.items, clusters: clusters.items };
  const results = await Promise.all(chosen.map((fleet) => checkNow(fleet, what, world)));
  const reports = results.flatMap((one) => ('report' in one ? [one.report] : []));
  const problems = results.flatMap((one) => ('problem' in one ? [one.problem] : []));
  // A number that one of several repositories does not know is no mistake while another does.
  const isFound = reports.length > 0;
  if (format === 'json')
    out(`${JSON.stringify({ reports, problems: isFound ? [] : problems, requests: kube.requests() })}\n`);
  else if (isFound) out(reports.map(reportMarkdown).join('\n'));
  else out(`${problems.join('\n') || 'there is no fleet here that follows a branch'}\n`);
  return isFound && reports.every(({ state }) => state === 'success' || state === 'untouched') ? 0 : 1;
}

type World = Parameters<typeof checkRequest>[3];
type Result = { readonly report: CheckReport } | { readonly problem: string };

async function checkNow(fleet: EtcdFleet, what: string, world: World): Promise<Result> {
  const { kube, signal } = world;
  const targetBranch = branchOf(fleet) ?? '';
  try {
    const found = await findRequest(fleet, what, targetBranch, world);
    if (typeof found === 'string') return { problem: found };
    using git = await connectFleetGit(fleet, { kube, signal });
    const { sha: target } = await resolveRef(git, signal);
    const question: Question = { ...found, target, targetBranch };
    return { report: (await checkRequest(fleet, question, git.source, world)).report };
  } catch (error) {
    if (!(error instanceof GitError || error instanceof ForgeError)) throw error;
    return { problem: `fleet ${keyOf(fleet)}: ${error.message}` };
  }
}

/** A commit needs no forge; a number does. */
async function findRequest(
  fleet: EtcdFleet,
  what: string,
  branch: string,
  { kube, signal }: World,
): Promise<string | { readonly request?: ChangeRequest; readonly head: string }> {
  const isSha = /^[0-9a-f]{40}$/.test(what);
  const opened = await openFleetForge(fleet, { kube, signal });
  if (isSha && opened?.kind !== 'open') return { head: what };
  if (opened?.kind !== 'open') {
    const why = opened?.message ?? 'it names no forge; give the commit instead';
    return `fleet ${keyOf(fleet)}: request ${what} cannot be looked up: ${why}`;
  }
  try {
    const { requests } = await opened.forge.openRequests(branch, { signal });
    const request = requests.find(({ number, headSha }) => (isSha ? headSha === what : number === what));
    if (request) return { request, head: request.headSha };
    return isSha ? { head: what } : `fleet ${keyOf(fleet)}: there is no open request ${what} for ${branch}`;
  } catch (error) {
    // What a commit is called there is good to know, and no more.
    if (isSha && error instanceof ForgeError) return { head: what };
    throw error;
  }
}
