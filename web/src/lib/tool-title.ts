import type { Tool } from '../api/types.ts';

/** What people are to be shown beside the name of a tool, where the server gives it. */
export function titleOf({ originalName, title, annotations }: Tool): string | undefined {
  const given = title ?? annotations?.['title'];
  return typeof given === 'string' && given !== '' && given !== originalName ? given : undefined;
}
