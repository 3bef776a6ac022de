/** The API server takes objects of up to about 1.5 MiB; nothing of ours comes near any of these. */
const most = { depth: 64, values: 20_000, characters: 1_000_000 };

/** Why this is not plain, moderate JSON; `undefined`: it is, and safe to walk. A cycle is merely too large. */
export function notPlainData(value: unknown): string | undefined {
  const waiting: { value: unknown; depth: number }[] = [{ value, depth: 0 }];
  let values = 0;
  let characters = 0;

  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    if (next.depth > most.depth) return `is nested more than ${most.depth} levels deep`;
    const inside = insides(next.value);
    if (inside === undefined) return `holds a ${typeName(next.value)}, which is no JSON value`;
    characters += inside.characters;
    values += 1 + inside.values.length;
    if (values > most.values) return `holds more than ${most.values} values`;
    if (characters > most.characters) return `holds more than ${most.characters} characters`;
    for (const one of inside.values) waiting.push({ value: one, depth: next.depth + 1 });
  }
  return undefined;
}

interface Insides {
  readonly values: readonly unknown[];
  readonly characters: number;
}

/** `undefined` when it is no JSON value. */
function insides(value: unknown): Insides | undefined {
  // A key without a value is no key: objects built in TypeScript have such.
  if (value === undefined || value === null || typeof value === 'boolean') return { values: [], characters: 0 };
  if (typeof value === 'number') return Number.isFinite(value) ? { values: [], characters: 0 } : undefined;
  if (typeof value === 'string') return { values: [], characters: value.length };
  if (Array.isArray(value)) return { values: value, characters: 0 };
  if (!isPlainObject(value)) return undefined;
  const keys = Object.keys(value);
  return { values: Object.values(value), characters: keys.reduce((sum, key) => sum + key.length, 0) };
}

export function isPlainObject(value: unknown): value is Record<string, unknown> {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return false;
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === Object.prototype || prototype === null;
}

function typeName(value: unknown): string {
  if (typeof value === 'number') return String(value);
  return typeof value === 'object' ? (value?.constructor?.name ?? 'object') : typeof value;
}
