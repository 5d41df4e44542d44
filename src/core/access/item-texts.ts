import type { Item } from '../catalogue.ts';
import type { ToolOverride } from '../settings/server.ts';
import { mayNamePages, type PageUri, withPageUris } from './apps.ts';
import { exposedText } from './tool-override.ts';

/** An item, and what clients see of it in place of its own. */
export interface ShownForm {
  readonly item: Item;
  /** Undefined where it is the item's own. */
  readonly name?: string | undefined;
  readonly override?: ToolOverride | undefined;
  /** One object for all items of a server in a list; undefined for what the hub itself has there. */
  readonly server?: ServerForm | undefined;
}

/** What holds for all items of a server in one list. */
export interface ServerForm {
  readonly pageUri?: PageUri | undefined;
}

/**
 * The JSON texts of a list of items, in order. They are made each time they are asked for: the texts of ten thousand
 * renamed tools would take as much memory as the tools once more, for each name that a tool has.
 */
export class ItemTexts implements Iterable<string> {
  readonly #forms: ShownForm[];

  constructor(forms: ShownForm[] = []) {
    this.#forms = forms;
  }

  get length(): number {
    return this.#forms.length;
  }

  add(form: ShownForm): void {
    this.#forms.push(form);
  }

  /** Characters of the items as their servers sent them; names and words of the operator are not counted. */
  get itemChars(): number {
    return this.#forms.reduce((sum, { item }) => sum + item.text.length, 0);
  }

  /** Undefined in an empty list. */
  get firstItem(): Item | undefined {
    return this.#forms[0]?.item;
  }

  /** Its items in order, in parts that are not empty: what follows each other of one server is one part. */
  *parts(): Generator<ItemTexts> {
    let from = 0;
    for (const [at, { server }] of this.#forms.entries()) {
      if (server === this.#forms[from]?.server) continue;
      yield new ItemTexts(this.#forms.slice(from, at));
      from = at;
    }
    if (from < this.length) yield new ItemTexts(this.#forms.slice(from));
  }

  /** Undefined beyond the end. */
  at(index: number): string | undefined {
    const form = this.#forms[index];
    return form && textOf(form);
  }

  *[Symbol.iterator](): Iterator<string> {
    for (const form of this.#forms) yield textOf(form);
  }

  slice(start: number, end: number): string[] {
    return this.#forms.slice(start, end).map(textOf);
  }

  *entries(): Generator<[index: number, text: string]> {
    for (const [index, form] of this.#forms.entries()) yield [index, textOf(form)];
  }

  /** Those at these places. */
  pick(places: readonly number[]): ItemTexts {
    return new ItemTexts(places.flatMap((at) => this.#forms[at] ?? []));
  }

  followedBy(more: ItemTexts): ItemTexts {
    return new ItemTexts([...this.#forms, ...more.#forms]);
  }

  /** Whether both are the same texts. No text is made where what it is made of is the same. */
  equals(other: ItemTexts): boolean {
    return this.length === other.length && this.#forms.every((form, at) => isSame(form, other.#forms[at]));
  }
}

/** Texts that no server has. */
export function ownTexts(texts: readonly string[]): ItemTexts {
  return new ItemTexts(texts.map((text) => ({ item: { key: '', text } })));
}

function isSame(a: ShownForm, b: ShownForm | undefined): boolean {
  if (!b) return false;
  const isMadeAlike = a.name === b.name && a.override === b.override && a.item.text === b.item.text;
  // How pages are called is a function of its own in each view; most texts name none.
  if (isMadeAlike && (a.server?.pageUri === b.server?.pageUri || !mayNamePages(a.item.text))) return true;
  return textOf(a) === textOf(b);
}

function textOf({ item, name, override, server }: ShownForm): string {
  const text = exposedText(item, name, override);
  const pageUri = server?.pageUri;
  return pageUri ? withPageUris(text, pageUri) : text;
}
