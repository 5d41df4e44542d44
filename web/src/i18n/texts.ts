import type { texts } from './languages/en.ts';

/** The shape of English with any words in it. */
type Words<T> = { readonly [K in keyof T]: T[K] extends string ? string : Words<T[K]> };

export type Texts = Words<typeof texts>;

declare module 'i18next' {
  interface CustomTypeOptions {
    resources: { translation: typeof texts };
  }
}
