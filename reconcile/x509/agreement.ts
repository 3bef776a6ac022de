import type { LeafPlan, Usage } from '../../manifests/render/certificate-names.ts';
import { chainOf } from './chain.ts';
import { type Defect, fatal } from './defect.ts';
import type { LeafFacts } from './inspect.ts';

export interface HeldLeaf {
  readonly plan: LeafPlan;
  readonly facts: LeafFacts;
}

/**
 * Leaves of one cluster that a party which must accept them would reject: each peer's by every other peer; each
 * client's by every server, and the other way round. `defectsOf` judges every leaf alone.
 * @param skewMs milliseconds that clocks may differ
 */
export function agreementDefects({
  leaves,
  now,
  skewMs = 5 * 60_000,
}: {
  readonly leaves: readonly HeldLeaf[];
  readonly now: Date;
  readonly skewMs?: number;
}): readonly Defect[] {
  return leaves.flatMap((shown) => {
    const doubts = new Map<string, { readonly why: string; readonly by: string[] }>();
    const answers = new Map<string, string | undefined>();
    for (const asked of leaves) {
      const usages = usagesBetween(shown, asked);
      if (usages === undefined) continue;
      // Usually all trust the same: one verification, not one for each pair.
      const trust = asked.facts.trust.join();
      if (!answers.has(trust)) answers.set(trust, doubtOf(shown.facts, asked.facts, usages));
      const why = answers.get(trust);
      if (why === undefined) continue;
      const doubt = doubts.get(trust) ?? { why, by: [] };
      if (!doubt.by.includes(asked.plan.secretName)) doubt.by.push(asked.plan.secretName);
      doubts.set(trust, doubt);
    }
    return [...doubts.values()].map(({ why, by }) => disagreement(shown.plan.secretName, why, by));
  });

  function doubtOf(shown: LeafFacts, asked: LeafFacts, usages: readonly Usage[]): string | undefined {
    const { intermediates } = shown;
    const chain = chainOf({ leaf: shown, intermediates, trust: asked.authorities, usages, now, skewMs });
    return chain.kind === 'anchored' ? undefined : chain.why;
  }
}

/** What the one shows its leaf to the other for; `undefined` when the two never meet, or are the same Secret. */
function usagesBetween({ plan: shown }: HeldLeaf, { plan: asked }: HeldLeaf): readonly Usage[] | undefined {
  if (shown.secretName === asked.secretName) return undefined;
  if (shown.purpose === 'peer' || asked.purpose === 'peer') {
    return shown.purpose === asked.purpose ? ['serverAuth', 'clientAuth'] : undefined;
  }
  if (shown.purpose === 'server') return asked.purpose === 'server' ? undefined : ['serverAuth'];
  return asked.purpose === 'server' ? ['clientAuth'] : undefined;
}

function disagreement(secretName: string, why: string, by: readonly string[]): Defect {
  const named = by.slice(0, 3).join(', ') + (by.length > 3 ? ` and ${by.length - 3} more` : '');
  return fatal({
    reason: 'AuthoritiesDisagree',
    secretName,
    key: 'tls.crt',
    problem: `cannot be verified with ca.crt of ${named}: ${why}`,
    cure: `add the CA of ${secretName} to ca.crt of ${named}`,
  });
}
