import { anyObject } from '../../core/answers/schema.ts';
import { systemConfigInput } from '../../settings/system/system-config.ts';
import type { Subject } from '../frame/operation.ts';

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
    'GET /backup': {
      summary: 'Download everything that the hub keeps',
      description:
        'A zip with all secrets, which `toolhub restore` takes. Wants a login that is not older than ten minutes. An answer that breaks off is no whole zip.',
      admin: true,
      query: { local: { const: 'true', description: 'Of `toolhub backup` on the machine of the hub.' } },
      answer: { bare: { type: 'string', format: 'binary' }, type: 'application/zip' },
    },
    'POST /mcp-settings/import': {
      summary: 'Take a settings file in',
      description:
        'Answers what is different afterwards (`changes`) and what was passed over (`skipped`). Secrets stay where the file says what an export says of them; users who are there and access keys are passed over.',
      admin: true,
      query: {
        dryRun: { type: 'boolean', description: 'Change nothing; say what would be different.' },
        mode: {
          enum: ['merge', 'replace'],
          description: '`replace` removes servers and groups that are not in the file.',
        },
      },
      body: { type: 'application/json', schema: anyObject },
      answer: { data: anyObject },
    },
  },
};
