/** What is known of an embedding model by its name, so that users need not look it up. */
export interface ModelDefaults {
  /** Longest text it reads, in tokens. */
  readonly maxTokens: number;
  /** Results below this share of the best similarity are left out. */
  readonly threshold: number;
  /** The cosine that texts which have nothing to do with each other get. */
  readonly background: number;
}

/**
 * The first row whose pattern fits counts. Models differ in how they use the range of the cosine: those of the third
 * generation of OpenAI spread it, others press all texts into its upper quarter, and there a share of the best has to
 * be greater to leave anything out.
 */
const table: readonly (readonly [model: RegExp, defaults: Partial<ModelDefaults>])[] = [
  [/text-embedding-3/, { maxTokens: 8191, background: 0.15 }],
  [/text-embedding-ada/, { maxTokens: 8191, threshold: 0.95, background: 0.7 }],
  [/bge-m3/, { maxTokens: 8192, threshold: 0.9, background: 0.4 }],
  [/bge/, { threshold: 0.9, background: 0.5 }],
  [/gemini-embedding/, { maxTokens: 2048, threshold: 0.93, background: 0.55 }],
  [/\be5\b/, { threshold: 0.95, background: 0.7 }],
  [/qwen3-embedding/, { maxTokens: 8192, background: 0.25 }],
  [/nomic-embed/, { maxTokens: 2048, threshold: 0.9, background: 0.4 }],
];

/**
 * For a model that is not known here: short texts, because a text that is too long is refused or, worse, silently cut
 * somewhere.
 */
const unknown: ModelDefaults = { maxTokens: 512, threshold: 0.85, background: 0.25 };

export function modelDefaults(model: string): ModelDefaults {
  const name = model.toLowerCase();
  return { ...unknown, ...table.find(([pattern]) => pattern.test(name))?.[1] };
}
