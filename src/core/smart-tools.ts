/** The tools of a smart endpoint (SPEC, Smart routing tools; CONTRACT §6), as JSON texts in the order they are listed. */
export function smartToolTexts(options: {
  servers: readonly string[];
  group: string | undefined;
  progressive: boolean;
}): string[] {
  const { servers, group, progressive } = options;
  const where = group === undefined ? 'all available servers' : `the servers of the group "${group}"`;
  const steps = progressive ? 3 : 2;
  const known = servers.length === 0 ? '' : ` Servers: ${[...servers].sort().join(', ')}.`;
  const search = {
    name: 'search_tools',
    title: 'Search Tools',
    description: `Step 1 of ${steps}: finds tools in ${where} by what they do. Say in plain words what you want to get done; search again with other words if nothing fits.${known}`,
    inputSchema: {
      type: 'object',
      properties: {
        query: { type: 'string', description: 'What the tool should do, in plain words. Specific beats general.' },
        limit: { type: 'integer', minimum: 1, maximum: 100, default: 10, description: 'How many tools at most.' },
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
  return [search, ...(progressive ? [describe] : []), call].map((tool) => JSON.stringify(tool));
}

/** What a smart endpoint's client should do next, said in the results. */
export function searchGuideline(found: number, progressive: boolean): string {
  if (found === 0) return 'Nothing fits. Search again with other or more general words.';
  const next = progressive
    ? 'Read the schema of the one you want with describe_tool, then use call_tool.'
    : 'Use call_tool with its name and arguments that fit its inputSchema.';
  return `${next} If none of them fits, search again with more specific words.`;
}
