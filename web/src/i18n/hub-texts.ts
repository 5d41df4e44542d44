import i18next from 'i18next';
import type { ServerReason } from '../api/types.ts';

/** Both sentences of each reason for which a server does not connect, with places for its values. */
export type ReasonTexts = Readonly<Record<ServerReason['code'], { readonly text: string; readonly advice: string }>>;

/** The sentences of the hub by name (`core/sentences.ts`), with places for their values. */
export type SentenceTexts = Readonly<Record<string, string>>;

/** The remarks of the hub by name (`core/remarks.ts`), with places for their values. */
export type RemarkTexts = Readonly<Record<string, string>>;

/** What is wrong with a value, by name (`core/problems.ts`), with places for what it names. */
export type ProblemTexts = Readonly<Record<string, string>>;

/** What the hub says, in a language other than its own, which is English. */
export interface HubTexts {
  readonly reasons: ReasonTexts;
  readonly sentences: SentenceTexts;
  readonly problems: ProblemTexts;
  /** Loaded with the pages that need them. */
  readonly remarks: RemarkTexts;
}

/** The same of a language that is behind. */
export interface SomeHubTexts {
  readonly reasons?: Partial<ReasonTexts> | undefined;
  readonly sentences?: SentenceTexts | undefined;
  readonly problems?: ProblemTexts | undefined;
  readonly remarks?: RemarkTexts | undefined;
}

/** A reason in the language of the page; in English where it has no words for it. */
export function reasonIn({ code, values, text, advice }: ServerReason): {
  readonly text: string;
  readonly advice: string;
} {
  return {
    text: wordsOf(`reasons.${code}.text`, values) ?? text,
    advice: wordsOf(`reasons.${code}.advice`, values) ?? advice,
  };
}

/** A sentence of the hub in the language of the page; undefined where that has no words for it. */
export function sentenceIn(said: { readonly code: string; readonly values: Values } | undefined): string | undefined {
  return said && wordsOf(`sentences.${said.code}`, said.values);
}

/** A remark of the hub in the language of the page; undefined where that has no words for it. */
export function remarkIn(said: { readonly code: string; readonly values: Values } | undefined): string | undefined {
  return said && wordsOf(`remarks.${said.code}`, said.values);
}

interface Problem {
  readonly message: string;
  readonly said?: { readonly code: string; readonly values: Values } | undefined;
}

/** What is wrong with a value, in the language of the page; undefined where that has no words for it. */
export function problemIn({ said }: Problem): string | undefined {
  return said && wordsOf(`problems.${said.code}`, said.values);
}

type Values = Readonly<Record<string, string>>;

function wordsOf(key: string, values: Values): string | undefined {
  const words: unknown = i18next.getResource(i18next.language, 'hub', key);
  if (typeof words !== 'string') return undefined;
  return words.replace(/\{\{(\w+)\}\}/g, (place, name: string) => values[name] ?? place);
}
