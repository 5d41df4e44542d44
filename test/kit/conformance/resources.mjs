import { ResourceTemplate } from '@modelcontextprotocol/server';
import { watched } from './changes.mjs';
import { png } from './samples.mjs';

export const templateUri = 'test://template/{id}/data';
export const templateIds = ['1', '12', '123'];

/** Registers every resource. Any other URI is unknown to the SDK, which answers with the revision's error. */
export function registerResources(server) {
  const add = (name, uri, description, mimeType, contents) =>
    server.registerResource(name, uri, { description, mimeType }, () => ({
      contents: [{ uri, mimeType, ...contents() }],
    }));

  add('static-text', 'test://static-text', 'A text.', 'text/plain', () => ({
    text: 'This is the content of the static text resource.',
  }));
  add('static-binary', 'test://static-binary', 'An image.', 'image/png', () => ({ blob: png }));
  add('watched-resource', watched.uri, 'A text that can be watched.', 'text/plain', () => ({
    text: `Version ${watched.version} of the watched resource.`,
  }));
  add('panel', 'ui://fixture/panel', 'A panel (MCP Apps).', 'text/html;profile=mcp-app', () => ({
    text: '<!doctype html><title>Panel</title>',
  }));
  server.registerResource(
    'template',
    new ResourceTemplate(templateUri, { list: undefined }),
    { description: 'Data by id.', mimeType: 'application/json' },
    (uri, { id }) => ({
      contents: [
        {
          uri: uri.href,
          mimeType: 'application/json',
          text: JSON.stringify({ id, templateTest: true, data: `Data for ID: ${id}` }),
        },
      ],
    }),
  );
}
