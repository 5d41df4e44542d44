import i18next from 'i18next';
import { initReactI18next } from 'react-i18next';
import { storage } from '../lib/storage.ts';
import type { SomeHubTexts } from './hub-texts.ts';
import type { Part, SomeLaterTexts, SomeTexts } from './texts.ts';

interface Language {
  readonly texts: SomeTexts;
  /** By part, those that are loaded with the pages that need them. */
  readonly later: SomeLaterTexts;
  /** What the hub says; absent from its own language. */
  readonly hub?: SomeHubTexts;
}

interface Choice {
  /** In itself: the choice shows it without loading the language. */
  readonly name: string;
  readonly load: () => Promise<Language>;
  /** It may lack words, for which English is loaded too. */
  readonly isBehind?: true;
}

/** By BCP 47 tag. */
export const languages = {
  de: { name: 'Deutsch', load: () => import('./languages/de.ts') },
  en: { name: 'English', load: () => import('./languages/en.ts') },
  es: { name: 'Español', load: () => import('./languages/es.ts') },
  fr: { name: 'Français', load: () => import('./languages/fr.ts') },
  ja: { name: '日本語', load: () => import('./languages/ja.ts') },
  zh: { name: '简体中文', load: () => import('./languages/zh.ts') },
} as const satisfies Readonly<Record<string, Choice>>;

type Tag = keyof typeof languages;

export const tags = Object.keys(languages) as Tag[];

/** The parts that pages have asked for. */
const parts = new Set<Part>();
/** What is there, or on its way. */
const loaded = new Map<string, Promise<void>>();

/** To be awaited before the first render. */
export async function startI18n(): Promise<void> {
  const wanted = [storage.get('language'), ...navigator.languages].filter((tag) => tag !== undefined);
  const tag = wanted.map((tag) => known(tag)).find((tag) => tag !== undefined) ?? 'en';
  await i18next.use(initReactI18next).init({
    lng: tag,
    fallbackLng: 'en',
    resources: {},
    interpolation: { escapeValue: false },
    returnNull: false,
  });
  await load(tag);
  document.documentElement.lang = tag;
  if (known(storage.get('language') ?? '') === tag) tellHub(tag);
}

/** The pages that the hub makes itself, outside the dashboard, are in the language that was chosen here. */
function tellHub(tag: Tag): void {
  const secure = location.protocol === 'https:' ? '; Secure' : '';
  document.cookie = `toolhub_language=${tag}; Path=/; Max-Age=31536000; SameSite=Lax${secure}`;
}

export async function chooseLanguage(tag: Tag): Promise<void> {
  await load(tag);
  await i18next.changeLanguage(tag);
  storage.set('language', tag);
  tellHub(tag);
  document.documentElement.lang = tag;
}

/** To be awaited before something is rendered that uses texts of these parts. */
export async function needTexts(...needed: readonly Part[]): Promise<void> {
  for (const part of needed) parts.add(part);
  await load(tags.find((tag) => tag === i18next.language) ?? 'en');
}

/** The language of that tag, or the one it is a kind of: `zh-CN` is `zh`. */
function known(tag: string): Tag | undefined {
  const [plain] = tag.split('-');
  return tags.find((each) => each === tag || each === plain);
}

async function load(tag: Tag): Promise<void> {
  const { isBehind }: Choice = languages[tag];
  await Promise.all((isBehind ? ([tag, 'en'] as const) : [tag]).map((each) => loadOne(each)));
}

async function loadOne(tag: Tag): Promise<void> {
  const language: Promise<Language> = languages[tag].load();
  await once(tag, async () => {
    const { texts, hub = {} } = await language;
    i18next.addResourceBundle(tag, 'translation', texts, true);
    i18next.addResourceBundle(tag, 'hub', { ...hub });
  });
  const { later } = await language;
  await Promise.all(
    [...parts].map((part) =>
      once(`${tag} ${part}`, async () => {
        // What the hub says is not among the texts of the pages.
        const namespace = part === 'remarks' ? 'hub' : 'translation';
        i18next.addResourceBundle(tag, namespace, await later[part]?.(), true);
      }),
    ),
  );
}

/** What fails is tried again by what needs it next. */
function once(name: string, work: () => Promise<void>): Promise<void> {
  const before = loaded.get(name);
  if (before) return before;
  const done = work().catch((error: unknown) => {
    loaded.delete(name);
    throw error;
  });
  loaded.set(name, done);
  return done;
}
