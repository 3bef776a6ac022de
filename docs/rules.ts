import { tiers } from '../reconcile/cluster/decide/decide.ts';

/**
 * The order of rules, and why each stands there, come from the code. Where a rule's file is and when it speaks is
 * written in the table itself, and stays when the table is written anew.
 *
 * @throws when a rule has no row yet
 */
export function rulesTable(document: string): string {
  const written = new Map(
    [...document.matchAll(/^\| \d* ?\| (\[([\w-]+)\]\([^)]+\)) \| ([^\n]*?) \|/gm)].map(
      ([, link = '', name = '', when = '']) => [name, { link, when }],
    ),
  );
  let number = 0;
  const lines = tiers.flatMap(({ tier, rows }) => [
    `| | **${tier}** | | |`,
    ...rows.map(([rule, why]) => {
      const row = written.get(kebab(rule.name));
      if (!row)
        throw new Error(`docs/explanation/rules.md: add a row | | [${kebab(rule.name)}](file) | when it speaks |`);
      number += 1;
      return `| ${number} | ${row.link} | ${row.when} | ${why} |`;
    }),
  ]);
  return ['| # | rule | speaks when | why it stands here |', '|---|---|---|---|', ...lines].join('\n');
}

function kebab(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
}
