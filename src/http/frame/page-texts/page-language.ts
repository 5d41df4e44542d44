import type { Context } from 'hono';
import { getCookie } from 'hono/cookie';
import { html } from 'hono/html';
import type { HubError } from '../../../core/errors.ts';
import { filled } from '../../../core/reasons.ts';
import type { SentenceWords } from '../../../core/words/sentence-words.ts';
import { timeIn } from '../../../core/words/time-words.ts';
import { english, type PageTexts } from './en.ts';

/** A part of a page. What it was made of is escaped. */
export type Content = ReturnType<typeof html>;

type English = typeof english;
type PlacesIn<Text> = Text extends `${string}{{${infer Name}}}${infer Rest}` ? Name | PlacesIn<Rest> : never;
type Values<Key extends keyof PageTexts, Value> = Readonly<Record<PlacesIn<English[Key]>, Value>>;
type ValuesOf<Key extends keyof PageTexts, Value> =
  PlacesIn<English[Key]> extends never ? [] : [values: Values<Key, Value>];

/** The language of a page that the hub makes itself. */
export interface PageLanguage {
  /** BCP 47. */
  readonly tag: PageTag;
  /** A text with the values at their places. It is no HTML: whatever shows it escapes it. */
  readonly text: <Key extends keyof PageTexts>(key: Key, ...values: ValuesOf<Key, string>) => string;
  /** The same with markup at its places; strings are escaped. */
  readonly rich: <Key extends keyof PageTexts>(key: Key, ...values: ValuesOf<Key, Content | string>) => Content;
  /** What a failure says; in English, and marked as that, where this language has no words for it. */
  readonly failure: (error: HubError) => Content;
}

interface Words {
  readonly texts: PageTexts;
  /** Absent from English, which the sentences are in. */
  readonly sentences?: SentenceWords;
}

/** Loaded when the first page in that language is asked for. */
const others = {
  de: () => Promise.all([import('./de.ts'), import('../../../core/words/de.ts')]),
  es: () => Promise.all([import('./es.ts'), import('../../../core/words/es.ts')]),
  fr: () => Promise.all([import('./fr.ts'), import('../../../core/words/fr.ts')]),
  ja: () => Promise.all([import('./ja.ts'), import('../../../core/words/ja.ts')]),
  zh: () => Promise.all([import('./zh.ts'), import('../../../core/words/zh.ts')]),
} as const;

export type PageTag = 'en' | keyof typeof others;

export const pageTags: readonly PageTag[] = ['en', ...(Object.keys(others) as (keyof typeof others)[])];

/** Where the dashboard says which language was chosen in this browser (`web/src/i18n/i18n.ts`); it is no secret. */
const languageCookie = 'toolhub_language';

/**
 * The language for who asks for a page: the one that was chosen in the dashboard, else the best one of
 * `Accept-Language`, else English. Says in `Vary` what it depends on, and in `Content-Language` what came of it.
 */
export async function pageLanguage(c: Context): Promise<PageLanguage> {
  const tag = known(getCookie(c, languageCookie) ?? '') ?? acceptedTag(c.req.header('accept-language'));
  c.header('Vary', 'Accept-Language, Cookie', { append: true });
  c.header('Content-Language', tag);
  return languageOf(tag, await wordsOf(tag));
}

/** The best known language of `Accept-Language` (RFC 9110 §12.5.4); English where it names none. */
export function acceptedTag(accepted = ''): PageTag {
  const wanted = accepted.split(',').map((part, place) => {
    const [name = '', ...parameters] = part.split(';').map((text) => text.trim());
    const weight = parameters.find((text) => /^q=/i.test(text))?.slice(2);
    return { tag: known(name), weight: weight === undefined ? 1 : Number(weight), place };
  });
  const usable = wanted.filter(({ tag, weight }) => tag !== undefined && weight > 0);
  return usable.toSorted((a, b) => b.weight - a.weight || a.place - b.place)[0]?.tag ?? 'en';
}

/** `de` for `de-AT` and `DE`. */
function known(name: string): PageTag | undefined {
  const [plain] = name.toLowerCase().split('-');
  return pageTags.find((tag) => tag === plain);
}

/** Loads the words of a language. */
export async function wordsOf(tag: PageTag): Promise<Words> {
  if (tag === 'en') return { texts: english };
  const [{ texts }, { sentences }] = await others[tag]();
  return { texts, sentences };
}

function languageOf(tag: PageTag, { texts, sentences }: Words): PageLanguage {
  return {
    tag,
    text: (key, ...[values]) => filled(texts[key], values ?? {}),
    rich: (key, ...[values]) => withMarkup(texts[key], values ?? {}),
    failure: ({ message, said }) => {
      if (!sentences) return html`${message}`;
      const words = said && (sentences as Readonly<Record<string, string>>)[said.code];
      if (words === undefined) return html`<span lang="en">${message}</span>`;
      const { time, ...values } = said?.values ?? {};
      return html`${filled(words, time === undefined ? values : { ...values, time: timeIn(tag, time) })}`;
    },
  };
}

function withMarkup(text: string, values: Readonly<Record<string, Content | string>>): Content {
  const parts = text.split(/\{\{(\w+)\}\}/);
  return html`${parts.map((part, place) => (place % 2 === 0 ? part : (values[part] ?? '')))}`;
}
