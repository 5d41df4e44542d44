import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';

// The words of the code (ARCHITECTURE.md, Glossary): names that were private to this project do not come back, comments
// name their subject, and their lines end at 120 columns.

const root = fileURLToPath(new URL('../../', import.meta.url));
const sourcesIn = (folder: string): string[] =>
  readdirSync(join(root, folder), { encoding: 'utf8', recursive: true })
    .filter((path) => /\.(?:tsx?|mjs)$/.test(path) && !path.includes('node_modules'))
    .map((path) => `${folder}/${path}`);

/** Names that were replaced, with what stands in their place. */
const retired: Readonly<Record<string, RegExp>> = {
  'HttpEntry, httpEntry': /\b(?:createDoor|DoorOptions|Door)\b/,
  'FastPath, fastPath': /\b(?:createFront|FrontOptions)\b/,
  RequestContext: /\b(?:Visit|Received)\b/,
  thenMaybe: /\bgoOn\b/,
  memoizeLast: /\bremembering\(/,
  'ServerRequests, serverRequests': /\b(?:createAsks|ClientAsks|ServerAsks?|AskHabits)\b/,
  'SuspendedCalls, suspended': /\b(?:[Pp]arkings?|[Pp]arked)\b(?!')/,
  'negotiate, Negotiated': /\b(?:MeetingLink|MeetingOptions|Introduction|Met)\b/,
  'DedicatedConnections, dedicated connection': /\b(?:[Ll]eases?|[Ll]eased|createLeases)\b/,
  'ConnectionOwner, connection owner': /\b(?:Tenant|tenantOf)\b/,
  StatusTracker: /\bStanding\b/,
  RequestTimeouts: /\bPatience\b/,
  ThrottledReader: /\bCalmReader\b/,
  LogRateLimiter: /\b(?:noiseGate|Noise)\b/,
  EmbeddingConfig: /\b(?:EmbeddingWishes|wishes)\b/,
  AuthorizationRequest: /\b(?:createInvitation|Invitation)\b/,
  'StaleGrants, stale': /\b(?:[Ll]eftOvers|left-overs?)\b/,
  ListingAccounts: /\b[Ll]isters\b/,
  ServerReadiness: /\b(?:createSettling|Settling|settling)\b/,
  'ActiveSettings, active': /\b(?:SettingsInForce|inForce)\b/,
  'env-overrides, active-settings, problem-paths': /\b(?:environment-wins|in-force|as-sent)\b/,
  ServerAges: /\b[Nn]ewcomers\b/,
};

/** In a comment they leave open who or what is meant. */
const withoutSubject = /\b(?:nobody|somebody|whoever|everybody|anybody|anyone|someone|anew)\b/i;

/** Lines of comments, with their numbers. */
function commentsOf(text: string): [line: number, comment: string][] {
  return text
    .split('\n')
    .map((line, i): [number, string] => [i + 1, line])
    .filter(([, line]) => /^\s*(?:\/\/|\/\*\*|\*)/.test(line));
}

test('names that were replaced stay out of the sources', () => {
  const sources = sourcesIn('src').filter((path) => !path.endsWith('.test.ts'));
  const found = sources.flatMap((path) => {
    const text = readFileSync(join(root, path), 'utf8');
    return Object.entries(retired).flatMap(([now, old]) => {
      const word = old.exec(text)?.[0];
      return word === undefined ? [] : [`${path}: "${word}" is called ${now}`];
    });
  });
  expect(found).toEqual([]);
});

test('the glossary has at most 25 terms', () => {
  const text = readFileSync(join(root, 'ARCHITECTURE.md'), 'utf8');
  const [, glossary = ''] = /^## Glossary$(.*?)^## /ms.exec(text) ?? [];
  const terms = glossary.split('\n').filter((line) => /^\| (?!Term )/.test(line));
  expect(terms.length).toBeGreaterThan(0);
  expect(terms.length).toBeLessThanOrEqual(25);
});

test('comments name their subject', () => {
  const found = ['src', 'web/src', 'test', 'scripts', 'bench'].flatMap(sourcesIn).flatMap((path) =>
    commentsOf(readFileSync(join(root, path), 'utf8'))
      // What is between backticks is data.
      .filter(([, comment]) => withoutSubject.test(comment.replaceAll(/`[^`]*`/g, '')))
      .map(([line, comment]) => `${path}:${line}: ${comment.trim()}`),
  );
  expect(found).toEqual([]);
});

test('titles of tests name their subject', () => {
  // Alone on a line where the formatter breaks the call.
  const title = /(?:^\s*|\b(?:test|describe|it)(?:\.\w+)*\()(['"`])(?=[^'"`]*\s[^'"`]*\s)(.*?)\1,/;
  const found = ['src', 'web/src', 'test'].flatMap(sourcesIn).flatMap((path) => {
    if (!path.endsWith('.test.ts')) return [];
    const lines = readFileSync(join(root, path), 'utf8').split('\n');
    return lines.flatMap((line, i) => (withoutSubject.test(title.exec(line)?.[2] ?? '') ? [`${path}:${i + 1}`] : []));
  });
  expect(found).toEqual([]);
});

test('lines of comments end at 120 columns', () => {
  const found = ['src', 'web/src', 'test', 'scripts', 'bench'].flatMap(sourcesIn).flatMap((path) =>
    commentsOf(readFileSync(join(root, path), 'utf8'))
      .filter(([, comment]) => comment.length > 120 && !comment.includes('http'))
      .map(([line]) => `${path}:${line}`),
  );
  expect(found).toEqual([]);
});

test('no two entries of the changelog begin alike', () => {
  const changes = readFileSync(join(root, 'CHANGELOG.md'), 'utf8').split(/^- /m).slice(1);
  // Where two branches change the same entry, the merge may keep both.
  const beginnings = changes.map((change) => change.slice(0, 45));
  expect(beginnings.filter((one, i) => beginnings.indexOf(one) < i)).toEqual([]);
});
