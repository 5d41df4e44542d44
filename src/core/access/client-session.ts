/** The session of an MCP client, as servers with state of their own tell sessions apart. No `x-session-id` names it. */
export function mcpSession(sid: string): string {
  return `mcp ${sid}`;
}

/** The session that `mcpSession` named; undefined for all else, such as what a caller has named itself. */
export function sessionOf(owner: string): string | undefined {
  return owner.startsWith('mcp ') ? owner.slice('mcp '.length) : undefined;
}
