import { type ItemKind, itemKinds, type Offer, type ServerAbout } from '../../../core/catalogue.ts';
import { errorText } from '../../../core/errors.ts';
import type { Logger } from '../../../core/logger.ts';
import type { Ask } from '../exchange.ts';
import { type ListRead, listMethods, readList } from './read-list.ts';
import { withSoundHeaders } from './tool-headers.ts';

/** What reading lists needs of the link to a server. */
export interface ListingLink {
  readonly ask: Ask;
  /** Whether calls of the server's tools carry headers. */
  readonly sendsHeaders: boolean;
  /** False once the connection is over. */
  readonly isOpen: boolean;
}

export interface ReadOfferOptions {
  readonly server: string;
  /** False: only what the server is, not what it offers. */
  readonly lists: boolean;
  readonly log: Logger;
  /** On the clock of `performance.now()`. */
  readonly deadline: number;
}

const nothing: ListRead = { items: [], hint: undefined };

/**
 * Reads all that a server offers. Throws HubError when its tools cannot be read, or when the connection ends meanwhile;
 * any other list that cannot be read is taken as empty.
 */
export async function readOffer(link: ListingLink, about: ServerAbout, options: ReadOfferOptions): Promise<Offer> {
  const { server, lists, log, deadline } = options;
  const left = (): number => Math.max(1, deadline - performance.now());
  const read = async (kind: ItemKind): Promise<ListRead> => {
    if (!lists || !about.capabilities.includes(listMethods[kind].capability)) return nothing;
    if (kind === 'tools') return readOneList(link, kind, log, left());
    return readOneList(link, kind, log, left() / 2).catch((error: unknown) => {
      // Its end is logged by the connection, once; here it would be logged for each list and at each attempt.
      if (!link.isOpen) throw error;
      log.warn('list could not be read; it is taken as empty', { list: kind, error: errorText(error) });
      return nothing;
    });
  };
  const [tools, prompts, resources, templates] = await Promise.all([
    read('tools'),
    read('prompts'),
    read('resources'),
    read('templates'),
  ]);
  const offer = { tools: tools.items, prompts: prompts.items, resources: resources.items, templates: templates.items };
  const all = { tools, prompts, resources, templates };
  const hints = itemKinds.flatMap((kind) => (all[kind].hint ? [[kind, all[kind].hint] as const] : []));
  return { server, about, ...offer, hints: Object.fromEntries(hints) };
}

/** Reads one list of a server, as far as it can be offered. Throws HubError. */
export async function readOneList(
  link: ListingLink,
  kind: ItemKind,
  log: Logger,
  timeoutMs: number,
): Promise<ListRead> {
  const list = await readList(link.ask, kind, log, timeoutMs);
  return kind === 'tools' && link.sendsHeaders ? { ...list, items: withSoundHeaders(list.items, log) } : list;
}
