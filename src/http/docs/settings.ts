import { systemConfigInput } from '../../core/system-config.ts';
import { anyObject, type Subject, text } from './operation.ts';

export const settings: Subject = {
  name: 'Settings',
  operations: {
    'GET /settings': { summary: 'The settings, as far as the caller may see them', answer: { data: anyObject } },
    'PUT /system-config': {
      summary: 'Change the system configuration',
      admin: true,
      body: systemConfigInput,
      answer: { data: anyObject },
    },
    'GET /mcp-settings/export': {
      summary: 'Download the settings file',
      admin: true,
      query: {
        serverName: { type: 'string', description: 'Only this server.' },
        secrets: { const: 'include', description: 'Leave the secrets in.' },
      },
      answer: { bare: anyObject },
    },
  },
};

export const documents: Subject = {
  name: 'Documentation',
  operations: {
    'GET /docs/openapi.json': { summary: 'This document', answer: { bare: anyObject } },
    'GET /docs': { summary: 'This document as a page', answer: { bare: text, type: 'text/html' } },
  },
};
