import { coreLimits } from './limits.ts';

/** A server that a smart endpoint searches, as its client is told of it. */
export interface SearchedServer {
  readonly name: string;
  /** What it is for; undefined where only names are told, or nothing is known. */
  readonly about: string | undefined;
}

/**
 * The tools of a smart endpoint (SPEC, Smart routing tools; CONTRACT §6), as JSON texts in the order they are listed.
 */
export function smartToolTexts(options: {
  servers: readonly SearchedServer[];
  group: string | undefined;
  progressive: boolean;
  code: boolean;
}): string[] {
  const { servers, group, code } = options;
  const progressive = options.progressive && !code;
  const where = group === undefined ? 'all available servers' : `the servers of the group "${group}"`;
  const steps = progressive ? 3 : 2;
  const known = serversText(servers);
  const search = {
    name: 'search_tools',
    title: 'Search Tools',
    description: `Step 1 of ${steps}: finds tools in ${where} by what they do. Say in plain words what you want to get done; search again with other words if nothing fits.${known}`,
    inputSchema: {
      type: 'object',
      properties: {
        query: { type: 'string', description: 'What the tool should do, in plain words. Specific beats general.' },
        limit: {
          type: 'integer',
          minimum: 1,
          maximum: coreLimits.searchResultsMost,
          default: coreLimits.searchResults,
          description: 'How many tools at most.',
        },
        context: { type: 'string', description: 'What the conversation is about, to tell similar tools apart.' },
      },
      required: ['query'],
    },
    annotations: { title: 'Search Tools', readOnlyHint: true },
  };
  const describe = {
    name: 'describe_tool',
    title: 'Describe Tool',
    description: 'Step 2 of 3: the full description and input schema of one tool that search_tools found.',
    inputSchema: {
      type: 'object',
      properties: { toolName: { type: 'string', description: 'The name as search_tools gave it.' } },
      required: ['toolName'],
    },
    annotations: { title: 'Describe Tool', readOnlyHint: true },
  };
  const call = {
    name: 'call_tool',
    title: 'Call Tool',
    description: `Step ${steps} of ${steps}: calls a tool that search_tools found, with arguments that fit its input schema.`,
    inputSchema: {
      type: 'object',
      properties: {
        toolName: { type: 'string', description: 'The name as search_tools gave it.' },
        arguments: { type: 'object', additionalProperties: true, default: {}, description: "The tool's arguments." },
      },
      required: ['toolName'],
    },
    annotations: { title: 'Call Tool', openWorldHint: true },
  };
  const last = code ? runCode : call;
  return [search, ...(progressive ? [describe] : []), last].map((tool) => JSON.stringify(tool));
}

/** The tool of code mode (CONTRACT §11). */
const runCode = {
  name: 'run_code',
  title: 'Run Code',
  description:
    'Step 2 of 2: runs JavaScript that calls the tools that search_tools found, as its results declare them: `const rows = await tools.crm.search({ name: "x" }); return rows.length;`. Calls can run at once with Promise.all. What the code returns is the result: return only what you need. console.log is shown too. There is no network, no file and no timer but through tools.',
  inputSchema: {
    type: 'object',
    properties: { code: { type: 'string', description: 'The body of an async function; `return` gives the result.' } },
    required: ['code'],
  },
  annotations: { title: 'Run Code', openWorldHint: true },
};

/** Names that no server's tool may take from the endpoint itself, whether or not it lists them now. */
export const smartToolNames: ReadonlySet<string> = new Set(['search_tools', 'describe_tool', 'call_tool', 'run_code']);

/**
 * The servers by name, in a line, or with what they are for, a line each; the text has a bound, and says how many it
 * leaves out.
 */
function serversText(servers: readonly SearchedServer[]): string {
  if (servers.length === 0) return '';
  const isList = servers.some(({ about }) => about !== undefined);
  const parts = [...servers]
    .sort((a, b) => (a.name < b.name ? -1 : 1))
    .map(({ name, about }) => (about === undefined ? name : `${name}: ${about}`).slice(0, coreLimits.smartServerChars));
  let room = isList ? coreLimits.smartServersFullChars : coreLimits.smartServersChars;
  const told = parts.filter((part) => (room -= part.length + 2) >= 0);
  const rest = parts.length - told.length;
  const more = rest === 0 ? [] : [`and ${rest} more`];
  return isList
    ? ` Servers:\n${[...told, ...more].map((part) => `- ${part}`).join('\n')}`
    : ` Servers: ${[...told, ...more].join(', ')}.`;
}

/** The first sentences of a server's description, on one line: details are for those who have found a tool. */
export function shortAbout(text: string | undefined): string | undefined {
  const line =
    text
      ?.slice(0, coreLimits.smartAboutChars * 4)
      .replaceAll(/\s+/g, ' ')
      .trim() ?? '';
  if (line === '') return undefined;
  if (line.length <= coreLimits.smartAboutChars) return line;
  const cut = line.slice(0, coreLimits.smartAboutChars);
  const end = Math.max(cut.lastIndexOf('. '), cut.lastIndexOf('! '), cut.lastIndexOf('? '));
  return end > coreLimits.smartAboutChars / 3 ? cut.slice(0, end + 1) : `${cut.slice(0, -1).trimEnd()}…`;
}

/** What a smart endpoint's client should do next, said in the results. */
export function searchGuideline(found: number, progressive: boolean, code = false): string {
  if (found === 0) return 'Nothing fits. Search again with other or more general words.';
  if (code)
    return 'Call them in run_code as their declarations say. If none of them fits, search again with more specific words.';
  const next = progressive
    ? 'Read the schema of the one you want with describe_tool, then use call_tool.'
    : 'Use call_tool with its name and arguments that fit its inputSchema.';
  return `${next} If none of them fits, search again with more specific words.`;
}

/** A score as answers show it: three digits are more than the ranking knows. */
export function shownScore(score: number): number {
  return Math.round(score * 1_000) / 1_000;
}
