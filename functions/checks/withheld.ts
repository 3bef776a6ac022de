import type { ChangeRequest } from '../../gitops/forges/forge.ts';
import { forkLabel } from '../../manifests/api/etcd-fleet.ts';
import type { RequestCheck } from '../../manifests/api/etcd-fleet-status.ts';
import { fleetDefaults } from '../../manifests/api/spec-defaults.ts';
import type { ForgeFailure } from '../../reconcile/fleet/forge-limit.ts';
import { keyOf } from '../../reconcile/fleet/names.ts';
import { mostRemembered } from './ledger.ts';
import type { ChecksContext, Open } from './open-requests.ts';
import { told } from './tell-request.ts';
import { fewOfEach } from './turns.ts';

/** Requests whose authors are told: the oldest, so that newer ones of strangers change nothing. */
const mostTold = 30;
const mostToldPerPass = 5;

/** Tells authors, once, on the head, what their requests wait for; where no label helps, they wait for nothing. */
export async function tellWithheld(
  withheld: readonly ChangeRequest[],
  open: Open,
  context: ChecksContext,
): Promise<readonly RequestCheck[]> {
  const { fleet, forge, target } = open;
  const mode = fleet.spec.checks?.forks ?? fleetDefaults.forks;
  if (mode !== 'Labelled' || !forge.labelProof) return [];
  const remembered = fleet.status?.checks ?? [];
  const isTold = ({ headSha }: ChangeRequest) => remembered.some(({ head, sent }) => head === headSha && sent);
  const waiting = fewOfEach(withheld)
    .slice(0, mostTold)
    .filter((request) => !isTold(request));
  const description = `from a fork: checked once a maintainer sets the label ${forkLabel}`;
  const waits: RequestCheck[] = [];
  for (const { number, headSha: head } of waiting.slice(0, mostToldPerPass)) {
    const failures: ForgeFailure[] = [];
    const status = { number, head, state: 'pending', description } as const;
    // No link: there is no report.
    const sent = await told(status, open, { ...context, links: undefined }, (error) => failures.push(error));
    const [failure] = failures;
    // A stranger's head that the forge takes no status for is no matter of the fleet's.
    if (failure)
      context.log({ fleet: keyOf(fleet), request: number, problem: failure.message }, 'its author could not be told');
    if (!sent.sent) break;
    waits.push({ number, head, target, fork: true, state: 'withheld', description, ...sent });
  }
  return waits;
}

/** Adds those that were told, as far as there is room: checks come first. */
export function withWithheld(live: readonly RequestCheck[], waits: readonly RequestCheck[]): readonly RequestCheck[] {
  const heads = new Set(waits.map(({ head }) => head));
  const others = live.filter(({ head, state }) => !(heads.has(head) && state === 'withheld'));
  const taken = new Set(others.map(({ head }) => head));
  const added = waits.filter(({ head }) => !taken.has(head));
  return [...others, ...added.slice(0, Math.max(0, mostRemembered - others.length))];
}

/** Numbers only, and few: strangers choose how many there are. */
export function saidOf(withheld: readonly ChangeRequest[], why: string): string {
  const shown = withheld
    .slice(0, 3)
    .map(({ number }) => number)
    .join(', ');
  const more = withheld.length > 3 ? ` and ${withheld.length - 3} more` : '';
  return `${withheld.length} from forks: ${shown}${more} (${why})`;
}
