import type { Adding } from '../adding.ts';

export const forge: Adding = {
  what: ['forge'],
  pieces: [
    {
      file: 'manifests/api/etcd-fleet.ts',
      text: [{ before: '] as const;\nexport type ForgeType', insert: "  'Toy',\n" }],
      missedBy: { in: 'gitops/forges/registry.ts', says: /'Toy' does not exist in type/ },
    },
    {
      file: 'gitops/forges/toy/api.ts',
      text: "export { gitea as toy } from '../gitea/api.ts';\n",
      missedBy: { in: 'gitops/forges/registry.ts', says: /Cannot find module '.\/toy\/api.ts'/ },
    },
    {
      file: 'gitops/forges/toy/webhook.ts',
      text: "export { gitea as toy } from '../gitea/webhook.ts';\n",
      missedBy: { in: 'gitops/forges/registry.ts', says: /Cannot find module '.\/toy\/webhook.ts'/ },
    },
    {
      file: 'gitops/forges/registry.ts',
      text: [
        {
          before: '\ninterface Sender {',
          insert: `import { toy as toyApi } from './toy/api.ts';
import { toy as toyWebhook } from './toy/webhook.ts';
`,
        },
        { before: '  Generic: {', insert: '  Toy: { api: toyApi, webhook: toyWebhook },\n' },
      ],
      missedBy: { in: 'gitops/forges/registry.ts', says: /'Toy' is missing/ },
    },
    {
      file: 'test/integration/gitops/forges/others.ts',
      text: [{ before: '} as const satisfies Record<ForgeType, OtherClient>', insert: '  Toy: gitea,\n' }],
      missedBy: { in: 'test/integration/gitops/forges/others.ts', says: /'Toy' is missing/ },
    },
    {
      file: 'test/integration/gitops/forges/reports.ts',
      text: [{ before: '  AzureDevOps: azureDevOps,', insert: '  Toy: [],\n' }],
      missedBy: { in: 'test/integration/gitops/forges/reports.ts', says: /'Toy' is missing/ },
    },
    {
      file: 'test/support/webhooks/deliveries.ts',
      text: [{ before: '  Generic: generic,', insert: '  Toy: gitea,\n' }],
      missedBy: { in: 'test/support/webhooks/deliveries.ts', says: /'Toy' is missing/ },
    },
  ],
  generated: /crds\/etcdfleets\.yaml/,
};
