import { count, flag, listOf, object, ref, text, texts } from '../../core/answers/schema.ts';
import {
  groupBatchInput,
  groupToolsInput,
  groupUpdateInput,
  newGroupInput,
  serverToAddInput,
} from '../../settings/group/group-input.ts';
import { overrideShape } from '../../settings/document/tool-override.ts';
import type { Subject } from '../frame/operation.ts';
import { groupsInput } from './group-routes.ts';

const group = { data: ref('Group') };

export const groups: Subject = {
  name: 'Groups',
  operations: {
    'GET /groups': { summary: 'The groups within reach', answer: { data: listOf(ref('Group')) } },
    'POST /groups': { summary: 'Create a group', body: newGroupInput, answer: group, created: true },
    'POST /groups/batch': {
      summary: 'Create several groups',
      description: 'Answers 207 when only some could be created, 400 when none could.',
      body: groupsInput,
      answer: {
        bare: object(
          { success: flag, successCount: count, failureCount: count, results: listOf(ref('BatchResult')) },
          { message: text },
        ),
      },
    },
    'GET /groups/:id': { summary: 'One group, by id or name', answer: group },
    'PUT /groups/:id': { summary: 'Change a group', body: groupUpdateInput, answer: group },
    'DELETE /groups/:id': { summary: 'Delete a group' },
    'GET /groups/:id/share-candidates': {
      summary: 'Users with whom a group can be shared',
      description: 'For its owner and admins.',
      answer: { data: texts },
    },
    'GET /groups/:id/servers': { summary: 'The servers of a group', answer: { data: texts } },
    'POST /groups/:id/servers': {
      summary: 'Add a server to a group',
      description: 'With `tools`, the group shows those of it; without, all.',
      body: serverToAddInput,
      answer: group,
    },
    'PUT /groups/:id/servers/batch': {
      summary: 'Replace all servers of a group',
      body: groupBatchInput,
      answer: group,
    },
    'DELETE /groups/:id/servers/:serverName': { summary: 'Take a server out of a group', answer: group },
    'GET /groups/:id/server-configs': {
      summary: 'What the group shows of each of its servers',
      answer: { data: listOf(ref('GroupServerConfig')) },
    },
    'GET /groups/:id/server-configs/:serverName': {
      summary: 'What the group shows of one of its servers',
      answer: { data: ref('GroupServerConfig') },
    },
    'PUT /groups/:id/server-configs/:serverName/tools': {
      summary: 'Choose the tools the group shows of a server',
      body: groupToolsInput,
      answer: group,
    },
    'GET /groups/:id/server-configs/:serverName/tools/:tool/override': {
      summary: 'What the group shows of a tool in place of what its server says',
      description:
        'For the owner of the group and admins. Who may not change the server sees its tools as callers do, also at `before`.',
      answer: { data: ref('ToolOverride') },
    },
    'PUT /groups/:id/server-configs/:serverName/tools/:tool/override': {
      summary: 'Override a tool in a group',
      description:
        'The whole override. What the override of the server hides or fixes stays. Who may not change the server changes `name` alone.',
      query: { dryRun: { type: 'boolean', description: 'Change nothing; show what would come of it.' } },
      body: overrideShape,
      answer: { data: ref('ToolOverride') },
    },
    'DELETE /groups/:id/server-configs/:serverName/tools/:tool/override': {
      summary: 'Show a tool in a group as its server has it',
      answer: { data: ref('ToolOverride') },
    },
  },
};
