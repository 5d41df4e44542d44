import { guard, guardTried } from '../../core/answers/governance.ts';
import { listOf, ref, text } from '../../core/answers/schema.ts';
import type { Subject } from '../frame/operation.ts';
import { pinDecisionInput } from './pin-routes.ts';
import { decisionInput } from './approval-routes.ts';
import { guardTryInput } from './guard-routes.ts';
import { simulateInput } from './governance-routes.ts';

export const governance: Subject = {
  name: 'Pins, policies and approvals',
  operations: {
    'GET /pins': {
      admin: true,
      summary: 'What servers offer, held against what was first seen or approved',
      query: {
        server: text,
        hashes: { ...text, description: '`true`: with the hash of each thing.' },
        state: { ...text, description: '`approved`, `changed`, `new`, `gone`, `renamed` or `rejected`.' },
      },
      answer: { data: listOf(ref('Pin')) },
    },
    'POST /pins/:server/approve': {
      admin: true,
      summary: 'Make what a server offers now what counts: these items, or all that wait',
      body: pinDecisionInput,
      bodyOptional: true,
      answer: { data: listOf(ref('Pin')) },
    },
    'POST /pins/:server/reject': {
      admin: true,
      summary: 'Hide items of a server until they are approved: these, or all that wait',
      body: pinDecisionInput,
      bodyOptional: true,
      answer: { data: listOf(ref('Pin')) },
    },
    'GET /guards': {
      admin: true,
      summary: 'Whether the guards that are switched on answer',
      description: 'They are changed with `PUT /system-config` (`guards`).',
      answer: { data: listOf(guard) },
    },
    'POST /guards/:guard/try': {
      admin: true,
      summary: 'What a guard makes of a sample; nothing is called',
      body: guardTryInput,
      answer: { data: guardTried },
    },
    'GET /policies': {
      admin: true,
      summary: 'The policies in force, with what they name that is not there',
      description: 'They are changed with `PUT /system-config` (`policies`, `policyFolder`).',
      answer: { data: listOf(ref('Policy')) },
    },
    'POST /policies/simulate': {
      admin: true,
      summary: 'What policies would have done with the calls that were recorded',
      body: simulateInput,
      answer: { data: ref('Simulation') },
    },
    'GET /why': {
      summary: 'Why a call is allowed or not: every step of the decision',
      description: 'Admins ask about every user and key, others about themselves.',
      query: {
        tool: { ...text, description: 'As exposed, or `<server>/<tool>`.' },
        user: text,
        key: { ...text, description: 'The id or the name of an access key.' },
        group: { ...text, description: 'On the endpoint of this group, or server.' },
        arguments: { ...text, description: 'A JSON object: the arguments of the call.' },
      },
      answer: { data: ref('Explanation') },
    },
    'GET /approvals': {
      summary: 'Calls that wait for the yes of a person, and the last that were decided',
      description: 'Those that the caller may answer, and those of the caller.',
      answer: { data: listOf(ref('Approval')) },
    },
    'GET /approvals/waiting': {
      summary: 'How many calls wait for your answer, and the newest of them',
      answer: { data: ref('WaitingApprovals') },
    },
    'GET /approvals/:id': {
      summary: 'One of these calls, with its arguments as a whole',
      answer: { data: ref('Approval') },
    },
    'DELETE /approvals/:id': {
      summary: 'Withdraw a call of your own, or of one of your keys and apps, that waits',
      description: 'It ends with an error. No app withdraws for its user.',
      answer: { data: ref('Approval') },
    },
    'POST /approvals/:id': {
      summary: 'Say yes or no to a call that waits',
      description: 'It counts once: another answer is 409. No app answers for its user.',
      body: decisionInput,
      answer: { data: ref('Approval') },
    },
  },
};
