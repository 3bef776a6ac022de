import Type, { type Static } from 'typebox';
import { Value } from 'typebox/value';
import type { ReadonlyDeep } from '../../manifests/api/schema.ts';
import { jsonIn } from '../../manifests/json.ts';

/** The shown part of a report. Others may write its ConfigMap, so nothing of it is taken on trust. */
const problem = Type.Object({
  file: Type.String(),
  line: Type.Integer(),
  column: Type.Integer(),
  message: Type.String(),
});

const step = Type.Object({
  action: Type.String(),
  target: Type.Optional(Type.String()),
  reason: Type.String(),
  message: Type.String(),
});

const cluster = Type.Object({
  namespace: Type.String(),
  name: Type.String(),
  intent: Type.Enum(['keep', 'update', 'create', 'delete']),
  fields: Type.Optional(Type.Array(Type.String())),
  planned: Type.Optional(
    Type.Object({
      summary: Type.String(),
      risk: Type.Optional(Type.String()),
      rights: Type.Optional(
        Type.Array(
          Type.Object({
            who: Type.String(),
            gains: Type.Optional(Type.String()),
            loses: Type.Optional(Type.String()),
          }),
        ),
      ),
      steps: Type.Array(step),
      end: Type.Object({
        kind: Type.Enum(['done', 'refused', 'waits', 'circles', 'goes-on']),
        reason: Type.String(),
        message: Type.String(),
        cure: Type.Optional(Type.String()),
      }),
    }),
  ),
  problem: Type.Optional(Type.String()),
});

const report = Type.Object({
  fleet: Type.Object({ namespace: Type.String(), name: Type.String() }),
  request: Type.Optional(Type.Object({ number: Type.String(), title: Type.String(), url: Type.String() })),
  head: Type.String(),
  target: Type.String(),
  targetBranch: Type.String(),
  state: Type.Enum(['success', 'failure', 'error', 'untouched']),
  description: Type.String(),
  problems: Type.Array(problem),
  problemCount: Type.Integer(),
  inherited: Type.Array(problem),
  warnings: Type.Array(problem),
  deletions: Type.Array(
    Type.Object({ namespace: Type.String(), name: Type.String(), kept: Type.Optional(Type.String()) }),
  ),
  clusters: Type.Array(cluster),
  others: Type.Optional(Type.Array(Type.String())),
  sections: Type.Optional(Type.Array(Type.Object({ title: Type.String(), lines: Type.Array(Type.String()) }))),
  signatures: Type.Optional(Type.String()),
  shortened: Type.Optional(Type.Boolean()),
});

export type ShownReport = ReadonlyDeep<Static<typeof report>>;
export type ShownCluster = ShownReport['clusters'][number];

/** A ConfigMap has at most this many bytes. */
const longest = 1 << 20;

/** `undefined` for whatever is no report. */
export function parseReport(text: string | undefined): ShownReport | undefined {
  const value = text === undefined || text.length > longest ? undefined : jsonIn(text);
  return Value.Check(report, value) ? value : undefined;
}

const plans = Type.Object({ clusters: Type.Array(cluster) });

/** The plans that `tick --plan --output=json` printed; `undefined` for what is anything else. */
export function parsePlans(text: string): readonly ShownCluster[] | undefined {
  const printed = jsonIn(text);
  return Value.Check(plans, printed) ? printed.clusters : undefined;
}
