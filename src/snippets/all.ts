import { chatgpt } from './chatgpt.ts';
import { claudeAi } from './claude-ai.ts';
import { claudeCode, claudeCodeFile } from './claude-code.ts';
import { claudeDesktop, claudeDesktopFile } from './claude-desktop.ts';
import { cline, clineFile } from './cline.ts';
import { codex, codexFile } from './codex.ts';
import { cursor, cursorFile } from './cursor.ts';
import { geminiCli, geminiCliFile } from './gemini-cli.ts';
import type { ClientFile } from './client-file.ts';
import { type Endpoint, shellWord, type Snippet } from './snippet.ts';
import { vscode, vscodeFile } from './vscode.ts';
import { windsurf, windsurfFile } from './windsurf.ts';

/** Every client the hub knows how to connect, in the order they are shown. A new one is one file and one line here. */
const clients = [claudeCode, cursor, vscode, codex, claudeDesktop, claudeAi, chatgpt, geminiCli, windsurf, cline];

/** The files of those that keep one on the user's machine. */
export const clientFiles: readonly ClientFile[] = [
  claudeCodeFile,
  cursorFile,
  vscodeFile,
  codexFile,
  claudeDesktopFile,
  geminiCliFile,
  windsurfFile,
  clineFile,
];

/** The same with the command line of `toolhub connect`: of a hub at its address, and a path below `/mcp` there. */
export function withCommand(
  snippet: Snippet,
  { hub, path }: { readonly hub: string; readonly path: readonly string[] },
) {
  if (!clientFiles.some(({ client }) => client === snippet.client)) return snippet;
  const group = path.length === 0 ? [] : ['--group', path.join('/')];
  const words = ['toolhub', 'connect', snippet.client, '--url', hub, ...group, '--write'];
  return { ...snippet, command: words.map(shellWord).join(' ') };
}

/** Those that can be connected to this endpoint in this way. */
export function allSnippets(endpoint: Endpoint): Snippet[] {
  return clients.flatMap((client) => client(endpoint) ?? []);
}
