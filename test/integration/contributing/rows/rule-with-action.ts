import type { Adding } from '../adding.ts';

export const ruleWithAction: Adding = {
  what: ['rule', 'action'],
  pieces: [
    {
      file: 'reconcile/cluster/know/actions/rolling.ts',
      text: [
        { after: 'export type RollingAction =\n', insert: "  | { readonly kind: 'toy'; readonly name: string }\n" },
      ],
      missedBy: { in: 'reconcile/cluster/act/actions/rolling/toy.ts', says: /"toy"' is not assignable/ },
    },
    {
      file: 'reconcile/cluster/act/actions/rolling/toy.ts',
      text: `import { readPeer } from '../../requests/objects.ts';
import { defineAction } from '../define.ts';

export const toy = defineAction('toy', {
  target: ({ name }) => name,
  *run({ name }) {
    yield* readPeer({ name });
  },
});
`,
      missedBy: { in: 'reconcile/cluster/act/act.ts', says: /Cannot find module '.\/actions\/rolling\/toy.ts'/ },
    },
    {
      file: 'reconcile/cluster/act/act.ts',
      text: [
        { before: 'import { advanceLog }', insert: "import { toy } from './actions/rolling/toy.ts';\n" },
        { before: "  'note-versions': noteVersions,\n", insert: '  toy,\n' },
      ],
      missedBy: { in: 'reconcile/cluster/act/act.ts', says: /Property 'toy' is missing/ },
    },
    {
      file: 'test/unit/cluster/set-aside.test.ts',
      text: [{ before: "  'add-learner': 'part of healing',\n", insert: "  toy: 'after healing',\n" }],
      missedBy: { in: 'test/unit/cluster/set-aside.test.ts', says: /Property 'toy' is missing/ },
    },
    {
      file: 'reconcile/cluster/decide/rules/rolling/play-toy.ts',
      text: `import { act, type Decision } from '../../../know/decision.ts';
import type { Situation } from '../../../know/situation.ts';

export function playToy({ cluster }: Situation): Decision | undefined {
  if (cluster.metadata.annotations?.['toy.example/play'] === undefined) return undefined;
  return act({ kind: 'toy', name: 'orders-0' }, 'PreparingMember', 'plays');
}
`,
      missedBy: {
        in: 'reconcile/cluster/decide/decide.ts',
        says: /Cannot find module '.\/rules\/rolling\/play-toy.ts'/,
      },
    },
    {
      file: 'reconcile/cluster/decide/decide.ts',
      text: [
        { before: 'import { backUpFirst }', insert: "import { playToy } from './rules/rolling/play-toy.ts';\n" },
        { before: '      [defragment,', insert: "      [playToy, 'it waits for all changes'],\n" },
      ],
      missedBy: { run: 'knip', says: /play-toy\.ts/ },
    },
    {
      file: 'docs/explanation/rules.md',
      text: [
        {
          after: '| | **care** | | |\n',
          insert:
            '| | [play-toy](../../reconcile/cluster/decide/rules/rolling/play-toy.ts) | a toy is wished for | |\n',
        },
      ],
      missedBy: { run: 'generate', says: /rules\.md: add a row \| \| \[play-toy\]/ },
    },
  ],
  generated: /docs\/explanation\/rules\.md/,
};
