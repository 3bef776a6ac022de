/** CONTRIBUTING's table "Adding things": of each first cell, the files and folders that its row names. */
export function rowsOf(contributing: string): ReadonlyMap<string, readonly string[]> {
  const [, section = ''] = /^## Adding things$([\s\S]*?)^#?#? ?\S[^|]*$(?![\s\S]*^\|)/m.exec(contributing) ?? [];
  const rows = [...section.matchAll(/^\| (?!what|-)([^|]+) \| (.*) \|$/gm)];
  return new Map(rows.map(([, what = '', rest = '']) => [what, placesIn(rest)]));
}

function placesIn(cells: string): readonly string[] {
  const links = [...cells.matchAll(/\]\(([^)#]+)/g)].map(([, path = '']) => path);
  const spans = [...cells.matchAll(/`([^` ]+)`/g)].map(([, text = '']) => text);
  return [...links, ...spans.filter((text) => /[/.]/.test(text))];
}

/** Whether one of these is the file, or a folder that it is in. `<name>` is any. */
export function isNamed(file: string, places: readonly string[]): boolean {
  return places.some((place) => {
    const pattern = place
      .replace(/\/$/, '')
      .split(/<[^>]+>/)
      .map(RegExp.escape)
      .join('[^/]+');
    const start = place.includes('/') ? '^' : '(^|/)';
    return new RegExp(`${start}${pattern}($|/)`).test(file);
  });
}
