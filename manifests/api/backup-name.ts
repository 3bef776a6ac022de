/** A Job is named after it, and its name is a label of its pod: 63 characters, of which `-verify-10` takes ten. */
export const longestBackupName = 52;
