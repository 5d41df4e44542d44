import type { SentenceCode } from '../sentences.ts';

/** What the hub says to people (`core/sentences.ts`), by name, in another language than its own, which is English. */
export type SentenceWords = Readonly<Record<SentenceCode, string>>;
