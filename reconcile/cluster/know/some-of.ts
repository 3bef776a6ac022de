/** How many names a message has; the list of clusters has all. */
const told = 3;

/** The first of these names, for a message. */
export function someOf(names: readonly string[]): string {
  return [...names.slice(0, told), ...(names.length > told ? ['others'] : [])].join(', ');
}
