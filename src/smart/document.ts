import { isObject } from '../core/protocol/rpc.ts';

/**
 * One tool as search sees it. `key` identifies it and is compared exactly; the texts may be anything, of any length.
 */
export interface ToolDocument {
  readonly key: string;
  readonly server: string;
  readonly serverDescription?: string;
  readonly name: string;
  readonly description: string;
  /** The names of the parameters, nested ones included, apart by spaces. */
  readonly parameterNames: string;
  /** Their descriptions and enumerated values. */
  readonly parameterTexts: string;
}

/** A tool of which the document is made when it is wanted: it is as long as the tool, and read once. */
export interface SearchedTool extends Pick<ToolDocument, 'key' | 'server'> {
  /** Throws SyntaxError where the tool's text is not JSON. */
  document(): ToolDocument;
}

/** The part of a tool definition that can be searched; the values are a server's and may be anything. */
export interface ToolDefinition {
  readonly name: string;
  readonly title?: unknown;
  readonly description?: unknown;
  readonly inputSchema?: unknown;
}

/** A tool as its server defines it. `serverDescription` is left out of the search when undefined. */
export function toolDocument(
  key: string,
  server: { readonly name: string; readonly description?: string | undefined },
  tool: ToolDefinition,
): ToolDocument {
  const about = [tool.title, tool.description].filter((text) => typeof text === 'string' && text !== '');
  return {
    key,
    server: server.name,
    ...(server.description === undefined ? {} : { serverDescription: server.description }),
    name: tool.name,
    description: about.join('. '),
    ...parametersOf(tool.inputSchema),
  };
}

function parametersOf(schema: unknown): Pick<ToolDocument, 'parameterNames' | 'parameterTexts'> {
  const names: string[] = [];
  const texts: string[] = [];
  let left = mostNodes;

  function walk(node: unknown, depth: number): void {
    if (!isObject(node) || depth > deepest || left-- <= 0) return;
    const properties = node['properties'];
    for (const [name, property] of isObject(properties) ? Object.entries(properties) : []) {
      names.push(name);
      if (!isObject(property)) continue;
      if (typeof property['description'] === 'string') texts.push(property['description']);
      texts.push(...enumerated(property['enum']));
      walk(property, depth + 1);
      walk(property['items'], depth + 1);
    }
    for (const alternatives of [node['anyOf'], node['oneOf'], node['allOf']]) {
      if (Array.isArray(alternatives)) for (const alternative of alternatives) walk(alternative, depth + 1);
    }
  }

  walk(schema, 0);
  return { parameterNames: names.join(' '), parameterTexts: texts.join(' ') };
}

/**
 * The words of a short enumeration say what a tool can do; those of a long one (time zones, currencies) fit every
 * query.
 */
function enumerated(values: unknown): string[] {
  if (!Array.isArray(values) || values.length > longestEnum) return [];
  return values.filter((value) => typeof value === 'string');
}

const longestEnum = 20;
/** Deeper parameters are details. */
const deepest = 4;
/** Objects of one schema that are looked at: more than the first of them count for nothing, see words/tool-terms.ts. */
const mostNodes = 500;
