const units = ['B', 'KiB', 'MiB', 'GiB', 'TiB'];

/** `20.1 MiB` */
export function size(bytes: number): string {
  let value = bytes;
  let unit = 0;
  for (; value >= 1024 && unit < units.length - 1; unit += 1) value /= 1024;
  return `${unit === 0 || value >= 100 ? Math.round(value) : value.toFixed(1)} ${units[unit]}`;
}
