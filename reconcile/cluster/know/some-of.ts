/** How many names a message has; the list of clusters has all. */
const told = 3;

/** The first of these names, for a message. */
export function someOf(names: readonly string[]): string {
  return [...names.slice(0, told), ...(names.length > told ? ['others'] : [])].join(', ');
}

/** The first ones of a list that a person reads, and how many more there are. */
export function firstOf<T>(all: readonly T[], most: number, saying: (words: string) => T): readonly T[] {
  const more = all.length - most;
  return more > 0 ? [...all.slice(0, most), saying(`and ${more} more`)] : all;
}
