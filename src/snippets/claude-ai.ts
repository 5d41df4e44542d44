import { type Endpoint, isFromElsewhere, type Snippet } from './snippet.ts';

/**
 * Claude on the web and on phones: the servers of Anthropic connect, so the address has to be a public one with https.
 * They sign in by OAuth, or send nothing; there is no place for a key.
 */
export function claudeAi({ url, token }: Endpoint): Snippet | undefined {
  if (token !== undefined || !isFromElsewhere(url)) return undefined;
  return {
    client: 'claude-ai',
    title: 'claude.ai',
    where: 'claude.ai (Settings → Connectors → Add custom connector)',
    language: 'text',
    text: url,
  };
}
