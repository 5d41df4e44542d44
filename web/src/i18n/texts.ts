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

declare module 'i18next' {
  interface CustomTypeOptions {
    resources: { translation: typeof texts };
  }
}
