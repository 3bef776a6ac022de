import type { Adding } from '../adding.ts';

export const reason: Adding = {
  what: ['reason'],
  pieces: [
    {
      file: 'reconcile/reasons/changes.ts',
      text: [
        {
          after: 'export const changes = {\n',
          insert: "  ToyBroken: { means: 'A toy is broken.', cure: 'mend the toy that the message names' },\n",
        },
      ],
      missedBy: { in: 'reconcile/reasons/refusals.ts', says: /'ToyBroken' does not exist in type/ },
    },
    {
      file: 'reconcile/reasons/refusals.ts',
      text: [{ before: "  PodRefused: 'itself',\n", insert: "  ToyBroken: 'person',\n" }],
      missedBy: {
        in: 'reconcile/cluster/decide/rules/general/converged.ts',
        says: /'"ToyBroken"' is not assignable/,
      },
    },
    {
      file: 'reconcile/cluster/decide/rules/general/converged.ts',
      text: [
        { after: '{ type Decision, done', insert: ', refuse' },
        {
          before: '  const members',
          insert: "  if (effective.replicas === 99) return refuse('ToyBroken', 'the toy is broken', 'mend it');\n",
        },
      ],
      missedBy: 'toy',
    },
  ],
  generated: /docs\/reference\/reasons\.md/,
};
