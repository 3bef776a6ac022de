/** Texts that YAML 1.1 takes for something else are quoted: `on`, `0b1`. kubectl reads so, and we do. */
export const forKubectl = { compat: 'yaml-1.1' } as const;
