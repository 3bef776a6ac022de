import type { Adding } from '../adding.ts';

export const request: Adding = {
  what: ['request'],
  pieces: [
    {
      file: 'reconcile/cluster/act/requests/toy.ts',
      text: `import { defineRequest } from './request.ts';

export const readToy = defineRequest('readToy', {
  words: ({ name }: { readonly name: string }) => \`reads toy \${name}\`,
  live: async ({ name }): Promise<string> => name,
  model: (state, { name }) => ({ state, answer: name }),
});
`,
      missedBy: { in: 'reconcile/cluster/act/requests/all.ts', says: /Cannot find module '.\/toy.ts'/ },
    },
    {
      file: 'reconcile/cluster/act/requests/all.ts',
      text: [
        { before: 'import { askMayGoBackTo }', insert: "import { readToy } from './toy.ts';\n" },
        { after: '  createBackup,\n', insert: '  readToy,\n' },
      ],
      missedBy: { in: 'test/integration/requests/contracts.ts', says: /not assignable to type 'never'/ },
    },
    {
      file: 'test/integration/requests/backup.ts',
      text: [
        {
          before: 'import type { Contracts }',
          insert: "import { readToy } from '../../../reconcile/cluster/act/requests/toy.ts';\n",
        },
        {
          after: 'export const backup = {\n',
          insert: "  readToy: [{ when: 'there is one', asks: () => readToy({ name: 'toy' }) }],\n",
        },
      ],
      missedBy: { in: 'test/integration/requests/contracts.ts', says: /'readToy' is missing/ },
    },
  ],
};
