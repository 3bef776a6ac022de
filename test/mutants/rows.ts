import { type Guard, guardOf, isNode, type Node, programOf } from './guards.ts';

/**
 * Every row of the tables of a source: an object, a list, a Set or a Map at its top. It is taken out; where the rows
 * sort into a few words, as `itself` and `person`, the row gets the word of another one.
 */
export function rowsIn(source: string): readonly Guard[] {
  return tablesIn(programOf(source)).flatMap((rows) => {
    const words = [...new Set(rows.flatMap(({ value }) => wordOf(value) ?? []))];
    const isSorted = words.length > 1 && words.length < rows.length / 2;
    return rows.flatMap((row) => {
      if (!isSorted) return [guardOf({ node: withComma(row, source), to: '', how: 'without the row' }, source)];
      const word = wordOf(row.value);
      const next = words[(words.indexOf(word ?? '') + 1) % words.length];
      if (word === undefined || !isNode(row.value)) return [];
      return [
        guardOf(
          { node: row.value, to: `'${next}'`, how: `as "${next}", the row ${source.slice(row.start, row.end)}, not` },
          source,
        ),
      ];
    });
  });
}

function tablesIn({ body }: Node): readonly (readonly Node[])[] {
  const declared = nodesIn(body).flatMap((one) =>
    nodesIn((isNode(one.declaration) ? one.declaration : one).declarations),
  );
  return declared.map(({ init }) => rowsOf(init)).filter((rows) => rows.length > 1);
}

/** Through types, and through the Set or Map that is made of it. */
function rowsOf(value: unknown): readonly Node[] {
  if (!isNode(value)) return [];
  switch (value.type) {
    case 'ObjectExpression':
      return nodesIn(value.properties);
    case 'ArrayExpression':
      return nodesIn(value.elements);
    case 'NewExpression':
      return rowsOf(nodesIn(value.arguments)[0]);
    case 'TSAsExpression':
    case 'TSSatisfiesExpression':
      return rowsOf(value.expression);
    default:
      return [];
  }
}

function nodesIn(value: unknown): readonly Node[] {
  return Array.isArray(value) ? value.filter(isNode) : [];
}

function wordOf(value: unknown): string | undefined {
  const word = isNode(value) && value.type === 'Literal' ? value.value : undefined;
  return typeof word === 'string' && /^[a-z]+$/.test(word) ? word : undefined;
}

function withComma({ start, end }: Node, source: string) {
  const [comma = ''] = /^\s*,/.exec(source.slice(end)) ?? [];
  return { start, end: end + comma.length };
}
