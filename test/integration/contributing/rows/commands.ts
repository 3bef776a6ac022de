import type { Adding } from '../adding.ts';

const page = 'docs/how-to/plans.md';

export const commands: Adding = {
  what: ['commands in a page'],
  pieces: [
    {
      file: page,
      text: [{ before: '## By hand', insert: '## Play\n\n```sh\nkubectl get etcdclusters\n```\n\n' }],
      missedBy: { run: 'test/unit/docs/inventory.test.ts', says: /plans\.md#play has no block of commands/ },
    },
    {
      file: 'test/support/docs/form-only.ts',
      text: [
        {
          after: 'export const formOnly: readonly FormOnly[] = [\n',
          insert: `  { places: ['${page}#play'], why: 'a toy' },\n`,
        },
      ],
      missedBy: { run: 'test/unit/docs/inventory.test.ts', says: /plans\.md/ },
    },
  ],
};
