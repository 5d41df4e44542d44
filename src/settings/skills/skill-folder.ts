import { constants } from 'node:fs';
import { open, readdir, realpath, stat } from 'node:fs/promises';
import { join, resolve, sep } from 'node:path';
import { errorText } from '../../core/errors.ts';
import type { Logger } from '../../core/logger.ts';
import type { OwnSkill } from '../../core/settings/own-items.ts';
import { settingsLimits } from '../limits.ts';
import { type SkillFile, skillOf } from './read-skill.ts';

/** The skills of the hub itself as they are in their folder now. */
export interface SkillFolder {
  readonly skills: readonly OwnSkill[];
  close(): void;
}

export interface SkillFolderOptions {
  /** `systemConfig.skills.folder`; undefined: the hub has no skills of its own. */
  readonly folder: () => string | undefined;
  /** What a relative path is relative to. */
  readonly base: string;
  readonly log: Logger;
  readonly changed: () => void;
  /** Files of the folder changed. Another folder, which the settings name now, is no change of files. */
  readonly filesChanged?: (before: readonly OwnSkill[], after: readonly OwnSkill[]) => void;
}

/**
 * Reads the folder, and looks now and then whether something in it has changed, as with the folder of policies: disks
 * of containers announce nothing. A skill that cannot be used is left out, and the log says once what to do.
 */
export async function watchSkillFolder(options: SkillFolderOptions): Promise<SkillFolder> {
  const { folder, base, log, changed, filesChanged } = options;
  let skills: readonly OwnSkill[] = [];
  let seen = '';
  let folderSeen: string | undefined;
  let told: ReadonlySet<string> = new Set();
  let isLooking = false;

  async function look(): Promise<boolean> {
    const named = folder();
    const found: Found = named === undefined ? { skills: [], problems: [] } : await findSkills(resolve(base, named));
    const now = JSON.stringify(found);
    const isSameFolder = named === folderSeen;
    folderSeen = named;
    if (now === seen) return false;
    seen = now;
    const before = skills;
    const read = await readSkills(found);
    skills = read.skills;
    const isChanged = entriesOf(skills) !== entriesOf(before);
    if (isChanged && named !== undefined && isSameFolder) filesChanged?.(before, skills);
    for (const problem of read.problems) if (!told.has(problem)) log.warn(problem);
    told = new Set(read.problems);
    return isChanged;
  }

  await look();
  const timer = setInterval(() => {
    if (isLooking) return;
    isLooking = true;
    look()
      .then((isChanged) => isChanged && changed())
      .catch((error: unknown) => log.error(`Reading the folder of skills failed: ${errorText(error)}`))
      .finally(() => (isLooking = false));
  }, settingsLimits.settingsPollMs).unref();
  return {
    get skills() {
      return skills;
    },
    close: () => clearInterval(timer),
  };
}

/** Changes with every byte of every file: entries have the digests. */
function entriesOf(skills: readonly OwnSkill[]): string {
  return JSON.stringify(skills.map(({ entry }) => entry));
}

interface Found {
  readonly skills: readonly FoundSkill[];
  readonly problems: readonly string[];
}

interface FoundSkill {
  readonly name: string;
  readonly files: readonly FoundFile[];
  /** Why it cannot be used, and what to do. */
  problem?: string;
}

interface FoundFile {
  /** Below the folder of the skill, with `/`. */
  readonly path: string;
  /** Where it is, links resolved. */
  readonly real: string;
  readonly size: number;
  readonly changed: number;
}

/** What is in the folder, unread. */
async function findSkills(folder: string): Promise<Found> {
  let root: string;
  let names: string[];
  try {
    root = await realpath(folder);
    names = await readdir(root);
  } catch (error) {
    const what = `The folder of skills cannot be read: ${errorText(error)}.`;
    return { skills: [], problems: [`${what} Make it, or correct systemConfig.skills.folder.`] };
  }
  const problems: string[] = [];
  const skills: FoundSkill[] = [];
  let files = 0;
  for (const name of names.filter(isShown).toSorted()) {
    const about = await stat(join(root, name)).catch(() => undefined);
    if (!about?.isDirectory()) continue;
    if (skills.length === settingsLimits.skills || files >= settingsLimits.skillFiles) {
      const most = `${settingsLimits.skills} skills and ${settingsLimits.skillFiles} files`;
      problems.push(
        `The folder of skills has more than ${most}: "${name}" and those after it are left out. Remove some.`,
      );
      break;
    }
    const skill = await findSkill(root, name);
    files += skill.files.length;
    skills.push(skill);
  }
  return { skills, problems };
}

async function findSkill(root: string, name: string): Promise<FoundSkill> {
  const files: FoundFile[] = [];
  try {
    await addFiles({ root, name, files }, '', 0);
    return { name, files };
  } catch (error) {
    const why = error instanceof Unusable ? error.message : `it cannot be read (${errorText(error)}): correct that`;
    return { name, files: [], problem: why };
  }
}

class Unusable extends Error {}

interface Walk {
  readonly root: string;
  readonly name: string;
  readonly files: FoundFile[];
}

/** Hidden files are passed over: they belong to editors and version control. */
async function addFiles(walk: Walk, below: string, depth: number): Promise<void> {
  const { root, name, files } = walk;
  if (depth > settingsLimits.skillDepth)
    throw new Unusable(`it has folders more than ${settingsLimits.skillDepth} deep: make it flatter`);
  const here = join(root, name, below);
  if (!isWithin(root, await realpath(here))) throw outside(below === '' ? name : below);
  for (const entry of (await readdir(here)).filter(isShown).toSorted()) {
    const path = below === '' ? entry : `${below}/${entry}`;
    const real = await realpath(join(here, entry));
    // A link in a mounted folder of a cluster leads to another place in that folder.
    if (!isWithin(root, real)) throw outside(path);
    const about = await stat(real);
    if (about.isDirectory()) {
      await addFiles(walk, path, depth + 1);
    } else {
      if (!about.isFile()) throw new Unusable(`"${path}" is no plain file: remove it`);
      files.push({ path, real, size: about.size, changed: about.mtimeMs + about.ctimeMs });
      check(files, path, about.size);
    }
  }
}

function check(files: readonly FoundFile[], path: string, size: number): void {
  if (size > settingsLimits.skillFileBytes)
    throw new Unusable(`"${path}" has more than ${settingsLimits.skillFileBytes} bytes: make it smaller`);
  if (files.length > settingsLimits.filesOfSkill)
    throw new Unusable(`it has more than ${settingsLimits.filesOfSkill} files: remove some`);
  if (files.reduce((sum, file) => sum + file.size, 0) > settingsLimits.bytesOfSkill)
    throw new Unusable(`its files have more than ${settingsLimits.bytesOfSkill} bytes together: make them smaller`);
}

function outside(path: string): Unusable {
  return new Unusable(`"${path}" leads out of the folder of skills: put the file itself there`);
}

function isShown(name: string): boolean {
  return !name.startsWith('.');
}

function isWithin(root: string, real: string): boolean {
  return real.startsWith(root.endsWith(sep) ? root : root + sep);
}

async function readSkills(found: Found): Promise<{ skills: readonly OwnSkill[]; problems: readonly string[] }> {
  const problems = [...found.problems];
  const skills: OwnSkill[] = [];
  let bytes = 0;
  for (const { name, files, problem } of found.skills) {
    bytes += files.reduce((sum, { size }) => sum + size, 0);
    const read =
      problem ??
      (bytes > settingsLimits.skillBytes
        ? `all skills together have more than ${settingsLimits.skillBytes} bytes: make them smaller`
        : await readSkill(name, files));
    if (typeof read !== 'string') skills.push(read);
    else problems.push(`The skill "${name}" is left out: ${read}.`);
  }
  return { skills, problems };
}

/** The skill, or why it cannot be used. */
async function readSkill(name: string, found: readonly FoundFile[]): Promise<OwnSkill | string> {
  try {
    const files: SkillFile[] = [];
    for (const { path, real, size } of found) files.push({ path, bytes: await readFile(real, size) });
    return await skillOf(name, files);
  } catch (error) {
    return `it cannot be read (${errorText(error)}): correct that`;
  }
}

/** No more than was looked at: the file may have become another one. */
async function readFile(path: string, size: number): Promise<Buffer> {
  const file = await open(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  try {
    if (!(await file.stat()).isFile()) throw new Error('it is no plain file');
    const { buffer, bytesRead } = await file.read(Buffer.alloc(size), 0, size, 0);
    return buffer.subarray(0, bytesRead);
  } finally {
    await file.close();
  }
}
