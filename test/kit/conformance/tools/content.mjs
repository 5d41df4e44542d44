// Tools that answer at once, each with another kind of content.
import { readFileSync } from 'node:fs';
import { png, said, text, wav } from '../samples.mjs';

const image = { type: 'image', data: png, mimeType: 'image/png' };
const embedded = (resource) => ({ type: 'resource', resource });

export const contentTools = [
  {
    name: 'test_simple_text',
    description: 'Answers with a text.',
    run: () => said('This is a simple text response for testing.'),
  },
  { name: 'test_image_content', description: 'Answers with an image.', run: () => ({ content: [image] }) },
  {
    name: 'test_audio_content',
    description: 'Answers with a sound.',
    run: () => ({ content: [{ type: 'audio', data: wav, mimeType: 'audio/wav' }] }),
  },
  {
    name: 'test_embedded_resource',
    description: 'Answers with a resource in it.',
    run: () => ({
      content: [
        embedded({
          uri: 'test://embedded-resource',
          mimeType: 'text/plain',
          text: 'This is an embedded resource content.',
        }),
      ],
    }),
  },
  {
    name: 'test_multiple_content_types',
    description: 'Answers with a text, an image and a resource.',
    run: () => ({
      content: [
        text('Multiple content types test:'),
        image,
        embedded({
          uri: 'test://mixed-content-resource',
          mimeType: 'application/json',
          text: JSON.stringify({ test: 'data', value: 123 }),
        }),
      ],
    }),
  },
  {
    name: 'test_error_handling',
    description: 'Always fails.',
    run() {
      throw new Error('This tool intentionally returns an error for testing');
    },
  },
  {
    name: 'test_structured_content',
    description: 'Answers with structured content, and has a panel to show it in (MCP Apps).',
    inputSchema: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] },
    outputSchema: {
      type: 'object',
      properties: { city: { type: 'string' }, degrees: { type: 'number' } },
      required: ['city', 'degrees'],
    },
    annotations: { readOnlyHint: true, openWorldHint: false },
    _meta: { ui: { resourceUri: 'ui://fixture/panel' } },
    run({ city }) {
      const structuredContent = { city, degrees: 21.5 };
      return { content: [text(JSON.stringify(structuredContent))], structuredContent, _meta: { 'example.org/x': 1 } };
    },
  },
  {
    name: 'test_request_meta',
    description: 'Answers with the _meta its call carried, without what a revision keeps for itself.',
    run(_, ctx) {
      const { progressToken: _token, ...meta } = ctx.mcpReq._meta ?? {};
      return said(JSON.stringify(meta));
    },
  },
  {
    name: 'json_schema_2020_12_tool',
    description: 'Has an input schema with the keywords of JSON Schema 2020-12.',
    // A file, because a member called `then` makes an object look like a promise.
    inputSchema: JSON.parse(readFileSync(new URL('../schema-2020-12.json', import.meta.url), 'utf8')),
    run: (args) => said(JSON.stringify(args)),
  },
  {
    name: 'test_header_parameter',
    description: 'Has parameters that travel in HTTP headers as well (x-mcp-header).',
    inputSchema: {
      type: 'object',
      properties: {
        region: { type: 'string', 'x-mcp-header': 'Region' },
        shard: { type: 'integer', 'x-mcp-header': 'Shard' },
        query: { type: 'string' },
      },
      required: ['region'],
    },
    run: (args) => said(JSON.stringify(args)),
  },
];
