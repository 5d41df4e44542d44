import { isDeepStrictEqual } from 'node:util';
import { parse, stringify, TomlError } from 'smol-toml';
import { HubError } from '../../core/errors.ts';
import { isObject } from '../../core/protocol/rpc.ts';
import { type Entry, type EntryPlace, expected } from './entry.ts';

/** What a file of TOML says. Throws HubError whose message is an end of a sentence. */
export function readToml(text: string): unknown {
  try {
    return parse(text, { integersAsBigInt: 'asNeeded' });
  } catch (error) {
    const line = error instanceof TomlError ? ` (line ${error.line})` : '';
    throw new HubError('misconfigured', `is no TOML${line}`);
  }
}

/**
 * The file with this entry as a table of its own, or without it. Lines of others stay as they are, comments too: what
 * comes of it is read again, and has to say what was there and this change. Throws HubError as `readToml`.
 */
export function editToml(text: string, place: EntryPlace, entry: Entry | undefined): string {
  const document = readToml(text);
  const wanted = expected(document, place, entry);
  if (isDeepStrictEqual(document, wanted)) return text;
  const eol = text.includes('\r\n') ? '\r\n' : '\n';
  const lines = text.split(/\r?\n/);
  const own = tablesOf(lines, place);
  const all = isObject(document) ? document[place.servers] : undefined;
  const there = isObject(all) && Object.hasOwn(all, place.name) ? all[place.name] : undefined;
  const edited =
    entry === undefined
      ? without(lines, own)
      : isObject(there)
        ? changed(lines, own, there, entry)
        : [...trimmed(lines), ...(trimmed(lines).length > 0 ? [''] : []), ...tableLines(place, entry), ''];
  const next = edited.join(eol);
  const said = readOrNothing(next);
  if ([wanted, withoutEmpty(wanted, place)].some((one) => isDeepStrictEqual(said, plain(one)))) return next;
  throw new HubError('misconfigured', 'keeps the entry in a form that this command cannot change. Change it by hand');
}

/** The lines of one table: its header, and up to the next one. */
interface Lines {
  readonly from: number;
  readonly to: number;
  readonly isWhole: boolean;
}

function tablesOf(lines: readonly string[], { servers, name }: EntryPlace): Lines[] {
  const word = (text: string) => `(?:${escaped(text)}|"${escaped(text)}"|'${escaped(text)}')`;
  const own = new RegExp(`^\\s*\\[\\s*${word(servers)}\\s*\\.\\s*${word(name)}\\s*(\\.[^\\]]*)?\\]\\s*(?:#.*)?$`);
  const header = /^\s*\[/;
  return lines.flatMap((line, from) => {
    const found = own.exec(line);
    if (!found) return [];
    const next = lines.findIndex((other, at) => at > from && header.test(other));
    let to = next === -1 ? lines.length : next;
    // Comments right above the next table are about that one.
    while (to > from + 1 && /^\s*(#.*)?$/.test(lines[to - 1] ?? '')) to--;
    return [{ from, to, isWhole: found[1] === undefined }];
  });
}

function without(lines: readonly string[], own: readonly Lines[]): string[] {
  const gone = new Set(own.flatMap(({ from, to }) => range(from, to)));
  // One of the blank lines around it goes with it.
  for (const { from } of own) if ((lines[from - 1] ?? '').trim() === '') gone.add(from - 1);
  return lines.filter((_, at) => !gone.has(at));
}

/** Members that differ are written right below the header; tables below it whose member is gone go. */
function changed(lines: readonly string[], own: readonly Lines[], there: Entry, entry: Entry): string[] {
  const main = own.find(({ isWhole }) => isWhole);
  const differing = Object.keys({ ...there, ...entry }).filter((name) => !isDeepStrictEqual(there[name], entry[name]));
  const gone = new Set<number>();
  for (const { from, to, isWhole } of own) {
    const names = isWhole ? differing.map((name) => new RegExp(`^\\s*["']?${escaped(name)}["']?\\s*=`)) : [];
    for (const at of range(from, to)) if (names.some((name) => name.test(lines[at] ?? ''))) gone.add(at);
    const below = /^\s*\[[^\]]*\.\s*["']?([\w-]+)["']?\s*\]/.exec(lines[from] ?? '')?.[1];
    if (!isWhole && below !== undefined && differing.includes(below)) range(from, to).forEach((at) => gone.add(at));
  }
  const added = stringify(
    Object.fromEntries(differing.filter((name) => name in entry).map((name) => [name, entry[name]])),
  );
  return lines.flatMap((line, at) => [
    ...(gone.has(at) ? [] : [line]),
    ...(at === main?.from ? added.trimEnd().split('\n').filter(Boolean) : []),
  ]);
}

function tableLines({ servers, name }: EntryPlace, entry: Entry): string[] {
  return stringify({ [servers]: { [name]: entry } })
    .trimEnd()
    .split('\n')
    .filter((line) => line.trim() !== '');
}

function trimmed(lines: readonly string[]): string[] {
  const last = lines.findLastIndex((line) => line.trim() !== '');
  return lines.slice(0, last + 1);
}

function readOrNothing(text: string): unknown {
  try {
    return readToml(text);
  } catch {
    return undefined;
  }
}

/** The same, without the list of servers where none is left: in TOML it goes with its last table. */
function withoutEmpty(wanted: unknown, { servers }: EntryPlace): unknown {
  if (!isObject(wanted) || !isDeepStrictEqual(wanted[servers], {})) return wanted;
  const { [servers]: _, ...others } = wanted;
  return others;
}

/** The same as the parser makes it, whose tables have no prototype. */
function plain(wanted: unknown): unknown {
  return isObject(wanted) ? readOrNothing(stringify(wanted)) : wanted;
}

const range = (from: number, to: number): number[] => Array.from({ length: to - from }, (_, at) => from + at);
const escaped = (text: string): string => text.replace(/[\\^$.*+?()[\]{}|/-]/g, '\\$&');
