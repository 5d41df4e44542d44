import i18next from 'i18next';
import type { ServerReason } from '../api/types.ts';

/** Both sentences of each reason for which a server does not connect, with places for its values. */
export type ReasonTexts = Readonly<Record<ServerReason['code'], { readonly text: string; readonly advice: string }>>;

/** What the hub says, in a language other than its own, which is English. */
export interface HubTexts {
  readonly reasons: ReasonTexts;
}

/** A reason in the language of the page; in English where it has no words for it. */
export function reasonIn({ code, values, text, advice }: ServerReason): {
  readonly text: string;
  readonly advice: string;
} {
  const said = (part: 'text' | 'advice', english: string): string => {
    const words: unknown = i18next.getResource(i18next.language, 'hub', `reasons.${code}.${part}`);
    if (typeof words !== 'string') return english;
    return words.replace(/\{\{(\w+)\}\}/g, (place, name: string) => values[name] ?? place);
  };
  return { text: said('text', text), advice: said('advice', advice) };
}
