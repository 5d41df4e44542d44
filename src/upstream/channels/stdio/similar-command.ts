import { readdir } from 'node:fs/promises';
import { delimiter } from 'node:path';
import { editsBetween } from '../../../core/edits-between.ts';
import { upstreamLimits } from '../../limits.ts';

/** What starts most servers: preferred to other commands that are as near. */
const usual = [
  'npx',
  'node',
  'npm',
  'uvx',
  'uv',
  'python3',
  'python',
  'docker',
  'podman',
  'bunx',
  'bun',
  'deno',
  'pnpm',
  'yarn',
  'pipx',
];

/** The command on PATH that was probably meant; undefined when none is near enough. */
export async function similarCommand(command: string, path: string): Promise<string | undefined> {
  const wanted = command.toLowerCase();
  const most = wanted.length < 5 ? 1 : 2;
  if (wanted.length < 2 || wanted.length > upstreamLimits.similarCommandChars) return undefined;
  const there = new Set((await Promise.all(foldersOf(path).map(namesIn))).flat());
  const names = [...usual.filter((name) => there.has(name)), ...there];
  let best: { readonly name: string; readonly edits: number } | undefined;
  for (const name of names) {
    if (Math.abs(name.length - wanted.length) > most) continue;
    const edits = editsBetween(wanted, name.toLowerCase());
    if (edits <= most && edits < (best?.edits ?? Infinity)) best = { name, edits };
  }
  return best?.name;
}

function foldersOf(path: string): string[] {
  return path.split(delimiter).filter(Boolean).slice(0, upstreamLimits.similarCommandFolders);
}

async function namesIn(folder: string): Promise<string[]> {
  try {
    const names = await readdir(folder);
    return names.slice(0, upstreamLimits.similarCommandNames).map((name) => name.replace(/\.(exe|cmd|bat)$/i, ''));
  } catch {
    return [];
  }
}
