/** Policies to begin with, by the name of their text. Names of servers, tools and people are to be replaced. */
export const examples = {
  production: `// In production, tools that can destroy something are not called.
@message("Nothing is deleted in production.")
forbid(
  principal,
  action == Action::"call",
  resource in Server::"production"
) when {
  resource.destructive
};
`,
  select: `// Only SELECT, and one statement. Give the server a database user that only reads as well.
@message("Only SELECT is allowed here.")
forbid(
  principal,
  action == Action::"call",
  resource == Tool::"db/query"
) unless {
  context.arguments has sql &&
  (context.arguments.sql like "SELECT *" || context.arguments.sql like "select *") &&
  !(context.arguments.sql like "*;*")
};
`,
  mail: `// One address, of our domain, and no copies.
@message("Mail goes to addresses of example.com only.")
forbid(
  principal,
  action == Action::"call",
  resource == Tool::"mail/send"
) unless {
  context.arguments has to &&
  context.arguments.to like "*@example.com" &&
  !(context.arguments.to like "*@*@*") &&
  !(context.arguments has cc) &&
  !(context.arguments has bcc)
};
`,
  ask: `// The caller is asked before each call of a tool that can destroy something.
// "admin" asks the admins, the name of a group its members.
@approve("caller")
@message("This tool can destroy something. Call it?")
forbid(
  principal,
  action == Action::"call",
  resource
) when {
  resource.destructive
};
`,
  office: `// This server is only for callers in our network.
@message("This server is for callers in the office.")
forbid(
  principal,
  action,
  resource in Server::"billing"
) unless {
  context has address && context.address.isInRange(ip("10.0.0.0/8"))
};
`,
  group: `// Tools that change something are only for the members of one group.
@message("Only the group ops changes something here.")
forbid(
  principal,
  action == Action::"call",
  resource in Server::"cloud"
) when {
  !resource.readOnly && !(principal in Group::"ops")
};
`,
} as const;

export type ExampleName = keyof typeof examples;
