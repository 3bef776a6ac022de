export type Log = (fields: Readonly<Record<string, unknown>>, message: string) => void;
