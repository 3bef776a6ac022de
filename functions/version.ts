/** Kept here and not read from package.json: the bundle stands alone. A test compares the two. */
export const version = '0.1.0';
