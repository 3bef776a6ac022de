import type { ChangeRequest } from '../../gitops/forges/forge.ts';
import { GitError, type GitReason } from '../../gitops/git/error.ts';
import type { GitSource } from '../../gitops/git/source.ts';
import { formatProblem } from '../../gitops/specs/problem.ts';
import { type CheckReport, mostProblems } from '../../manifests/api/check-report.ts';
import type { EtcdFleet } from '../../manifests/api/etcd-fleet.ts';
import { fleetDefaults } from '../../manifests/api/spec-defaults.ts';
import { keyOf } from '../../reconcile/fleet/names.ts';
import { describeOther } from '../../reconcile/fleet/others.ts';
import { asReported } from '../../reconcile/fleet/status.ts';
import type { NodePlan } from '../../reconcile/nodes/foresee.ts';
import { nodePlanLines } from '../../reconcile/nodes/plan-text.ts';
import type { Merged } from '../read/task.ts';
import type { CheckContext, Question } from './check-context.ts';
import { type Foreseen, foresee } from './foresee.ts';
import { type SignedForeseen, signaturesAsked, withSignatures } from './signatures.ts';
import { describeChange } from './summary.ts';

export interface Checked {
  readonly report: CheckReport;
  /** `<namespace>/<name>` of the clusters it is about. */
  readonly touched: readonly string[];
}

/**
 * Checks what merging would do. Nothing is written, and no code of the branch runs.
 * @throws {GitError} retryable: the Git server is to blame, and nothing is known of the request
 * @throws {KubeError} when not even the lists could be read
 */
export async function checkRequest(
  fleet: EtcdFleet,
  question: Question,
  source: GitSource,
  context: CheckContext,
): Promise<Checked> {
  const blank = blankReport(fleet, question);
  let isMerged = false;
  try {
    const { head, target, targetBranch } = question;
    const about = { source, fleet: { metadata: fleet.metadata, spec: fleet.spec }, head, target, targetBranch };
    const asked = await signaturesAsked(fleet, context);
    const verification = asked?.verification;
    const merge = await context.reader.merge({ ...about, ...(verification && { verification }) }, context.signal);
    isMerged = true;
    if (!merge.touches || !merge.trees)
      return { report: { ...blank, state: 'untouched', description: untouched(fleet) }, touched: [] };
    await context.onTouched?.();
    if (merge.trees.kind === 'failed') throw new GitError(merge.trees.reason, merge.trees.message);
    const foreseen = await foresee(fleet, merge.trees, question, context);
    const signatures = { ...merge.signatures, ...(asked?.unusable !== undefined && { unusable: asked.unusable }) };
    const signed = withSignatures(
      fleet,
      { ...foreseen, ...uncertainty(merge.uncertain), problems: [...merge.conflicts, ...foreseen.problems] },
      signatures,
    );
    return { report: reportOf(blank, signed), touched: touchedBy(foreseen) };
  } catch (error) {
    if (!(error instanceof GitError) || blamesServer(error)) throw error;
    // A merge that leaves nothing at the path, or too much, is the request's doing; the rest says nothing about it.
    const isItsDoing = isMerged && itsDoing.includes(error.reason);
    const state = isItsDoing ? 'failure' : 'error';
    const problem = { file: fleet.spec.git.path ?? fleetDefaults.path, line: 0, column: 0, message: error.message };
    const problems = state === 'failure' ? [problem] : [];
    const description = describeChange({ state, problems, message: error.message, clusters: [], deletions: [] });
    return { report: { ...blank, state, problems, problemCount: problems.length, description }, touched: [] };
  }
}

/** A merge that Git may make all the same is no failure of the request. */
function uncertainty([first]: Merged['uncertain']): { readonly unknown?: string } {
  return first ? { unknown: formatProblem(first) } : {};
}

/** Of what comes after the merge. */
const itsDoing: readonly GitReason[] = ['PathNotFound', 'TooLarge', 'TakesTooLong'];

/** What another request of the same server would meet as well. Damaged data may be this branch's own. */
function blamesServer(error: GitError): boolean {
  const own = ['CommitNotFound', 'NoCommonAncestor', 'PathNotFound', 'TooLarge', 'TakesTooLong', 'BadAnswer'];
  return !own.includes(error.reason);
}

function blankReport(fleet: EtcdFleet, { request, head, target, targetBranch }: Question): CheckReport {
  const { namespace = '', name } = fleet.metadata;
  return {
    fleet: { namespace, name },
    ...(request && { request: requestReported(request) }),
    head,
    target,
    targetBranch,
    state: 'success',
    description: '',
    problems: [],
    problemCount: 0,
    inherited: [],
    warnings: [],
    deletions: [],
    clusters: [],
  };
}

export function requestReported({
  number,
  title,
  url,
  fork,
  draft,
}: ChangeRequest): NonNullable<CheckReport['request']> {
  return { number, title, url, fork, draft };
}

function reportOf(blank: CheckReport, foreseen: SignedForeseen): CheckReport {
  const { problems, signatures } = foreseen;
  const state = problems.length > 0 ? 'failure' : foreseen.unknown ? 'error' : 'success';
  const { clusters, deletions, others, nodes, stages } = foreseen;
  const inStages = stages.length > 0 ? [{ title: 'Restarts begin in stages', lines: stages }] : [];
  const sections = [...inStages, ...nodes.slice(0, mostPolicies).map(shortPlan)];
  return {
    ...blank,
    state,
    description: describeChange({ state, problems, message: foreseen.unknown, clusters, deletions, others }),
    problems: problems.slice(0, mostProblems).map(asReported),
    problemCount: problems.length,
    inherited: foreseen.inherited.slice(0, mostProblems).map(asReported),
    warnings: foreseen.warnings.slice(0, mostProblems).map(asReported),
    deletions,
    clusters: clusters.map(({ refusals: _, changes: __, ...cluster }) => cluster),
    ...(sections.length > 0 && { sections }),
    ...(others.length > 0 && { others: others.slice(0, mostProblems).map(describeOther) }),
    ...(signatures !== undefined && { signatures }),
  };
}

/** Each line may hold what a Node says of itself: it is no longer than a person reads. */
function shortPlan(plan: NodePlan): NonNullable<CheckReport['sections']>[number] {
  const { title, lines } = nodePlanLines(plan);
  if (lines.length === 0) return { title, lines: ['no node needs a reboot'] };
  const left = lines.length - mostNodes;
  const shown = lines.slice(0, mostNodes).map((line) => line.slice(0, 300));
  return { title, lines: left > 0 ? [...shown, `and ${left} more`] : shown };
}

/** Reports are kept in a ConfigMap. */
const mostPolicies = 10;
const mostNodes = 20;

function touchedBy({ clusters, deletions }: Foreseen): readonly string[] {
  const names = [...clusters, ...deletions].map(({ namespace, name }) => keyOf({ metadata: { namespace, name } }));
  return [...new Set(names)];
}

function untouched({ spec }: EtcdFleet): string {
  return `changes nothing under ${spec.git.path ?? fleetDefaults.path}`;
}
