import { ForgeError } from '../../gitops/forges/error.ts';
import type { ChangeRequest, Forge } from '../../gitops/forges/forge.ts';
import { type EtcdFleet, forkLabel } from '../../manifests/api/etcd-fleet.ts';
import { fleetDefaults } from '../../manifests/api/spec-defaults.ts';
import { fewOfEach, inTurns, oldestFirst } from './turns.ts';

/** Open requests, by what `checks.forks` says of them. */
export interface Admitted {
  readonly admitted: readonly ChangeRequest[];
  /** From forks, oldest first, and why they are not checked. */
  readonly withheld: readonly ChangeRequest[];
  readonly why: string;
  /** Those that could not be asked about now: neither checked nor taken for closed. */
  readonly unknown: readonly ChangeRequest[];
}

/** Questions to the forge in one pass. */
const mostAsked = 20;
/** Milliseconds after which none is begun: strangers choose how much there is to read. */
const askingMs = 4_000;

/** Tells which requests may be checked. @throws never: what the forge does not answer is `failed`, and unknown */
export async function admit(
  requests: readonly ChangeRequest[],
  { fleet: { spec }, forge }: { readonly fleet: Pick<EtcdFleet, 'spec'>; readonly forge: Pick<Forge, 'labelProof'> },
  { signal, now }: { readonly signal: AbortSignal; readonly now: Date },
  failed: (error: ForgeError) => void,
): Promise<Admitted> {
  const mode = spec.checks?.forks ?? fleetDefaults.forks;
  const forks = requests.filter(({ fork }) => fork);
  if (mode === 'Enabled' || forks.length === 0) return { admitted: requests, withheld: [], why: '', unknown: [] };
  const own = requests.filter(({ fork }) => !fork);
  const proof = forge.labelProof;
  if (mode === 'Disabled' || !proof) {
    const why =
      mode === 'Disabled'
        ? 'checks.forks is Disabled'
        : `checks.forks is Labelled, and a label on ${spec.forge?.type} proves nothing: use Enabled or Disabled`;
    return { admitted: own, withheld: oldestFirst(forks), why, unknown: [] };
  }
  const labelled = forks.filter((request) => request.labelled);
  const bare = forks.filter((request) => !request.labelled);
  const found =
    proof === 'always' ? { yes: labelled, no: [], unknown: [] } : await ask(labelled, proof, { signal, now }, failed);
  const setter = proof === 'always' ? '' : ', set by a person other than the author';
  return {
    admitted: [...own, ...found.yes],
    withheld: oldestFirst([...bare, ...found.no]),
    why: `checks.forks is Labelled, and they don't bear the label ${forkLabel}${setter}`,
    unknown: found.unknown,
  };
}

/** One after the other; what can't be asked in this pass is unknown. */
async function ask(
  labelled: readonly ChangeRequest[],
  proof: Exclude<NonNullable<Forge['labelProof']>, 'always'>,
  { signal, now }: { readonly signal: AbortSignal; readonly now: Date },
  failed: (error: ForgeError) => void,
): Promise<{ readonly [answer in 'yes' | 'no' | 'unknown']: readonly ChangeRequest[] }> {
  const turns = inTurns(labelled, { now, most: mostAsked });
  const asked = turns.length <= mostAsked ? turns : fewOfEach(turns).slice(0, mostAsked);
  const until = performance.now() + askingMs;
  const yes: ChangeRequest[] = [];
  const no: ChangeRequest[] = [];
  try {
    for (const request of asked) {
      if (performance.now() > until) break;
      const answers = (await proof.asks(request, { signal })) ? yes : no;
      answers.push(request);
    }
  } catch (error) {
    if (!(error instanceof ForgeError)) throw error;
    failed(error);
  }
  const known = new Set([...yes, ...no]);
  return { yes, no, unknown: labelled.filter((request) => !known.has(request)) };
}
