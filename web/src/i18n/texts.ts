import type { later, texts } from './languages/en.ts';

/**
 * The shape of English with any words in it; where English has two forms by number, a language has those that are its
 * own.
 */
type Words<T> = {
  readonly [K in keyof T as K extends `${string}_one` ? never : K]: T[K] extends string ? string : Words<T[K]>;
} & {
  readonly [
    K in keyof T as K extends `${infer Key}_other` ? `${Key}_${Exclude<Intl.LDMLPluralRule, 'other'>}` : never
  ]?: string;
};

type Later = typeof later;
/** Texts that are loaded with the pages that need them. */
export type Part = keyof Later;
type TextsOf<P extends Part> = Awaited<ReturnType<Later[P]>>;

/** All members in one. */
type Together<T> = (T extends unknown ? (one: T) => void : never) extends (all: infer All) => void ? All : never;
type English = typeof texts & Together<TextsOf<Part>>;

/** All that a language has. */
export type Texts = Words<English>;
/** What is there from the start, and what is loaded later. */
export type FirstTexts = Pick<Texts, keyof typeof texts>;
export type LaterTexts = { readonly [P in Part]: () => Promise<Pick<Texts, Extract<keyof TextsOf<P>, keyof Texts>>> };

/** A language that is behind English: what it lacks is shown in English, and what English gave up is not used. */
export type SomeTexts = Some<Texts>;
export type SomeLaterTexts = { readonly [P in Part]?: () => Promise<SomeTexts> };

type Some<T> = T extends string
  ? string
  : { readonly [K in keyof T]?: Some<T[K]> | undefined } & Readonly<Record<string, unknown>>;

declare module 'i18next' {
  interface CustomTypeOptions {
    resources: { translation: English };
  }
}
