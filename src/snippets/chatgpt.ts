import { type Endpoint, isFromElsewhere, type Snippet } from './snippet.ts';

/** ChatGPT: as claude.ai, after its developer mode is switched on. */
export function chatgpt({ url, token }: Endpoint): Snippet | undefined {
  if (token !== undefined || !isFromElsewhere(url)) return undefined;
  return {
    client: 'chatgpt',
    title: 'ChatGPT',
    where: 'ChatGPT (Settings → Connectors → Advanced → Developer mode, then Create)',
    language: 'text',
    text: url,
  };
}
