import i18next from 'i18next';
import { initReactI18next } from 'react-i18next';
import { storage } from '../lib/storage.ts';
import type { SomeHubTexts } from './hub-texts.ts';
import type { SomeTexts } from './texts.ts';

interface Language {
  readonly texts: SomeTexts;
  /** What the hub says; absent from its own language. */
  readonly hub?: SomeHubTexts;
}

/** By BCP 47 tag: its name in itself, which the choice shows without loading it, and its texts. */
export const languages = {
  de: { name: 'Deutsch', load: () => import('./languages/de.ts') },
  en: { name: 'English', load: () => import('./languages/en.ts') },
  es: { name: 'Español', load: () => import('./languages/es.ts') },
  fr: { name: 'Français', load: () => import('./languages/fr.ts') },
  ja: { name: '日本語', load: () => import('./languages/ja.ts') },
  zh: { name: '简体中文', load: () => import('./languages/zh.ts') },
} as const satisfies Readonly<Record<string, { readonly name: string; readonly load: () => Promise<Language> }>>;

type Tag = keyof typeof languages;

export const tags = Object.keys(languages) as Tag[];

/** To be awaited before the first render. */
export async function startI18n(): Promise<void> {
  const wanted = [storage.get('language'), ...navigator.languages].filter((tag) => tag !== undefined);
  const tag = wanted.map((tag) => known(tag)).find((tag) => tag !== undefined) ?? 'en';
  await i18next.use(initReactI18next).init({
    lng: tag,
    fallbackLng: 'en',
    resources: { ...(tag !== 'en' && { en: await resourcesOf('en') }), [tag]: await resourcesOf(tag) },
    interpolation: { escapeValue: false },
    returnNull: false,
  });
  document.documentElement.lang = tag;
}

export async function chooseLanguage(tag: Tag): Promise<void> {
  const { translation, hub } = await resourcesOf(tag);
  i18next.addResourceBundle(tag, 'translation', translation);
  i18next.addResourceBundle(tag, 'hub', hub);
  await i18next.changeLanguage(tag);
  storage.set('language', tag);
  document.documentElement.lang = tag;
}

/** The language of that tag, or the one it is a kind of: `zh-CN` is `zh`. */
function known(tag: string): Tag | undefined {
  const [plain] = tag.split('-');
  return tags.find((each) => each === tag || each === plain);
}

async function resourcesOf(tag: Tag) {
  const { texts, hub = {} }: Language = await languages[tag].load();
  return { translation: texts, hub: { ...hub } };
}
