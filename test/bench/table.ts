/** Columns as wide as their widest cell; the first to the left, figures to the right. */
export function table(rows: readonly (readonly string[])[]): string {
  const widths = (rows[0] ?? []).map((_, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0)));
  const line = (row: readonly string[]) =>
    row
      .map((cell, column) => (column === 0 ? cell.padEnd(widths[column] ?? 0) : cell.padStart(widths[column] ?? 0)))
      .join('   ')
      .trimEnd();
  return rows.map(line).join('\n');
}

export function aim(text: string, isMet: boolean): string {
  return `${isMet ? 'met   ' : 'MISSED'}  ${text}`;
}
