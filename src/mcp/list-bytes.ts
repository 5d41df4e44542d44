import type { ItemTexts } from '../core/access/item-texts.ts';
import type { Item } from '../core/catalogue.ts';
import { LargeText } from '../core/json/large-text.ts';

/** Up to so many characters a list is sent as a text, in one piece with what is around it, which costs less. */
const textChars = 8 * 1024;
/** The items of a server with fewer characters share pieces with those beside them: short pieces cost time to send. */
const sharedChars = 64 * 1024;
/**
 * The text of a whole list would be garbage as large as the list, or twice that: bytes are made of parts, short enough
 * for V8's young generation also where each character takes two bytes.
 */
const partChars = 32 * 1024;
/** With so many different lists of one server, one more makes its own bytes; comparing takes time too. */
const formsOfServer = 16;

/** The items of one server as a list has them, a comma before each, and the texts that the pieces were made of. */
interface ServerBytes {
  texts: ItemTexts;
  readonly pieces: readonly Buffer[];
}

interface ListBytes {
  readonly items: LargeText | string;
  /** Kept so that the next list finds them. */
  readonly servers: readonly ServerBytes[];
}

const known = new WeakMap<ItemTexts, ListBytes>();
/** What lists that are in use have of a server, by the first of its items there. */
const byFirstItem = new WeakMap<Item, readonly WeakRef<ServerBytes>[]>();

/**
 * The items of a whole list, with commas between them: the same whatever a list ends with. Made once for a list. The
 * bytes of a server's items are shared by all lists that have them alike, so that a list in which a server came, went
 * or changed costs what is new in it, in time and in memory (decisions/0099).
 */
export function itemsOf(list: ItemTexts): LargeText | string {
  const before = known.get(list);
  if (before) return before.items;
  const made = listBytes(list);
  known.set(list, made);
  return made.items;
}

function listBytes(list: ItemTexts): ListBytes {
  if (list.itemChars <= textChars) return { items: [...list].join(','), servers: [] };
  const servers: ServerBytes[] = [];
  const pieces: Buffer[] = [];
  let short: ItemTexts[] = [];
  for (const part of list.parts()) {
    if (part.itemChars < sharedChars) {
      short.push(part);
      continue;
    }
    pieces.push(...piecesOf(short));
    short = [];
    const server = serverBytes(part);
    servers.push(server);
    pieces.push(...server.pieces);
  }
  pieces.push(...piecesOf(short));
  // There is a comma before the first item too.
  return { items: new LargeText(pieces.map((piece, i) => (i === 0 ? piece.subarray(1) : piece))), servers };
}

function serverBytes(texts: ItemTexts): ServerBytes {
  const first = texts.firstItem;
  const alive = (first && byFirstItem.get(first))?.filter((one) => one.deref() !== undefined) ?? [];
  for (const one of alive) {
    const found = one.deref();
    if (!found?.texts.equals(texts)) continue;
    // What the list before was made of is not kept any longer than that list.
    found.texts = texts;
    return found;
  }
  const made = { texts, pieces: piecesOf([texts]) };
  if (first) byFirstItem.set(first, [new WeakRef(made), ...alive].slice(0, formsOfServer));
  return made;
}

/**
 * Where bytes are put together before their size is known: a buffer for each part would be garbage as large as the
 * list, of which V8 takes no notice until its young generation is full.
 */
const draft = Buffer.allocUnsafeSlow(256 * 1024);

/** All texts with a comma before each, in pieces as large as the draft where no text is longer than that. */
function piecesOf(lists: readonly ItemTexts[]): Buffer[] {
  const pieces: Buffer[] = [];
  let drafted = 0;
  let part = '';
  const endPiece = (): void => {
    if (drafted > 0) pieces.push(Buffer.from(draft.subarray(0, drafted)));
    drafted = 0;
  };
  const endPart = (): void => {
    const bytes = Buffer.byteLength(part);
    if (drafted + bytes > draft.length) endPiece();
    if (bytes > draft.length) pieces.push(Buffer.from(part));
    else drafted += draft.write(part, drafted);
    part = '';
  };
  for (const list of lists) {
    for (const text of list) {
      part += `,${text}`;
      if (part.length >= partChars) endPart();
    }
  }
  endPart();
  endPiece();
  return pieces;
}
