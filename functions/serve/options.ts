import { type GroupName, groupNames, variableOf } from './groups.ts';

export interface ServeOptions {
  readonly kind: 'options';
  readonly groups: readonly GroupName[];
  /** The name that Knative and most platforms use. */
  readonly port: number;
  /** Absent: every address. */
  readonly host?: string;
  /** Look at one namespace only, for an installation without cluster-wide rights. */
  readonly namespace?: string;
}

export type ServeOptionsRead = ServeOptions | { readonly kind: 'wrong'; readonly problem: string };

/** What the environment asks for. A server that would do nothing is a mistake, and told as one. */
export function serveOptions(env: NodeJS.ProcessEnv): ServeOptionsRead {
  const groups: GroupName[] = [];
  for (const name of groupNames) {
    const variable = variableOf(name);
    const value = env[variable] ?? 'Disabled';
    if (value !== 'Enabled' && value !== 'Disabled') return wrong(`${variable} must be Enabled or Disabled`);
    if (value === 'Enabled') groups.push(name);
  }
  if (groups.length === 0) {
    return wrong(`nothing is enabled: set ${groupNames.map(variableOf).join(' or ')} to Enabled`);
  }
  const { PORT = '8080', RATCHET_HOST: host, RATCHET_NAMESPACE: namespace } = env;
  const port = Number(PORT);
  if (!/^\d{1,5}$/.test(PORT) || port > 65_535) return wrong('PORT must be a number from 0 to 65535');
  return { kind: 'options', groups, port, ...(host && { host }), ...(namespace && { namespace }) };
}

function wrong(problem: string): ServeOptionsRead {
  return { kind: 'wrong', problem };
}
