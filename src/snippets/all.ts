import { chatgpt } from './chatgpt.ts';
import { claudeAi } from './claude-ai.ts';
import { claudeCode } from './claude-code.ts';
import { claudeDesktop } from './claude-desktop.ts';
import { cline } from './cline.ts';
import { codex } from './codex.ts';
import { cursor } from './cursor.ts';
import { geminiCli } from './gemini-cli.ts';
import type { Endpoint, Snippet } from './snippet.ts';
import { vscode } from './vscode.ts';
import { windsurf } from './windsurf.ts';

/** Every client the hub knows how to connect, in the order they are shown. A new one is one file and one line here. */
const clients = [claudeCode, cursor, vscode, codex, claudeDesktop, claudeAi, chatgpt, geminiCli, windsurf, cline];

/** Those that can be connected to this endpoint in this way. */
export function allSnippets(endpoint: Endpoint): Snippet[] {
  return clients.flatMap((client) => client(endpoint) ?? []);
}
