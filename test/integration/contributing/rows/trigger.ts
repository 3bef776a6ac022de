import type { Adding } from '../adding.ts';

export const trigger: Adding = {
  what: ['trigger'],
  pieces: [
    {
      file: 'functions/serve/toy.ts',
      text: `import { Hono } from 'hono';
import type { RouteGroup } from './route-group.ts';

export function toy(): RouteGroup {
  return { app: new Hono() };
}
`,
      missedBy: { in: 'functions/serve/groups.ts', says: /Cannot find module '.\/toy.ts'/ },
    },
    {
      file: 'functions/serve/groups.ts',
      text: [{ before: '} as const satisfies', insert: "  toy: async () => (await import('./toy.ts')).toy(),\n" }],
      missedBy: { run: 'knip', says: /functions\/serve\/toy\.ts/ },
    },
  ],
};
