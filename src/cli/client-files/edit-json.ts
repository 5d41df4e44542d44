import { isDeepStrictEqual } from 'node:util';
import {
  applyEdits,
  createScanner,
  type Edit,
  findNodeAtLocation,
  getNodeValue,
  type Node,
  type ParseError,
  parseTree,
  type SyntaxKind,
} from 'jsonc-parser';
import { HubError } from '../../core/errors.ts';
import { type Entry, type EntryPlace, expected } from './entry.ts';

// The library only reads: its edits would change the lines around them, and lose comments beside what they remove.

/** What a file of JSON says, comments and trailing commas allowed. Throws HubError whose message ends a sentence. */
export function readJson(text: string): unknown {
  // Objects of the library have no prototype, and would equal no others.
  return JSON.parse(JSON.stringify(getNodeValue(treeOf(text)))) as unknown;
}

/**
 * The file with this entry, or without it: all else stays as it is written, to the byte. What comes of it is read
 * again, and has to say what was there and this change. Throws HubError as `readJson`.
 */
export function editJson(text: string, { servers, name }: EntryPlace, entry: Entry | undefined): string {
  const document = readJson(text);
  const wanted = expected(document, { servers, name }, entry);
  if (isDeepStrictEqual(document, wanted)) return text;
  let edited = text;
  const at = (path: string[]): Node | undefined => findNodeAtLocation(treeOf(edited), path);
  const put = (path: string[], value: unknown): void => {
    const there = at(path);
    const holder = path.length === 1 ? treeOf(edited) : at(path.slice(0, -1));
    if (there !== undefined) edited = applyEdits(edited, [replaced(edited, there, value)]);
    else if (holder !== undefined) edited = applyEdits(edited, added(edited, holder, path.at(-1) ?? '', value));
  };
  const there = at([servers, name]);
  if (entry === undefined) edited = applyEdits(edited, taken(edited, there));
  else if (at([servers]) === undefined) put([servers], { [name]: entry });
  else if (there?.type !== 'object') put([servers, name], entry);
  else {
    // Member by member, so that comments within the entry stay.
    const now = getNodeValue(there) as Record<string, unknown>;
    for (const [member, value] of Object.entries(entry))
      if (!isDeepStrictEqual(now[member], value)) put([servers, name, member], value);
    for (const member of Object.keys(now))
      if (!Object.hasOwn(entry, member)) edited = applyEdits(edited, taken(edited, at([servers, name, member])));
  }
  if (isDeepStrictEqual(readJson(edited), wanted)) return edited;
  throw new HubError('misconfigured', 'could not be changed without touching other parts of it');
}

function treeOf(text: string): Node {
  const errors: ParseError[] = [];
  const tree = parsed(text, errors);
  const [error] = errors;
  if (error !== undefined || tree === undefined) {
    const line = text.slice(0, error?.offset ?? 0).split('\n').length;
    throw new HubError('misconfigured', `is no JSON (line ${line})`);
  }
  if (hasTwice(tree))
    throw new HubError('misconfigured', 'has a member twice, so that it is not clear which one counts');
  return tree;
}

function parsed(text: string, errors: ParseError[]): Node | undefined {
  try {
    return parseTree(text, errors, { allowTrailingComma: true, disallowComments: false });
  } catch (error) {
    // The library calls itself for each level.
    throw error instanceof RangeError ? new HubError('misconfigured', 'is nested too deeply') : error;
  }
}

/** `JSON.parse` takes the last of two members of one name, and other programs the first. */
function hasTwice(node: Node): boolean {
  const children = node.children ?? [];
  const names = node.type === 'object' ? children.map((member) => String(member.children?.[0]?.value)) : [];
  return new Set(names).size < names.length || children.some(hasTwice);
}

function replaced(text: string, { offset, length }: Node, value: unknown): Edit {
  return { offset, length, content: written(text, value, indentAt(text, offset)) };
}

/** A new last member, on a line of its own; a comment behind the member before it stays there. */
function added(text: string, holder: Node, name: string, value: unknown): Edit[] {
  const eol = eolOf(text);
  const outer = indentAt(text, holder.offset);
  const last = holder.children?.at(-1);
  const indent =
    last !== undefined && startsLine(text, last.offset) ? indentAt(text, last.offset) : outer + unitOf(text);
  const member = `${eol}${indent}${JSON.stringify(name)}: ${written(text, value, indent)}`;
  if (last === undefined) {
    const isOpen = text.slice(holder.offset + 1, holder.offset + holder.length - 1).includes('\n');
    return [{ offset: holder.offset + 1, length: 0, content: isOpen ? member : `${member}${eol}${outer}` }];
  }
  const { comma, lineEnd } = after(text, last);
  const from = lineEnd ?? (comma ?? endOf(last) - 1) + 1;
  const commas = comma === undefined ? [{ offset: endOf(last), length: 0, content: ',' }] : [];
  return [...commas, { offset: from, length: 0, content: `${member}${comma === undefined ? '' : ','}` }];
}

/** Without the member of this value, its comma, and its line where nothing else is on it. */
function taken(text: string, value: Node | undefined): Edit[] {
  const member = value?.parent;
  const all = member?.parent?.children;
  if (member === undefined || all === undefined) return [];
  const previous = all[all.indexOf(member) - 1];
  const own = after(text, member).comma;
  const stop = own === undefined ? endOf(member) : own + 1;
  const rest = /^[ \t]*(?=\r?\n)/.exec(text.slice(stop));
  const lead = /\r?\n[ \t]*$/.exec(text.slice(0, member.offset));
  const from = rest && lead ? member.offset - lead[0].length : member.offset;
  const to = rest && lead ? stop + rest[0].length : stop;
  const before = own === undefined && previous !== undefined ? after(text, previous).comma : undefined;
  return [
    ...(before === undefined ? [] : [{ offset: before, length: 1, content: '' }]),
    { offset: from, length: to - from, content: '' },
  ];
}

/** The library has them as constants of its types alone. */
const comma: SyntaxKind.CommaToken = 5;
const lineBreak: SyntaxKind.LineBreakTrivia = 14;
const betweenTokens: readonly SyntaxKind[] = [12, 13, 15] satisfies [
  SyntaxKind.LineCommentTrivia,
  SyntaxKind.BlockCommentTrivia,
  SyntaxKind.Trivia,
];

/** Behind a member: its comma, and where its line ends, if nothing but comments is between. */
function after(
  text: string,
  member: Node,
): { readonly comma: number | undefined; readonly lineEnd: number | undefined } {
  const scanner = createScanner(text);
  scanner.setPosition(endOf(member));
  let found: number | undefined;
  let lineEnd: number | undefined;
  for (let kind = scanner.scan(); ; kind = scanner.scan()) {
    if (kind === lineBreak) lineEnd ??= scanner.getTokenOffset();
    else if (kind === comma && found === undefined) found = scanner.getTokenOffset();
    else if (!betweenTokens.includes(kind)) break;
  }
  // A comma on a later line: what is put in goes behind it.
  return {
    comma: found,
    lineEnd: found !== undefined && lineEnd !== undefined && lineEnd < found ? undefined : lineEnd,
  };
}

const endOf = ({ offset, length }: Node): number => offset + length;

function written(text: string, value: unknown, indent: string): string {
  return JSON.stringify(value, null, unitOf(text)).replaceAll('\n', `${eolOf(text)}${indent}`);
}

function startsLine(text: string, offset: number): boolean {
  return /(?:^|\n)[ \t]*$/.test(text.slice(0, offset));
}

/** Of the line that holds this place. */
function indentAt(text: string, offset: number): string {
  return /^[ \t]*/.exec(text.slice(text.lastIndexOf('\n', offset - 1) + 1))?.[0] ?? '';
}

/** As the first line that is indented; two blanks where none is. */
function unitOf(text: string): string {
  return /\n([ \t]+)\S/.exec(text)?.[1] ?? '  ';
}

function eolOf(text: string): string {
  return text.includes('\r\n') ? '\r\n' : '\n';
}
