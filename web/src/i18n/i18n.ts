import i18next from 'i18next';
import { initReactI18next } from 'react-i18next';
import { storage } from '../lib/storage.ts';
import type { HubTexts } from './hub-texts.ts';
import type { Texts } from './texts.ts';

interface Language {
  readonly name: string;
  readonly texts: Texts;
  /** What the hub says; absent from its own language. */
  readonly hub?: HubTexts;
}

/** A language is a file in `languages/`, named by its BCP 47 tag: dropping one there adds it. */
const files = import.meta.glob<Language>('./languages/*.ts');
const loaders = new Map(Object.entries(files).map(([path, load]) => [path.replace(/^.*\/|\.ts$/g, ''), load]));

/** Tags and own names, loaded when the choice is opened. */
export async function languages(): Promise<readonly { readonly tag: string; readonly name: string }[]> {
  return Promise.all([...loaders].map(async ([tag, load]) => ({ tag, name: (await load()).name })));
}

/** To be awaited before the first render. */
export async function startI18n(): Promise<void> {
  const wanted = [storage.get('language'), ...navigator.languages].filter((tag) => tag !== undefined);
  const tag = wanted.map((tag) => known(tag)).find((tag) => tag !== undefined) ?? 'en';
  await i18next.use(initReactI18next).init({
    lng: tag,
    fallbackLng: 'en',
    resources: { [tag]: await resourcesOf(tag) },
    interpolation: { escapeValue: false },
    returnNull: false,
  });
  document.documentElement.lang = tag;
}

export async function chooseLanguage(tag: string): Promise<void> {
  const { translation, hub } = await resourcesOf(tag);
  i18next.addResourceBundle(tag, 'translation', translation);
  i18next.addResourceBundle(tag, 'hub', hub);
  await i18next.changeLanguage(tag);
  storage.set('language', tag);
  document.documentElement.lang = tag;
}

/** The language of that tag, or the one it is a kind of: `zh-CN` is `zh`. */
function known(tag: string): string | undefined {
  const [plain = ''] = tag.split('-');
  return [tag, plain].find((each) => loaders.has(each));
}

async function resourcesOf(tag: string) {
  const load = loaders.get(tag);
  if (!load) throw new Error(`No language "${tag}"`);
  const { texts, hub = {} } = await load();
  return { translation: texts, hub: { ...hub } };
}
