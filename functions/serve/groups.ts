import type { RouteGroup, ServeContext } from './route-group.ts';

/** All listeners; a new trigger is a file and a line here. Loaded only when enabled, by `RATCHET_<NAME>=Enabled`. */
const groups = {
  events: async (context: ServeContext) => (await import('./events.ts')).events(context),
  page: async (context: ServeContext) => (await import('./page.ts')).page(context),
  webhooks: async (context: ServeContext) => (await import('./webhooks.ts')).webhooks(context),
} as const satisfies Record<string, (context: ServeContext) => Promise<RouteGroup>>;

export type GroupName = keyof typeof groups;

export const groupNames = Object.keys(groups) as readonly GroupName[];

export function variableOf(name: GroupName): string {
  return `RATCHET_${name.toUpperCase()}`;
}

export function openGroup(name: GroupName, context: ServeContext): Promise<RouteGroup> {
  return groups[name](context);
}
