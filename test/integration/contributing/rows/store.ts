import type { Adding } from '../adding.ts';

export const store: Adding = {
  what: ['store of backups'],
  pieces: [
    {
      file: 'manifests/stores/toy.ts',
      text: `import { networkStore, type SchemaTools } from './store-kind.ts';

export const toy = networkStore({
  reach: 'network',
  bucket: { pattern: '[a-z]{3,63}', words: 'a box' },
  field: 'toy',
  needsField: false,
  settings,
  request,
  secretVolume: 'toy-key',
  secretName: ({ toy: { keySecretName } = {} }) => keySecretName,
  secretKeys: { needed: ['key'] },
  ask: ({ toy: { endpoint } = {} }) => ({ toy: { ...(endpoint !== undefined && { endpoint }) } }),
  ownEndpoints: /^toys\\.example\\.com$/,
  sendsSecret: () => true,
  sendsToken: () => false,
});

function settings({ Type, object, text }: SchemaTools) {
  return object(
    {
      keySecretName: Type.Optional(text(253, { description: 'A Secret.' })),
      endpoint: Type.Optional(text(1024, { description: 'Where it is.' })),
    },
    { description: 'Of toy:// objects.' },
  );
}

function request({ Type, object, text }: SchemaTools) {
  return object({ endpoint: Type.Optional(text(1024)) });
}
`,
      missedBy: { in: 'manifests/stores/stores.ts', says: /Cannot find module '.\/toy.ts'/ },
    },
    {
      file: 'manifests/stores/stores.ts',
      text: [
        {
          before: "import type { SchemaTools } from './store-kind.ts';\n",
          insert: "import { toy } from './toy.ts';\n",
        },
        { after: 'export const stores = { ', insert: 'toy, ' },
      ],
      missedBy: { in: 'reconcile/backup/stores/openers.ts', says: /'toy' does not exist/ },
    },
    {
      file: 'reconcile/backup/stores/toy/opener.ts',
      text: `import type { Opener } from '../opener.ts';

export const toy: Opener<'toy'> = {
  open: () => Promise.reject(new Error('a toy keeps nothing')),
  ownHosts: () => ({ vendor: [], identity: [] }),
};
`,
      missedBy: { in: 'reconcile/backup/stores/openers.ts', says: /Cannot find module '.\/toy\/opener.ts'/ },
    },
    {
      file: 'reconcile/backup/stores/openers.ts',
      text: [
        { after: "import { s3 } from './s3/opener.ts';\n", insert: "import { toy } from './toy/opener.ts';\n" },
        { after: 'export const openers = { ', insert: 'toy, ' },
      ],
      missedBy: { in: 'reconcile/backup/stores/openers.ts', says: /Property 'toy' is missing/ },
    },
    {
      file: 'test/unit/backup/store-rows.test.ts',
      text: [{ before: "  pvc: 'it is mounted", insert: "  toy: 'nothing opens it',\n" }],
      missedBy: { in: 'test/unit/backup/store-rows.test.ts', says: /Property 'toy' is missing/ },
    },
  ],
  generated: /docs\/reference\/api\.md/,
};
