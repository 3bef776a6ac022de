import { isPlainObject } from '../../manifests/api/plain-data.ts';
import { jsonIn } from '../../manifests/json.ts';

/** What a run of retention came to, as far as its pod could tell. */
export interface PruneEnd {
  readonly ok: boolean;
  readonly kept?: number;
  readonly earlierLives?: number;
  readonly removed?: number;
  readonly left?: number;
  readonly locked?: number;
  readonly others?: number;
  readonly names?: readonly string[];
  readonly failure?: { readonly reason: string; readonly message: string };
}

const longest = { reason: 128, message: 2048, name: 1100, names: 20 } as const;

/** Reads the agent's termination message. Takes any text, and never throws: a pod may have written anything. */
export function pruneEndOf(message: string | undefined): PruneEnd {
  const said = parsed(message);
  if (said === undefined) {
    const text = message === undefined || message === '' ? 'its pod is gone or said nothing' : 'its pod said no result';
    return { ok: false, failure: { reason: 'ResultLost', message: `${text}: look at its Job and its log` } };
  }
  const pruned = isPlainObject(said.pruned) ? said.pruned : {};
  const { names } = pruned;
  return {
    ok: said.ok === true,
    ...counts(pruned),
    ...(Array.isArray(names) && { names: names.flatMap((name) => texts(name, longest.name)).slice(0, longest.names) }),
    ...(said.ok !== true && {
      failure: {
        reason: texts(said.reason, longest.reason)[0] ?? 'Unexpected',
        message: texts(said.message, longest.message)[0] ?? 'the agent gave no cause: look at the log of its Job',
      },
    }),
  };
}

function parsed(message: string | undefined): Record<string, unknown> | undefined {
  const value = jsonIn(message ?? '');
  return isPlainObject(value) && typeof value.ok === 'boolean' ? value : undefined;
}

const countFields = ['kept', 'earlierLives', 'removed', 'left', 'locked', 'others'] as const;

function counts(pruned: Record<string, unknown>): Pick<PruneEnd, (typeof countFields)[number]> {
  return Object.fromEntries(
    countFields.flatMap((name) => {
      const value = pruned[name];
      return Number.isInteger(value) && Number(value) >= 0 && Number(value) < 2 ** 31 ? [[name, value]] : [];
    }),
  );
}

function texts(value: unknown, length: number): readonly string[] {
  return typeof value === 'string' ? [value.slice(0, length)] : [];
}
