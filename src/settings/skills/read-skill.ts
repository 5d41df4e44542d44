import { createHash } from 'node:crypto';
import { extname } from 'node:path';
import { errorText } from '../../core/errors.ts';
import { ownSkillsPrefix } from '../../core/own-items.ts';
import { isObject } from '../../core/protocol/rpc.ts';
import type { OwnSkill, OwnSkillFile } from '../../core/settings/own-items.ts';
import { settingsLimits } from '../limits.ts';

/** A file in the folder of a skill. */
export interface SkillFile {
  /** With `/`. */
  readonly path: string;
  readonly bytes: Buffer;
}

/** The skill that files make (agentskills.io/specification), or why they make none, and what to do. */
export async function skillOf(folder: string, files: readonly SkillFile[]): Promise<OwnSkill | string> {
  const main = files.find(({ path }) => path === 'SKILL.md');
  if (!main) return 'it has no file SKILL.md: add one, or remove the folder';
  const frontmatter = await frontmatterOf(main.bytes);
  if (typeof frontmatter === 'string') return frontmatter;
  const { name, description } = frontmatter;
  if (name !== folder) return `"name" in its SKILL.md is not the name of the folder: write "name: ${folder}"`;
  if (!/^[a-z0-9]+(?:-[a-z0-9]+)*$/.test(folder) || folder.length > 64)
    return 'its name has other characters than a-z, 0-9 and single "-", or more than 64: rename the folder';
  if (typeof description !== 'string' || description.trim() === '' || description.length > 1_024)
    return '"description" in its SKILL.md is no text of 1 to 1024 characters: write one';
  const own = files.map((file) => ownFile(folder, file));
  const uri = uriOf(folder, 'SKILL.md');
  const resources = own.map(({ uri: of, digest, size }) => ({ uri: of, digest, size }));
  return { name: folder, description, uri, entry: JSON.stringify({ uri, frontmatter, resources }), files: own };
}

/** The YAML between the lines `---` at the beginning, or what is wrong with it. */
async function frontmatterOf(bytes: Buffer): Promise<Record<string, unknown> | string> {
  const text = textOf(bytes)?.replace(/^\uFEFF/, '');
  const yaml = text && /^---[ \t]*\r?\n(?<yaml>[\s\S]*?)\r?\n---[ \t]*(?:\r?\n|$)/.exec(text)?.groups?.['yaml'];
  if (!yaml) return 'its SKILL.md does not begin with YAML between two lines "---": add name and description there';
  if (yaml.length > settingsLimits.frontmatterChars)
    return `the YAML in its SKILL.md has more than ${settingsLimits.frontmatterChars} characters: shorten it`;
  // Loaded only by hubs with skills of their own.
  const { CORE_SCHEMA, load } = await import('js-yaml');
  try {
    // Aliases would let a short text become a very long one.
    const value: unknown = load(yaml, { schema: CORE_SCHEMA, maxAliases: 0 });
    return isObject(value) ? value : 'the YAML in its SKILL.md is no list of members: write "name: …" in a line';
  } catch (error) {
    const [line = ''] = errorText(error).split('\n');
    return `the YAML in its SKILL.md cannot be read (${line}): correct it`;
  }
}

function ownFile(skill: string, { path, bytes }: SkillFile): OwnSkillFile {
  const text = textOf(bytes);
  return {
    uri: uriOf(skill, path),
    name: path.slice(path.lastIndexOf('/') + 1),
    mimeType:
      mimeTypes.get(extname(path).toLowerCase()) ?? (text === undefined ? 'application/octet-stream' : 'text/plain'),
    digest: `sha256:${createHash('sha256').update(bytes).digest('hex')}`,
    size: bytes.length,
    content: text === undefined ? { blob: bytes.toString('base64') } : { text },
  };
}

function uriOf(skill: string, path: string): string {
  return [`${ownSkillsPrefix}${skill}`, ...path.split('/').map(encodeURIComponent)].join('/');
}

/** Undefined for bytes that are no UTF-8: as text they would be others. */
function textOf(bytes: Buffer): string | undefined {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return undefined;
  }
}

const mimeTypes: ReadonlyMap<string, string> = new Map([
  ['.md', 'text/markdown'],
  ['.html', 'text/html'],
  ['.css', 'text/css'],
  ['.csv', 'text/csv'],
  ['.js', 'text/javascript'],
  ['.mjs', 'text/javascript'],
  ['.py', 'text/x-python'],
  ['.json', 'application/json'],
  ['.yaml', 'application/yaml'],
  ['.yml', 'application/yaml'],
  ['.xml', 'application/xml'],
  ['.pdf', 'application/pdf'],
  ['.png', 'image/png'],
  ['.jpg', 'image/jpeg'],
  ['.jpeg', 'image/jpeg'],
  ['.svg', 'image/svg+xml'],
]);
