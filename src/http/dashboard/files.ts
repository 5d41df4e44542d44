import { createHash, randomBytes } from 'node:crypto';
import { readFileSync, readdirSync } from 'node:fs';
import { extname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type Context, type Handler, Hono } from 'hono';
import { shipped } from '../../core/shipped.ts';
import { pageHeaders } from '../frame/page-headers.ts';
import { pages } from '../frame/taken-paths.ts';
import { appFrame } from './app-frame.ts';

export interface DashboardOptions {
  readonly basePath: string;
  readonly version: string;
  readonly readonly: boolean;
  /** `routing.enableGlobalRoute` when a page is served. */
  readonly globalRoute: () => boolean;
  /** Where the build is; the hub's own by default. */
  readonly folder?: string;
}

const types: Readonly<Record<string, string>> = {
  '.css': 'text/css; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.svg': 'image/svg+xml',
};

/** The dashboard (`web/`), from its own build, read at the start: one page for all addresses, and its files. */
export function dashboardRoutes({ basePath, version, readonly, globalRoute, folder }: DashboardOptions): Hono {
  const routes = new Hono();
  const files = folder === undefined ? (built ??= readFiles(buildFolder)) : readFiles(folder);
  const page = files.get('index.html')?.toString();
  const scripts = inlineScripts(page ?? '');
  const serve: Handler = (c) => {
    const nonce = randomBytes(16).toString('base64');
    secure(c, nonce, scripts);
    // The page names files by their hashes: an old one would ask for files that are gone.
    c.header('Cache-Control', 'no-store');
    if (page === undefined) return c.text('The dashboard is not built. Run "npm run build", then start again.\n', 503);
    return c.html(filled(page, { basePath, version, readonly, globalRoute: globalRoute(), nonce }));
  };
  routes.get(`${basePath}/`, serve);
  if (basePath !== '') routes.get(basePath, serve);
  for (const name of pages) routes.on('GET', [`${basePath}/${name}`, `${basePath}/${name}/*`], serve);
  routes.get(`${basePath}/assets/app-frame`, appFrame);
  for (const [name, bytes] of files) {
    const type = types[extname(name)];
    if (type === undefined) continue;
    const headers = {
      'Content-Type': type,
      'Cache-Control': name.startsWith('assets/') ? 'public, max-age=31536000, immutable' : 'no-cache',
      'Cross-Origin-Resource-Policy': 'same-origin',
      Vary: 'Accept-Encoding',
    };
    const packed = files.get(`${name}.gz`);
    routes.get(`${basePath}/${name}`, (c) =>
      packed && /\bgzip\b/.test(c.req.header('accept-encoding') ?? '')
        ? c.body(new Uint8Array(packed), 200, { ...headers, 'Content-Encoding': 'gzip' })
        : c.body(new Uint8Array(bytes), 200, headers),
    );
  }
  return routes;
}

const buildFolder = fileURLToPath(shipped('dist/web'));
/** Read once in a process, for all hubs in it. */
let built: ReadonlyMap<string, Buffer> | undefined;

/** Every file by its path below the folder; none where nothing is built. */
function readFiles(folder: string): Map<string, Buffer> {
  try {
    const entries = readdirSync(folder, { recursive: true, withFileTypes: true });
    return new Map(
      entries
        .filter((entry) => entry.isFile())
        .map((entry) => join(entry.parentPath, entry.name))
        .map((path) => [path.slice(folder.length + 1).replaceAll('\\', '/'), readFileSync(path)]),
    );
  } catch {
    return new Map();
  }
}

/**
 * What the page may load: files of this hub, and pictures and sounds that tools answered with. No request leaves the
 * machine.
 */
function secure(c: Context, nonce: string, scripts: readonly string[]): void {
  const policy = [
    "default-src 'none'",
    ["script-src 'self'", ...scripts].join(' '),
    `style-src 'self' 'nonce-${nonce}'`,
    "img-src 'self' data: blob:",
    'media-src data: blob:',
    "connect-src 'self'",
    // Apps of servers: where such a frame goes by itself is bounded by this too.
    "frame-src 'self'",
    "base-uri 'self'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ];
  pageHeaders(c, { policy });
}

/** The hashes by which a policy allows the scripts that the page itself has, and no other. */
function inlineScripts(page: string): string[] {
  return [...page.matchAll(/<script>([^]*?)<\/script>/g)].map(([, text = '']) => {
    return `'sha256-${createHash('sha256').update(text).digest('base64')}'`;
  });
}

/** The page with its base address, and with what it has to know before it asks anything. */
function filled(page: string, boot: Readonly<Record<string, unknown>> & { readonly basePath: string }): string {
  const base = boot.basePath.replaceAll('&', '&amp;').replaceAll('"', '&quot;').replaceAll('<', '&lt;');
  // In a script element only `<` can end it.
  const json = JSON.stringify(boot).replaceAll('<', String.raw`\u003c`);
  return page
    .replace('<base href="/" />', () => `<base href="${base}/" />`)
    .replace(/(<script type="application\/json" id="hub">)[^<]*/, (_all, start: string) => start + json);
}
