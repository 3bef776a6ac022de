/** A line that the demo prints, without what differs from run to run: seconds, hashes, addresses, members' numbers. */
export function shapeOf(line: string): string {
  return line
    .trim()
    .replace(/^\d+\.\d s /, '0.0 s ')
    .replaceAll(/\b\d+\.\d+\.\d+\.\d+\b/g, '0.0.0.0')
    .replaceAll(/\b[0-9a-f]{16}\b|\b[0-9a-f]{7}\b/g, 'f')
    .replaceAll(/\borders-\d\b/g, 'orders-0');
}

/**
 * The first line that is not printed, after the ones before it, in this shape; `undefined`: all are. Lines may be left
 * out of what is shown, and none is made up.
 */
export function madeUp(shown: string, printed: string): string | undefined {
  const rest = printed.split('\n').map(shapeOf);
  return shown
    .split('\n')
    .filter((line) => line.trim() !== '')
    .find((line) => {
      const at = rest.indexOf(shapeOf(line));
      rest.splice(0, at + 1);
      return at < 0;
    });
}
