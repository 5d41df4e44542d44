import type { Handler } from 'hono';
import { pageHeaders } from '../frame/page-headers.ts';

/**
 * The page in which the dashboard shows the HTML of a server (MCP Apps), which is a stranger's: what the header says
 * holds for all that is written into it. It has an origin that is no other's, so no cookie and no storage of the hub;
 * it reaches no network, opens nothing, sends no form, and only pages of this hub may have it in them. An answer of its
 * own, because a frame that is made of a text has the policy of the page around it, which runs no inline scripts.
 */
export const appFrame: Handler = (c) => {
  pageHeaders(c, { policy });
  c.header('Cache-Control', 'no-cache');
  return c.html(page);
};

const policy = [
  'sandbox allow-scripts',
  "default-src 'none'",
  "script-src 'unsafe-inline'",
  "style-src 'unsafe-inline'",
  'img-src data: blob:',
  'font-src data:',
  'media-src data: blob:',
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'self'",
];

/** Takes one text from the page around it, and becomes it. */
const page = `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<title>App</title>
<script>
addEventListener('message', function take({ source, origin, data }) {
  if (parent === window || source !== parent || origin !== new URL(location.href).origin) return;
  if (typeof data?.html !== 'string') return;
  removeEventListener('message', take);
  document.open();
  document.write(data.html);
  document.close();
});
parent.postMessage('ready', '*');
</script>
</html>
`;
