import type { texts } from './languages/en.ts';

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

export type Texts = Words<typeof texts>;

/** A language that is behind English: what it lacks is shown in English, and what English gave up is not used. */
export type SomeTexts = Some<Texts>;

type Some<T> = T extends string
  ? string
  : { readonly [K in keyof T]?: Some<T[K]> | undefined } & Readonly<Record<string, unknown>>;

declare module 'i18next' {
  interface CustomTypeOptions {
    resources: { translation: typeof texts };
  }
}
